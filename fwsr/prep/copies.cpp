#include "fwsr/prep/copies.hpp"

#include <algorithm>

#include "fwsr/base/at.hpp"
#include "fwsr/linalg/pass.hpp"

namespace fwsr {

namespace {

constexpr std::size_t numbers_each = 5;

template <class T>
struct Storage {
  std::vector<T> values;
  std::vector<std::int64_t> columns, starts;
};

}  // namespace

PointCopies Points::copies(std::span<const Index> wanted) const {
  PointCopies copies{.which = {},
                     .sparse = sparse(),
                     .single = single(),
                     .features = features_,
                     .values = {},
                     .columns = {},
                     .lengths = {},
                     .numbers = {},
                     .prep = prep_,
                     .common = {.scale = scale_, .weights = weights_, .means = means_},
                     .factor = common_,
                     .unit = unit_,
                     .eta = eta_,
                     .rms_norm = rms_norm_};
  for (std::size_t w = 0; w < wanted.size(); ++w) {
    const Index i = wanted[w] - portion_.first;
    if (i < 0 || i >= size_) continue;
    copies.which.push_back(static_cast<Index>(w));
    const std::size_t before = copies.values.size();
    if (sparse())
      for_entries(i, [&](Index l, double x) {
        copies.values.push_back(x);
        copies.columns.push_back(l);
      });
    else
      with_rows(i, i + 1, [&](Index, const auto& rows) {
        for (Index l = 0; l < features_; ++l)
          copies.values.push_back(static_cast<double>(rows.rows[0][l]));
      });
    copies.lengths.push_back(static_cast<Index>(copies.values.size() - before));
    const double with_means = products_with_means_.empty() ? 0.0 : products_with_means_[at(i)];
    for (const double x : {inner(i), mean(i), outer(i), squared_norms_[at(i)], with_means})
      copies.numbers.push_back(x);
  }
  return copies;
}

template <class T>
std::unique_ptr<Points> Points::from_copies(const std::vector<PointCopies>& parts) {
  const PointCopies& any = parts.front();
  Index count = 0;
  for (const PointCopies& part : parts) count += static_cast<Index>(part.which.size());
  struct Place {
    const PointCopies* part = nullptr;
    std::size_t place = 0, begin = 0;
  };
  std::vector<Place> places(at(count));
  for (const PointCopies& part : parts) {
    std::size_t begin = 0;
    for (std::size_t w = 0; w < part.which.size(); ++w) {
      places[at(part.which[w])] = {.part = &part, .place = w, .begin = begin};
      begin += at(part.lengths[w]);
    }
  }
  auto storage = std::make_shared<Storage<T>>();
  storage->starts.push_back(0);
  for (const auto& [part, place, begin] : places) {
    for (std::size_t e = begin; e < begin + at(part->lengths[place]); ++e) {
      storage->values.push_back(static_cast<T>(part->values[e]));
      if (any.sparse) storage->columns.push_back(part->columns[e]);
    }
    storage->starts.push_back(static_cast<std::int64_t>(storage->values.size()));
  }
  PointsView view = MatrixView<const T>{storage->values.data(), count, any.features, any.features};
  if (any.sparse)
    view = CsrView<T, std::int64_t>{count, any.features, storage->starts.data(),
                                    storage->columns.data(), storage->values.data()};
  std::unique_ptr<Points> result(new Points(view, {}, any.prep, count, 0));
  Points& p = *result;
  p.owned_ = storage;
  p.adopt(any.common);
  p.common_ = any.factor;
  p.unit_ = any.unit;
  p.eta_ = any.eta;
  p.rms_norm_ = any.rms_norm;
  p.outer_.assign(at(count), 1.0);  // the factor, where nothing else is in it
  if (any.sparse && !p.means_.empty()) p.products_with_means_.assign(at(count), 0.0);
  for (const double m : p.means_) p.means_squared_ += m * m;
  for (Index i = 0; i < count; ++i) {
    const Place& from = places[at(i)];
    const double* numbers = from.part->numbers.data() + from.place * numbers_each;
    if (!p.inner_.empty()) p.inner_[at(i)] = numbers[0];
    if (!p.mean_.empty()) p.mean_[at(i)] = numbers[1];
    p.outer_[at(i)] = numbers[2];
    p.squared_norms_[at(i)] = numbers[3];
    if (!p.products_with_means_.empty()) p.products_with_means_[at(i)] = numbers[4];
  }
  return result;
}

std::unique_ptr<Points> points_from(const std::vector<PointCopies>& parts) {
  return parts.front().single ? Points::from_copies<float>(parts)
                              : Points::from_copies<double>(parts);
}

}  // namespace fwsr
