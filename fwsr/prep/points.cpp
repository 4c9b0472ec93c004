#include "fwsr/prep/points.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/base/narrow_source.hpp"
#include "fwsr/base/result.hpp"

namespace fwsr {

/// a_first .. a_last less `shift` (or not, when it is null), row by row, dim() numbers each.
template <class T>
void Points::load(Index first, Index last, T* out, const double* shift) const {
  const Index stride = dim();
  if (sparse()) {
    for (Index i = first; i < last; ++i) {
      T* to = out + (i - first) * stride;
      const auto become = [&](Index l, double y) {
        to[l] = static_cast<T>((y - (means_.empty() ? 0.0 : means_[at(l)]) - mean(i)) * outer(i) -
                               (shift ? shift[l] : 0.0));
      };
      for (Index l = 0; l < features_; ++l) become(l, 0.0);
      for_entries(i, [&](Index l, double x) {
        become(l, x * inner(i) * (weights_.empty() ? 1.0 : weights_[at(l)]));
      });
    }
  } else {
    with_stored(first, last, [&](Index begin, const auto& rows) {
      load_rows(rows, out + (begin - first) * stride, stride, shift);
    });
  }
  if (eta_ != 0)
    for (Index i = first; i < last; ++i)
      out[(i - first) * stride + features_] =
          static_cast<T>(eta_ - (shift ? shift[features_] : 0.0));
}

void Points::row(Index i, double* out) const {
  load(i, i + 1, out, nullptr);
}
void Points::rows(Index first, Index last, double* out) const {
  load(first, last, out, nullptr);
}
void Points::rows(Index first, Index last, float* out) const {
  load(first, last, out, nullptr);
}
void Points::rows(Index first, Index last, const std::vector<double>& shift, float* out) const {
  load(first, last, out, shift.data());
}

Points::Points(const PointsView& view, std::span<const Index> subset, const Preprocessing& prep,
               int threads)
    : Points(view, subset, prep, subset.empty() ? rows_of(view) : std::ssize(subset), 0) {
  warning_ = learn(shape(), prep, [&](const auto& question) { return alone(question, threads); });
}

Points::Points(const PointsView& view, std::span<const Index> subset, const Preprocessing& prep,
               const Portion& portion, Index rows_before)
    : view_(view),
      subset_(subset),
      portion_(portion),
      rows_before_(rows_before),
      size_(portion.size),
      features_(cols_of(view)),
      prep_(prep) {
  if (sparse()) stored_ = entries_of(view);
  if (subset_.empty() || !sparse())
    entries_ = sparse() ? entries_of(view) : size_ * features_;
  else
    for (Index i = 0; i < size_; ++i) for_entries(i, [&](Index, double) { ++entries_; });
  make_room(prep);
}

float* Points::widened_room(Index count) {
  thread_local AlignedVector<float> numbers;
  if (std::ssize(numbers) < count) numbers.resize(at(count));
  return numbers.data();
}

bool Points::in_bytes() const {
  const auto* const narrow = std::get_if<NarrowView>(&view_);
  const NarrowSource* const stream = narrow_source(view_);
  return (narrow && bytes_of(narrow->number) == 1) || (stream && bytes_of(stream->number()) == 1);
}

std::optional<Points::Bytes> Points::bytes() const {
  if (!in_bytes() || !inner_.empty() || !outer_.empty() || !weights_.empty()) return std::nullopt;
  const auto* const narrow = std::get_if<NarrowView>(&view_);
  const NarrowNumber number = narrow ? narrow->number : narrow_source(view_)->number();
  return Bytes{
      .factor = scale_ * common_,
      .centred = !mean_.empty(),
      .means = means_.empty() ? std::span<const double>{} : std::span(means_).first(at(features_)),
      .times = common_,
      .is_signed = number == NarrowNumber::int8};
}

void Points::byte_rows(Index first, Index last, const std::byte** rows,
                       std::vector<std::byte>& room) const {
  if (const auto* const narrow = std::get_if<NarrowView>(&view_)) {
    for (Index i = first; i < last; ++i) rows[i - first] = narrow->address(source(i));
    return;
  }
  const NarrowSource* const stream = narrow_source(view_);
  room.resize(at((last - first) * features_));
  for (Index i = first, end = first; i < last; i = end) {  // neighbours at once
    for (end = i + 1; end < last && source(end) == source(end - 1) + 1;) ++end;
    std::byte* const to = room.data() + (i - first) * features_;
    stream->read_stored(source(i), source(i) + end - i, to);
    for (Index j = i; j < end; ++j) rows[j - first] = to + (j - i) * features_;
  }
}

PointsShape Points::shape() const {
  return {.size = portion_.of, .features = features_, .sparse = sparse(), .single = single()};
}

Index Points::visits(const Preprocessing& prep, bool single) {
  return visits_to_learn(prep, single);
}

Index Points::stream_bytes(Index features, bool single) {
  return single ? StreamBuffer<float>::bytes(features) : StreamBuffer<double>::bytes(features);
}

Points::Points(const Points& other, double eta, bool eta_relative) : Points(other) {
  for (double& o : outer_) o /= common_;
  for (double& s : squared_norms_) s = s / common_ / common_;
  prep_.eta = eta;
  prep_.eta_relative = eta_relative;
}

Points::Points(const Points& other, double eta, bool eta_relative, int threads)
    : Points(other, eta, eta_relative) {
  learn_scale(shape(), prep_, scale_,
              [&](const auto& question) { return alone(question, threads); });
}

Points::Points(const Points& other, std::span<const Index> some) : Points(other) {
  auto sources = std::make_shared<std::vector<Index>>();
  for (const Index i : some) sources->push_back(other.source(i));
  chosen_ = std::move(sources);
  subset_ = *chosen_;
  size_ = std::ssize(some);
  portion_ = Portion(size_);
  entries_ = size_ * features_;
  if (sparse()) {
    entries_ = 0;
    for (Index i = 0; i < size_; ++i) for_entries(i, [&](Index, double) { ++entries_; });
  }
  const auto keep_some = [&](std::vector<double>& numbers) {
    if (numbers.empty()) return;
    std::vector<double> own;
    own.reserve(some.size());
    for (const Index i : some) own.push_back(numbers[at(i)]);
    numbers = std::move(own);
  };
  for (auto* numbers : {&inner_, &mean_, &outer_, &squared_norms_, &products_with_means_})
    keep_some(*numbers);
}

/// Of every point the numbers that its preprocessing needs.
void Points::make_room(const Preprocessing& prep) {
  if (prep.scale == Scale::unit) inner_.assign(at(size_), 1.0);
  if (prep.center == Center::point) mean_.assign(at(size_), 0.0);
  squared_norms_.assign(at(size_), 0.0);
}

}  // namespace fwsr
