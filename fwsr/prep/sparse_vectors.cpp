// Sparse points and dense vectors of the same length: products, sums, and distances from stored numbers alone. As in
// products.cpp, a_i = outer_i (y_i - mean_i 1 - means) with y_i = inner_i weights o x_i the stored part of point i.
#include <algorithm>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/prep/points.hpp"

namespace fwsr {

Points::ByFeature::ByFeature(const Points& points, const double* vectors, Index count, int threads)
    : count_(count),
      values_(at(block_count(count, sparse_rows) * points.features_ * sparse_rows)),
      sums_(at(count)),
      with_means_(at(count)),
      lasts_(at(count)) {
  const Index d = points.features_, stride = points.dim();
  const auto lay_out = [&](Index, Index first, Index last) {
    for (Index t = 0; t < count; ++t) {
      const double* const from = vectors + t * stride;
      double* const to = values_.data() + t / sparse_rows * d * sparse_rows + t % sparse_rows;
      for (Index l = first; l < last; ++l)
        to[l * sparse_rows] = points.weights_.empty() ? from[l] : from[l] * points.weights_[at(l)];
    }
  };
  constexpr Index features_at_once = 64;  // so that their places stay in the cache
  for_blocks(threads_for(threads, static_cast<double>(count * d)), d, lay_out, features_at_once);
  for (Index t = 0; t < count; ++t) {
    const double* const z = vectors + t * stride;
    for (Index l = 0; l < d && !points.mean_.empty(); ++l) sums_[at(t)] += z[l];
    if (!points.means_.empty()) with_means_[at(t)] = dot(points.means_.data(), z, d);
    if (points.eta_ != 0) lasts_[at(t)] = points.eta_ * z[d];
  }
}

void Points::sparse_products(Index i, const ByFeature& right, double* out) const {
  const Index groups = right.padded() / sparse_rows;
  std::fill_n(out, right.padded(), 0.0);
  constexpr Index some = 256;
  std::int32_t columns[some];
  double values[some];
  Index count = 0;
  const auto add = [&] {
    for (Index g = 0; g < groups; ++g)
      add_sparse(columns, values, count, right.values_.data() + g * features_ * sparse_rows,
                 out + g * sparse_rows);
    count = 0;
  };
  for_entries(i, [&](Index l, double v) {
    columns[count] = static_cast<std::int32_t>(l);
    values[count] = v;
    if (++count == some) add();
  });
  add();
  const double own = outer(i), factor = inner(i), shift = mean(i);
  for (Index t = 0; t < right.count_; ++t)
    out[t] = own * (factor * out[t] - shift * right.sums_[at(t)] - right.with_means_[at(t)]) +
             right.lasts_[at(t)];
}

void Points::sparse_sum(std::span<const Index> chosen, double* out,
                        std::span<const double> times) const {
  std::fill_n(out, dim(), 0.0);
  double means = 0, outers = 0, all = 0;  // sum_i outer_i mean_i, sum_i outer_i, and how many
  for (const Index i : chosen) {
    const double time = times.empty() ? 1.0 : times[at(i)];
    const double factor = time * outer(i) * inner(i);
    for_entries(i, [&](Index l, double v) { out[l] += factor * v; });
    means += time * outer(i) * mean(i);
    outers += time * outer(i);
    all += time;
  }
  for (Index l = 0; l < features_ && !(weights_.empty() && means_.empty() && mean_.empty()); ++l) {
    if (!weights_.empty()) out[l] *= weights_[at(l)];
    out[l] -= means + (means_.empty() ? 0.0 : outers * means_[at(l)]);
  }
  if (eta_ != 0) out[features_] = eta_ * all;
}

double Points::sparse_square(Index i, Index j, std::vector<double>& scratch) const {
  if (!outer_.empty()) {  // each its own factor: the means do not cancel
    std::vector<double> a(at(dim())), b(at(dim()));
    row(i, a.data());
    row(j, b.data());
    return squared_distance(a.data(), b.data(), features_);
  }
  const auto weight = [&](Index l) { return weights_.empty() ? 1.0 : weights_[at(l)]; };
  for_entries(i, [&](Index l, double v) { scratch[at(l)] += inner(i) * v * weight(l); });
  for_entries(j, [&](Index l, double v) { scratch[at(l)] -= inner(j) * v * weight(l); });
  // With g the difference of the stored parts and m that of the means: sum_l (g_l - m)^2 over all features.
  const double m = mean(i) - mean(j);
  double squares = 0;
  Index others = features_;
  const auto take = [&](Index l, double) {
    double& g = scratch[at(l)];
    if (g == 0) return;  // equal in both, or taken before
    squares += (g - m) * (g - m);
    --others;
    g = 0;
  };
  for_entries(i, take);
  for_entries(j, take);
  return common_ * common_ * (squares + static_cast<double>(others) * m * m);
}

}  // namespace fwsr
