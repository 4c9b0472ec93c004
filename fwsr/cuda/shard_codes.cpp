// What a CudaShard says about the codes of a run that has ended. With rows a_t of the exemplars T, C = A A^T, and
//
//   U = Theta A_B^T        x_i = U a_i, the codes of point i
//   E = I - A_T U          what they leave of it is E a_i
//   P = A_T^T E            scores of the exemplars: p_ti = P_t.a_i
//   S = E C E^T            ||p_i||^2 = a_i^T S a_i
//
// all sums over the points of products of codes and scores are products of small matrices with C: <X_t, P_t> = U_t C P_t^T,
// and so on. Points are asked who is nearest, for the largest score, and how much rounding there may have been.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/cuda/after.hpp"
#include "fwsr/cuda/cuda_shard.hpp"
#include "fwsr/cuda/statistics.hpp"
#include "fwsr/linalg/pass.hpp"
#include "fwsr/solver/regression.hpp"

namespace fwsr::cuda {

namespace {

/// A matrix on the card, row by row.
struct Rectangle {
  Array<double> numbers;
  Index rows = 0, cols = 0;

  Rectangle(Device& device, Index r, Index c) : numbers(device, r * c), rows(r), cols(c) {}
  Rectangle(Device& device, std::span<const double> from, Index c)
      : numbers(device, from), rows(std::ssize(from) / c), cols(c) {}
  Matrix view() const { return {numbers.get(), rows, cols, cols}; }
};

Rectangle product(Device& device, const Matrix& left, const Matrix& right,
                  bool transposed = false) {
  Rectangle out(device, left.rows, transposed ? right.rows : right.cols);
  device.blas().multiply({.left = left,
                          .right = right,
                          .transposed = transposed,
                          .out = out.numbers.get(),
                          .out_stride = out.cols});
  return out;
}

/// Inner products of rows. Squares are no less than zero, whatever rounding has done.
std::vector<double> dots(Device& device, const Rectangle& x, const Rectangle& y) {
  Array<double> out(device, x.rows);
  launch_row_dots(device, x.numbers.get(), y.numbers.get(), x.rows, x.cols, out.get());
  return out.get_all();
}
std::vector<double> squares(Device& device, const Rectangle& x, const Rectangle& y) {
  std::vector<double> found = dots(device, x, y);
  for (double& v : found) v = std::max(0.0, v);
  return found;
}
double total(const std::vector<double>& v) {
  return std::accumulate(v.begin(), v.end(), 0.0);
}

}  // namespace

Leaders CudaShard::leaders(Index set, Array<double> s, double margin) {
  const DevicePoints& own = candidates(set);
  const Array<double> scores = forms(own, std::move(s));
  Leaders found;
  found.margin = margin;
  found.largest = largest_of(*device_, scores.get(), own.size());
  const auto most = static_cast<Index>(Leaders::most);
  Array<Index> places(*device_, most);
  Array<unsigned long long> count(*device_, 1);
  count.set_to_zero();
  launch_collect(*device_, scores.get(), own.size(), found.largest - margin, most, places.get(),
                 count.get());
  const auto in_all = static_cast<Index>(count.get_all().front());
  if (in_all > most) {
    found.left_out = found.largest;
    return found;
  }
  std::vector<Index> leading = places.get_some(0, in_all);
  std::sort(leading.begin(), leading.end());
  for (const Index i : leading)
    found.all.push_back(
        {before(set) + narrowed(set).terms.point(i), scores.get_some(i, 1).front()});
  return found;
}

DescribeCodes::Reply CudaShard::answer(const DescribeCodes& q) {
  const DevicePoints& own = points(q.set);
  const SweepTables& z = q.tables;
  const Index n = own.size(), dim = own.dim(), k = z.k;
  const bool coded = !z.theta.values.empty();  // else only who is nearest is asked
  // What follows from C is of all points, wherever they are: one portion says it.
  const bool leads = own.portion().leads() && n > 0;
  std::vector<double> chosen;
  for (const Index place : z.places)
    chosen.insert(chosen.end(), z.with.row(place), z.with.row(place) + dim);
  const Rectangle t(*device_, chosen, dim);
  const std::span<const double> basis = std::span(z.with.values).first(at(z.m * dim));
  const Rectangle u = coded ? product(*device_, Rectangle(*device_, z.theta.values, z.m).view(),
                                      Rectangle(*device_, basis, dim).view())
                            : Rectangle(*device_, 0, dim);
  const Matrix c{covariance(q.covariance), dim, dim, dim};
  const Rectangle uc = product(*device_, u.view(), c);
  SweepPart part;
  if (leads) part.squares = squares(*device_, uc, u);
  part.squares.resize(at(k));
  if (z.full) {
    Rectangle e(*device_, dim, dim);
    e.numbers.set_to_zero();
    if (k > 0)
      device_->blas().multiply({.left = t.view(),
                                .left_transposed = true,
                                .right = u.view(),
                                .a = -1,
                                .out = e.numbers.get(),
                                .out_stride = dim});
    launch_add_identity(*device_, dim, e.numbers.get());
    const Rectangle ec = product(*device_, e.view(), c), p = product(*device_, t.view(), e.view()),
                    pc = product(*device_, t.view(), ec.view());
    if (leads) {
      part.sums.xp = dots(*device_, uc, p);
      part.sums.squared_score = squares(*device_, pc, p);
      part.sums.xk = total(dots(*device_, uc, t));
      part.sums.xkx = part.sums.xk - total(part.sums.xp);
    }
    part.leaders =
        leaders(q.set, product(*device_, ec.view(), e.view(), true).numbers, 2 * z.score_error);
  }

  const Array<double> of_exemplars = put(z.squares), norms = put(z.norm),
                      roughness = put(z.roughness);
  const Rows rows_view = own.rows();
  const Narrowed& under = narrowed(q.set);
  Array<double> s, x;
  Array<int> nearest(*device_, n);
  nearest.set_to_zero();
  Array<SweepSums> sums(*device_, z.full ? block_count(n, part_rows) : 0);
  SweepAnswer answer;
  if (q.wanted.codes) answer.codes.resize(at(n * k));
  if (q.wanted.assignment) answer.assignment.assign(at(n), -1);
  for_rows(own, 2 * k, [&](Index first, Index last, const double* rows) {
    const Index count = last - first;
    if (s.empty()) s = Array<double>(*device_, count * k);
    times(rows, count, dim, t.numbers.get(), k, s.get(), k);
    if (coded && (z.full || q.wanted.codes)) {
      if (x.empty()) x = Array<double>(*device_, count * k);
      times(rows, count, dim, u.numbers.get(), k, x.get(), k);
    }
    launch_sweep_rows(*device_, {.first = first,
                                 .rows = count,
                                 .k = k,
                                 .full = z.full,
                                 .x = x.get(),
                                 .s = s.get(),
                                 .weights = under.weights.get(),
                                 .squares = own.squares(),
                                 .mean = rows_view.mean,
                                 .outer = rows_view.outer,
                                 .every_outer = rows_view.every_outer,
                                 .means_norm = own.norm_of_means(),
                                 .root_features = std::sqrt(static_cast<double>(own.features())),
                                 .eta_squared = own.eta() * own.eta(),
                                 .exemplar_squares = of_exemplars.get(),
                                 .norms = norms.get(),
                                 .roughness = roughness.get(),
                                 .of_codes = z.of_codes,
                                 .rounding = nearest_rounding,
                                 .sums = sums.get(),
                                 .nearest = nearest.get()});
    if (q.wanted.codes && !x.empty()) {
      const std::vector<double> some = x.get_some(0, count * k);
      std::copy(some.begin(), some.end(), answer.codes.begin() + first * k);
    }
  });
  part.count.assign(at(k), 0.0);
  if (k > 0) {
    const Array<Index> exemplars = places_here(q.set, z.exemplars);
    launch_themselves(*device_, exemplars.get(), k, {0, n}, nearest.get());
    part.count = counts(q.set, nearest, k);
    if (q.wanted.assignment) {
      const std::vector<int> all = nearest.get_all();
      answer.assignment.assign(all.begin(), all.end());
    }
  }
  if (z.full) {
    for (const SweepSums& some : sums.get_all()) {
      part.sums.plain_trace += some.plain_trace;
      part.sums.sizes.add({.absolute = some.absolute,
                           .residual_errors = some.residual_errors,
                           .longest = some.longest,
                           .roughest = some.roughest});
    }
    part.sums.trace =
        part.sums.plain_trace + under.terms.weight_of_all(n) * (own.eta() * own.eta());
    // What orthonormal vectors take of the points. Nothing is said where so many may span all of them: who asks then asks
    // for what is left (BeyondSpan).
    if (const Index d = own.features(); k < d) {
      const std::vector<double> span = span_of(chosen, dim, d);
      const Rectangle v(*device_, span, d);
      part.sums.projection = part.sums.plain_trace;
      if (leads)
        part.sums.projection -=
            total(dots(*device_, product(*device_, v.view(), {c.data, d, d, dim}), v));
    }
  }
  answer.parts.push_back(std::move(part));
  return answer;
}

}  // namespace fwsr::cuda
