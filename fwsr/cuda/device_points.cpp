#include "fwsr/cuda/device_points.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/base/index_range.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/base/typical.hpp"
#include "fwsr/cuda/statistics.hpp"

namespace fwsr::cuda {

DevicePoints::DevicePoints(Device& device, std::shared_ptr<const Stored> stored,
                           std::span<const Index> subset, const Preprocessing& prep, int threads)
    : DevicePoints(device, stored, subset, prep,
                   Portion(subset.empty() ? stored->rows : std::ssize(subset)), 0, threads) {}

DevicePoints::DevicePoints(Device& device, std::shared_ptr<const Stored> stored,
                           std::span<const Index> subset, const Preprocessing& prep,
                           const Portion& portion, Index rows_before, int threads)
    : device_(device),
      stored_(std::move(stored)),
      subset_(subset.begin(), subset.end()),
      size_(subset.empty() ? stored_->rows : std::ssize(subset)),
      portion_(portion),
      rows_before_(rows_before),
      prep_(prep) {
  if (!subset_.empty()) sources_ = Array<Index>(device, std::span<const Index>(subset_));
  if (stored_->read || (stored_->on_host && subset_.empty()))
    brought_ = std::make_shared<BroughtRows>(device, stored_, threads);
  squares_ = Array<double>(device, size_);
  if (prep.scale == Scale::unit) {
    inner_ = Array<double>(device, size_);
    launch_set(device, inner_.get(), size_, 1.0);
  }
  if (prep.center == Center::point) {
    mean_ = Array<double>(device, size_);
    mean_.set_to_zero();
  }
}

DevicePoints::DevicePoints(const DevicePoints& other, double eta, bool eta_relative)
    : device_(other.device_),
      stored_(other.stored_),
      subset_(other.subset_),
      brought_(other.brought_),
      size_(other.size_),
      portion_(other.portion_),
      rows_before_(other.rows_before_),
      prep_(other.prep_),
      scale_(other.scale_),
      means_norm_(other.means_norm_),
      shared_(other.shared_) {
  if (!subset_.empty()) sources_ = Array<Index>(device_, std::span<const Index>(subset_));
  for (auto [from, to] : {std::pair{&other.weights_, &weights_},
                          {&other.means_, &means_},
                          {&other.inner_, &inner_},
                          {&other.mean_, &mean_},
                          {&other.outer_, &outer_},
                          {&other.squares_, &squares_}})
    *to = clone(*from);
  const double back = 1 / other.common_;  // a power of two
  if (!outer_.empty()) launch_scale(device_, outer_.get(), size_, back);
  launch_scale(device_, squares_.get(), size_, back * back);
  prep_.eta = eta;
  prep_.eta_relative = eta_relative;
}

DevicePoints::DevicePoints(const DevicePoints& other, std::span<const Index> some)
    : device_(other.device_),
      stored_(other.stored_),
      brought_(other.stored_->read ? other.brought_ : nullptr),
      size_(std::ssize(some)),
      portion_(std::ssize(some)),
      prep_(other.prep_),
      scale_(other.scale_),
      common_(other.common_),
      unit_(other.unit_),
      eta_(other.eta_),
      rms_norm_(other.rms_norm_),
      means_norm_(other.means_norm_),
      shared_(other.shared_),
      weights_(clone(other.weights_)),
      means_(clone(other.means_)) {
  if (some.empty()) return;
  for (const Index i : some) subset_.push_back(other.source(i));
  sources_ = Array<Index>(device_, std::span<const Index>(subset_));
  const Array<Index> places(device_, some);
  for (auto [from, to] : {std::pair{&other.inner_, &inner_},
                          {&other.mean_, &mean_},
                          {&other.outer_, &outer_},
                          {&other.squares_, &squares_}})
    if (!from->empty()) *to = gathered(*from, places);
}

Array<double> DevicePoints::clone(const Array<double>& from) const {
  Array<double> to(device_, from.size());
  if (!from.empty())
    check(cudaMemcpyAsync(to.get(), from.get(), at(from.size()) * sizeof(double),
                          cudaMemcpyDeviceToDevice, device_.stream()),
          "copying on the card");
  return to;
}

Rows DevicePoints::rows() const {
  return {.data = stored_->data,
          .number = stored_->number,
          .stride = brought_ ? brought_->stride() : stored_->stride,
          .size = size_,
          .features = stored_->features,
          .whole_pieces = brought_ ? brought_->whole_pieces() : stored_->whole_pieces,
          .source = sources_.get(),
          .weights = weights_.get(),
          .means = means_.get(),
          .inner = inner_.get(),
          .mean = mean_.get(),
          .outer = outer_.get(),
          .every_inner = scale_,
          .every_outer = common_,
          .eta = eta_};
}

void DevicePoints::adopt(const Common& common) {
  const auto features = at(stored_->features);
  const auto put = [&](const std::vector<double>& numbers) {
    return numbers.empty()
               ? Array<double>()
               : Array<double>(device_, std::span<const double>(numbers).first(features));
  };
  shared_ = common;
  scale_ = common.scale;
  weights_ = put(common.weights);
  means_ = put(common.means);
  means_norm_ = 0;
  for (const double m : common.means) means_norm_ += m * m;
  means_norm_ = std::sqrt(means_norm_);
}

// ---------------------------------------------------------------------------- what they say about themselves

void DevicePoints::refuse_not_finite(Index i) const {
  const std::vector<double> row = stored_of({&i, 1});
  for (std::size_t l = 0; l < row.size(); ++l)
    if (!std::isfinite(row[l]))
      throw Error(fmt::format(
          "point {} has {} in feature {} (both counted from 0); remove the point or fill in the "
          "value",
          reported(i), std::isnan(row[l]) ? "NaN" : "an infinite value", l));
  throw Error(
      fmt::format("point {} changed while it was read; leave the data alone until the work "
                  "is done",
                  reported(i)));
}

ScanPoints::Reply DevicePoints::answer(const ScanPoints& question) {
  const bool centred = question.numbers && !mean_.empty();
  Array<double> largest(device_, size_), means;
  const PointSums sums{
      .largest = largest.get(), .mean = centred ? mean_.get() : nullptr, .squares = squares_.get()};
  for_parts(device_.stream(), [&](Rows plain, Index first) {
    plain.inner = nullptr, plain.every_inner = 1;
    launch_row_sums(device_, plain, sums.from(first));
  });
  const Scan found = scan(device_, size_, features(), sums, centred);
  if (found.first_bad >= 0) refuse_not_finite(found.first_bad);
  ScanPoints::Reply reply{
      .largest = found.largest, .largest_other = found.largest_other, .records = {}};
  if (found.first_constant >= 0)
    reply.records.push_back(
        {.largest_other = found.largest_other,
         .largest = found.constant,
         .first = reported(found.first_constant),
         .value = stored_of(std::span<const Index>(&found.first_constant, 1)).front()});
  return reply;
}

SumFeatures::Reply DevicePoints::answer(const SumFeatures& question) {
  adopt(question.common);
  const bool squared = question.of == SumFeatures::Of::deviations;
  std::vector<double> sums(at(features()));
  for_parts(device_.stream(), [&](const Rows& part, Index) {
    const std::vector<double> some = feature_sums(device_, part, squared);
    std::transform(some.begin(), some.end(), sums.begin(), sums.begin(), std::plus<>());
  });
  if (squared) {
    const auto d = sums.size();
    sums.resize(3 * d);
    std::fill_n(sums.begin() + static_cast<Index>(d), d, static_cast<double>(size_));
  }
  return {std::move(sums)};
}

FindNumbers::Reply DevicePoints::answer(const FindNumbers& question) {
  adopt(question.common);
  if (question.scanned) {
    if (!mean_.empty()) launch_scale(device_, mean_.get(), size_, scale_);
    launch_scale(device_, squares_.get(), size_, scale_ * scale_);
  } else {
    for_parts(device_.stream(), [&](const Rows& part, Index first) {
      if (!inner_.empty()) launch_unit_norms(device_, part, scale_, inner_.get() + first);
      const PointSums sums{.mean = mean_.get(), .squares = squares_.get()};
      launch_row_sums(device_, part, sums.from(first));
    });
  }
  std::vector<Index> typical;
  for (const Index i : typical_places(portion_.of))
    if (i >= portion_.first && i < portion_.first + size_) typical.push_back(i - portion_.first);
  return {.some = some_of(squares_, typical, 0.0),
          .largest = size_ > 0 ? largest_of(device_, squares_.get(), size_) : 0.0};
}

FindHuge::Reply DevicePoints::answer(const FindHuge& question) {
  const Index i = first_beyond(device_, squares_.get(), size_, huge_beyond(question.median));
  if (i < 0) return {};
  FindHuge::Reply reply{.point = reported(i), .square = some_of(squares_, {&i, 1}, 0.0).front()};
  const std::vector<double> row = stored_of({&i, 1});
  for (std::size_t l = 0; l < row.size(); ++l)
    if (std::abs(row[l]) > std::abs(reply.value))
      reply.feature = static_cast<Index>(l), reply.value = row[l];
  return reply;
}

DropConstant::Reply DevicePoints::answer(const DropConstant& question) {
  if (outer_.empty()) {
    outer_ = Array<double>(device_, size_);
    launch_set(device_, outer_.get(), size_, 1.0);
  }
  DropLimits limits;
  if (question.scaled) {
    limits.rounding = 4 * std::numeric_limits<double>::epsilon();
  } else {
    constexpr double digits = 0x1p20;
    const double longest = std::sqrt(question.longest);
    limits.by_limit = true;
    limits.limit = single() && longest > 0
                       ? digits * longest / std::sqrt(static_cast<double>(features()))
                       : std::numeric_limits<double>::infinity();
  }
  launch_drop(device_, limits, features(), size_, mean_.get(), outer_.get(), squares_.get());
  return size_ > 0 ? largest_of(device_, squares_.get(), size_) : 0.0;
}

Told DevicePoints::answer(const NormalizePoints&) {
  if (outer_.empty()) outer_ = Array<double>(device_, size_);
  launch_normalize(device_, size_, outer_.get(), squares_.get());
  return {};
}

SumSquares::Reply DevicePoints::answer(const SumSquares&) {
  return {.sums = {sum_of(device_, squares_.get(), size_)},
          .largest = size_ > 0 ? largest_of(device_, squares_.get(), size_) : 0.0};
}

Told DevicePoints::answer(const SetScale& question) {
  common_ = question.common;
  unit_ = question.unit;
  eta_ = question.eta;
  rms_norm_ = question.rms_norm;
  if (!outer_.empty()) launch_scale(device_, outer_.get(), size_, common_);
  launch_scale(device_, squares_.get(), size_, common_ * common_);
  return {};
}

// ------------------------------------------------------------------------------------------- some of them

std::vector<double> DevicePoints::some_of(const Array<double>& numbers,
                                          std::span<const Index> which, double otherwise) const {
  if (numbers.empty()) return std::vector<double>(which.size(), otherwise);
  return gathered(numbers, Array<Index>(device_, which)).get_all();
}

Array<double> DevicePoints::gathered(const Array<double>& from, const Array<Index>& places) const {
  // A column of numbers is a matrix of one stored feature.
  Array<double> out(device_, places.size());
  launch_gather_stored(device_,
                       {.data = from.get(),
                        .number = Number::float64,
                        .stride = 1,
                        .size = from.size(),
                        .features = 1},
                       places.get(), places.size(), out.get());
  return out;
}

Array<unsigned char> DevicePoints::fetched(std::span<const Index> which) const {
  const Index row = features() * bytes_of(stored_->number);
  std::vector<unsigned char> numbers(at(std::ssize(which) * row));
  auto* to = reinterpret_cast<std::byte*>(numbers.data());
  for (const Index i : which) stored_->read(source(i), source(i) + 1, std::exchange(to, to + row));
  return {device_, std::span<const unsigned char>(numbers)};
}

namespace {

/// Rows that stand one after the other, as kernels see them.
Rows plain_rows(const Array<unsigned char>& data, Number number, Index features) {
  const Index row = features * bytes_of(number);
  return {.data = data.get(),
          .number = number,
          .stride = features,
          .size = row > 0 ? data.size() / row : 0,
          .features = features};
}

}  // namespace

std::vector<double> DevicePoints::stored_of(std::span<const Index> which) const {
  const Index count = std::ssize(which);
  Array<double> out(device_, count * features());
  if (readable()) {
    const Array<Index> places(device_, which);
    launch_gather_stored(device_, rows(), places.get(), count, out.get());
  } else {
    const Array<unsigned char> some = fetched(which);
    const Array<Index> places(device_, std::span<const Index>(index_range(0, count)));
    launch_gather_stored(device_, plain_rows(some, stored_->number, features()), places.get(),
                         count, out.get());
  }
  return out.get_all();
}

void DevicePoints::gather(std::span<const Index> which, double* out) const {
  const Index count = std::ssize(which);
  const Array<Index> places(device_, which);
  if (readable()) return launch_gather(device_, rows(), squares_.get(), places.get(), count, out);
  const Array<unsigned char> some = fetched(which);
  Rows few = plain_rows(some, stored_->number, features());
  const Rows all = rows();
  few.weights = all.weights, few.means = all.means, few.eta = all.eta;
  few.every_inner = all.every_inner, few.every_outer = all.every_outer;
  const auto own = [&](const Array<double>& of) {
    return of.empty() ? Array<double>() : gathered(of, places);
  };
  const Array<double> inner = own(inner_), mean = own(mean_), outer = own(outer_),
                      squares = own(squares_);
  few.inner = inner.get(), few.mean = mean.get(), few.outer = outer.get();
  const Array<Index> order(device_, std::span<const Index>(index_range(0, count)));
  launch_gather(device_, few, squares.get(), order.get(), count, out);
  device_.wait();  // before these go
}

DevicePoints::Few DevicePoints::few(std::span<const Index> which) const {
  if (which.empty()) return {};
  const Index width = dim() + own_numbers;
  Array<double> out(device_, std::ssize(which) * width);
  gather(which, out.get());
  const std::vector<double> told = out.get_all();
  const double root = std::sqrt(static_cast<double>(features()));
  Few few;
  few.rows.reserve(which.size() * at(dim()));
  for (auto from = told.begin(); from != told.end(); from += width) {
    const auto own = from + dim();  // square, inner, mean, outer
    few.rows.insert(few.rows.end(), from, own);
    few.squares.push_back(own[0]);
    few.numbers.insert(few.numbers.end(), {own[1], own[2], own[3], own[0], 0.0});
    few.taken_away.push_back(own[3] * (root * std::abs(own[2]) + means_norm_));
  }
  return few;
}

PointCopies DevicePoints::copies(std::span<const Index> which) const {
  PointCopies copies{.which = {},
                     .sparse = false,
                     .single = single(),
                     .features = features(),
                     .values = which.empty() ? std::vector<double>() : stored_of(which),
                     .columns = {},
                     .lengths = std::vector<Index>(which.size(), features()),
                     .numbers = {},
                     .prep = prep_,
                     .common = shared_,
                     .factor = common_,
                     .unit = unit_,
                     .eta = eta_,
                     .rms_norm = rms_norm_};
  for (std::size_t w = 0; w < which.size(); ++w) copies.which.push_back(static_cast<Index>(w));
  copies.numbers = few(which).numbers;
  return copies;
}

}  // namespace fwsr::cuda
