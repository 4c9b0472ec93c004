#include "fwsr/data/synthetic.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include <fmt/format.h>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/random.hpp"
#include "fwsr/base/result.hpp"

namespace fwsr {

namespace {

/// Uses of the seed, kept apart so that none depends on how much another one draws.
enum class Use : std::uint64_t { places = 1, exemplars, mixtures, centers, members };

/// The stream of row `row` for one use of the seed.
Rng stream(std::uint64_t seed, Use use, Index row = 0) {
  Rng uses(seed);
  Rng rows = uses.split(static_cast<std::uint64_t>(use));
  return rows.split(static_cast<std::uint64_t>(row) + 1);
}

DenseMatrix<double> make_matrix(Index rows, Index cols) {
  const Index bytes = checked_bytes(rows, cols);
  return {rows, cols, std::vector<double>(static_cast<std::size_t>(bytes) / sizeof(double))};
}

std::span<double> row_of(DenseMatrix<double>& m, Index i) {
  return std::span(m.values).subspan(static_cast<std::size_t>(i * m.cols),
                                     static_cast<std::size_t>(m.cols));
}

void require_at_least_one(const char* name, Index value) {
  if (value < 1) throw Error(fmt::format("{} must be at least 1, got {}", name, value));
}

void require_not_negative(const char* name, double value) {
  if (!(value >= 0) || !std::isfinite(value))
    throw Error(fmt::format("{} must be a number of at least 0, got {}", name, value));
}

void check(const ConvexOptions& o) {
  require_at_least_one("exemplars", o.exemplars);
  require_at_least_one("dimensions", o.dimensions);
  require_at_least_one("mixed", o.mixed);
  require_not_negative("noise", o.noise);
  if (o.points < 0) throw Error(fmt::format("points must not be negative, got {}", o.points));
  if (o.mixed > o.exemplars)
    throw Error(fmt::format("mixed must be at most exemplars ({}), got {}", o.exemplars, o.mixed));
  if (o.points > INT64_MAX - o.exemplars) throw Error("points is too large");
}

void check(const BlobOptions& o) {
  require_at_least_one("points", o.points);
  require_at_least_one("clusters", o.clusters);
  require_at_least_one("dimensions", o.dimensions);
  require_not_negative("deviation", o.deviation);
  require_not_negative("center_box", o.center_box);
  if (o.clusters > o.points)
    throw Error(fmt::format("clusters must be at most points ({}), got {}", o.points, o.clusters));
}

/// Uniform on { w : w >= 0, sum w = 1 }: exponential variables, divided by their sum.
std::vector<double> simplex_weights(Index count, Rng& rng) {
  std::vector<double> weights(static_cast<std::size_t>(count));
  double sum = 0;
  for (double& w : weights) sum += w = -std::log(1 - rng.uniform());
  for (double& w : weights) w = sum > 0 ? w / sum : 1 / static_cast<double>(count);
  return weights;
}

/// One mixture of the exemplars, which stand at the rows `places` of `points`.
void mix(DenseMatrix<double>& points, Index row, const std::vector<Index>& places,
         const ConvexOptions& o) {
  Rng rng = stream(o.seed, Use::mixtures, row);
  const auto chosen = sample_without_replacement(o.exemplars, o.mixed, rng);
  const auto weights = simplex_weights(o.mixed, rng);
  const auto out = row_of(points, row);
  for (std::size_t m = 0; m < chosen.size(); ++m) {
    const auto exemplar = row_of(points, places[static_cast<std::size_t>(chosen[m])]);
    for (std::size_t j = 0; j < out.size(); ++j) out[j] += weights[m] * exemplar[j];
  }
  if (o.noise > 0)
    for (double& v : out) v += o.noise * rng.normal();
}

}  // namespace

Synthetic convex_combinations(const ConvexOptions& o) {
  check(o);
  const Index n = o.exemplars + o.points;
  Synthetic set{.points = make_matrix(n, o.dimensions)};
  Rng places = stream(o.seed, Use::places);
  set.exemplars = sample_without_replacement(n, o.exemplars, places);
  std::sort(set.exemplars.begin(), set.exemplars.end());
  set.labels.assign(static_cast<std::size_t>(n), 0);
  for (const Index e : set.exemplars) set.labels[static_cast<std::size_t>(e)] = 1;
  const int threads = default_threads();
  for_tasks(threads, o.exemplars, [&](Index e) {
    const Index row = set.exemplars[static_cast<std::size_t>(e)];
    Rng rng = stream(o.seed, Use::exemplars, row);
    for (double& v : row_of(set.points, row)) v = rng.normal();
  });
  for_tasks(threads, n, [&](Index row) {
    if (set.labels[static_cast<std::size_t>(row)] == 0) mix(set.points, row, set.exemplars, o);
  });
  return set;
}

Synthetic blobs(const BlobOptions& o) {
  check(o);
  Synthetic set{.points = make_matrix(o.points, o.dimensions)};
  DenseMatrix<double> centers = make_matrix(o.clusters, o.dimensions);
  const int threads = default_threads();
  for_tasks(threads, o.clusters, [&](Index c) {
    Rng rng = stream(o.seed, Use::centers, c);
    for (double& v : row_of(centers, c)) v = o.center_box * (2 * rng.uniform() - 1);
  });
  Rng places = stream(o.seed, Use::places);
  set.labels = sample_without_replacement(o.points, o.points, places);
  for (Index& label : set.labels) label %= o.clusters;
  for_tasks(threads, o.points, [&](Index row) {
    Rng rng = stream(o.seed, Use::members, row);
    const auto center = row_of(centers, set.labels[static_cast<std::size_t>(row)]);
    const auto out = row_of(set.points, row);
    for (std::size_t j = 0; j < out.size(); ++j) out[j] = center[j] + o.deviation * rng.normal();
  });
  return set;
}

}  // namespace fwsr
