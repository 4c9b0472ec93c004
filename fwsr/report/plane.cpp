#include "fwsr/report/plane.hpp"

#include <cmath>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/base/matrix.hpp"
#include "fwsr/base/random.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/lanczos.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/prep/points.hpp"
#include "fwsr/report/triangle.hpp"

namespace fwsr::report {

namespace {

/// A vector and its opposite are the same direction: the one whose largest number is positive.
void fix_sign(std::vector<double>& v) {
  double largest = 0;
  for (const double x : v)
    if (std::abs(x) > std::abs(largest)) largest = x;
  if (largest < 0)
    for (double& x : v) x = -x;
}

/// Principal components of some rows.
Plane components_of(const PointsView& view, std::span<const Index> subset, Scale scale,
                    int threads) {
  const Points points(view, subset, {.center = Center::feature, .scale = scale}, threads);
  double all = 0;
  for (Index i = 0; i < points.size(); ++i) all += points.squared_norm(i);
  std::vector<std::vector<double>> known;
  Plane plane;
  for (const int number : {1, 2}) {
    const auto take_away_known = [&](std::vector<double>& v) {
      for (const std::vector<double>& q : known) {
        const double along = dot(q.data(), v.data(), std::ssize(v));
        for (std::size_t l = 0; l < v.size(); ++l) v[l] -= along * q[l];
      }
    };
    Rng rng(static_cast<std::uint64_t>(number));
    std::vector<double> start(at(points.dim()));
    for (double& v : start) v = rng.normal();
    take_away_known(start);
    std::vector<double> along(at(points.size()));
    const LeadingEigen found = leading_eigen(
        [&](std::span<const double> v) {
          points.project(v, along, threads);
          std::vector<double> out = points.combine(along, threads);
          take_away_known(out);
          return out;
        },
        start, 1e-4);
    std::vector<double> direction = found.vector;
    direction.resize(start.size(), 0.0);
    fix_sign(direction);
    points.project(direction, along, threads);
    (number == 1 ? plane.x : plane.y) = along;
    (number == 1 ? plane.across : plane.up) =
        fmt::format("{} principal component ({:.0f} % of the spread)",
                    number == 1 ? "first" : "second", all > 0 ? 100 * found.value / all : 0.0);
    known.push_back(std::move(direction));
  }
  return plane;
}

}  // namespace

Plane plane_of(const Rows& rows, const Run& run, std::span<const Index> axes,
               std::span<const Index> points, int threads) {
  Plane plane;
  if (points.empty()) return plane;
  if (axes.size() == 2) {
    for (const Index i : points) {
      const std::vector<double> x = rows.numbers(i);
      plane.x.push_back(x[at(axes[0])]);
      plane.y.push_back(x[at(axes[1])]);
    }
    plane.across = rows.column(axes[0]);
    plane.up = rows.column(axes[1]);
    return plane;
  }
  const bool given = run.options.kernel.type == KernelType::precomputed;
  if (!given && !run.dissimilarities)
    return components_of(rows.points, points, run.options.scale, threads);
  // What the matrix says about a point and the exemplars, as coordinates in their span where it is a kernel.
  const std::vector<Index>& chosen = run.selection->exemplars;
  const Index k = std::ssize(chosen), n = std::ssize(points);
  if (k == 0) return {.x = std::vector<double>(at(n)), .y = std::vector<double>(at(n))};
  const auto values_of = [&](Index i, std::vector<double>& out) {
    const std::vector<double> row = rows.numbers(i);
    for (const Index t : chosen) out.push_back(row[at(t)]);
  };
  std::vector<double> among;
  DenseMatrix<double> values{.rows = n, .cols = k, .values = {}};
  for (const Index t : chosen) values_of(t, among);
  for (const Index i : points) values_of(i, values.values);
  if (given) {
    const std::vector<double> inverse = inverse_triangle(among, k);
    std::vector<double> solved(at(n * k));
    multiply(Product<double>{.op_b = Op::transpose,
                             .m = n,
                             .n = k,
                             .k = k,
                             .left = values.values.data(),
                             .right = inverse.data(),
                             .out = solved.data()});
    values.values = std::move(solved);
  }
  return components_of(PointsView(values.view()), {}, Scale::none, threads);
}

}  // namespace fwsr::report
