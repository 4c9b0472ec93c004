// Sparse subspace clustering by orthogonal matching pursuit (You, Robinson and Vidal 2016; Dyer, Sankaranarayanan and
// Baraniuk 2013): with the points brought to norm 1, every one of them is represented by few others,
//
//   a_i about sum_j C_ji a_j,   C_ii = 0,   at most `sparsity` of the C_ji not zero,
//
// greedily: the point most correlated with the residual, argmax_{j != i} |<a_j, r>|, then least squares on all chosen for
// i so far, until the residual is at most `tolerance`. Points of one subspace choose each other where subspaces are far
// enough apart and well sampled. Exemplars, and clusters where these are asked for, come from C as self_expression.hpp says.
//
// Residuals of a block of points meet all points in products of matrices (most_correlated.hpp): O(n d) a point and step,
// so O(n^2 d sparsity) in all, as every point is a candidate; O(n sparsity) memory beside one block.
#include <algorithm>
#include <cmath>
#include <limits>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/base/total.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/methods/most_correlated.hpp"
#include "fwsr/methods/self_expression.hpp"
#include "fwsr/methods/ties.hpp"

namespace fwsr {

namespace {

/// Residuals below this are rounding, and so are parts of a point outside the span of others.
constexpr double rounding = 1e-8;

/// Least squares of a point on a few others, all of norm 1: q are orthonormal rows, a_t = sum_u upper_tu q_u.
class FewPoints {
 public:
  FewPoints(const Points& points, const std::vector<double>& norms)
      : points_(points), norms_(norms), d_(points.dim()) {}

  void load(Index i, double* out) const {
    points_.row(i, out);
    for (Index l = 0; l < d_; ++l) out[l] /= norms_[at(i)];
  }

  /// Takes the points of `chosen` in order; false: the last one adds nothing to the span of the others.
  bool span(const std::vector<Index>& chosen) {
    const std::size_t count = chosen.size();
    q_.resize(count * at(d_));
    upper_.assign(count * count, 0.0);
    bool independent = true;
    for (std::size_t t = 0; t < count; ++t) {
      double* const row = q_.data() + t * at(d_);
      load(chosen[t], row);
      for (int twice = 0; twice < 2; ++twice)
        for (std::size_t u = 0; u < t; ++u) {
          const double* const other = q_.data() + u * at(d_);
          const double along = dot(row, other, d_);
          upper_[t * count + u] += along;
          for (Index l = 0; l < d_; ++l) row[l] -= along * other[l];
        }
      const double length = std::sqrt(dot(row, row, d_));
      upper_[t * count + t] = length;
      independent = length > rounding;
      if (!independent) break;
      for (Index l = 0; l < d_; ++l) row[l] /= length;
    }
    return independent;
  }

  /// What they leave of point i, to `out`; its codes by them.
  std::vector<double> regress(Index i, std::size_t count, double* out) const {
    load(i, out);
    std::vector<double> along(count);
    for (int twice = 0; twice < 2; ++twice)
      for (std::size_t t = 0; t < count; ++t) {
        const double* const row = q_.data() + t * at(d_);
        const double part = dot(out, row, d_);
        along[t] += part;
        for (Index l = 0; l < d_; ++l) out[l] -= part * row[l];
      }
    for (std::size_t t = count; t-- > 0;) {  // sum_t codes_t upper_tu = along_u
      along[t] /= upper_[t * count + t];
      for (std::size_t u = 0; u < t; ++u) along[u] -= along[t] * upper_[t * count + u];
    }
    return along;
  }

 private:
  const Points& points_;
  const std::vector<double>& norms_;
  Index d_;
  std::vector<double> q_, upper_;
};

/// The columns of C of some points, which are pursued together.
class Pursuit {
 public:
  /// `scales`: 1 / norms, 0 for points that are zero.
  Pursuit(const Task& task, const std::vector<double>& norms, const std::vector<double>& scales,
          Index first, Index last)
      : task_(task), scales_(scales), d_(task.points->dim()), few_(*task.points, norms) {
    for (Index i = first; i < last; ++i)
      if (norms[at(i)] > 0) open_.push_back({.point = i});
    residuals_.resize(open_.size() * at(d_));
    for (std::size_t v = 0; v < open_.size(); ++v)
      few_.load(open_[v].point, residuals_.data() + v * at(d_));
  }

  /// Fills columns of C, and the squared residuals.
  void run(SparseCodes& codes, std::vector<double>& left) {
    const Index most = std::min<Index>(task_.settings.whole("sparsity"), task_.size() - 1);
    const double enough = std::max(rounding, task_.settings.number("tolerance"));
    for (const One& one : open_) left[at(one.point)] = 1;
    MostCorrelated search(*task_.points, scales_, static_cast<Index>(open_.size()));
    const auto passed = [&](Index v, Index j) { return open_[at(v)].has(j); };
    for (Index step = 0; step < most && !open_.empty(); ++step) {
      const std::vector<Index> next = search.find(residuals_, static_cast<Index>(open_.size()),
                                                  passed, tie_width, task_.keep_going);
      std::vector<One> still;
      std::vector<double> rows;
      for (std::size_t v = 0; v < open_.size(); ++v) {
        One& one = open_[v];
        double* const residual = residuals_.data() + v * at(d_);
        if (next[v] < 0) continue;
        one.chosen.push_back(next[v]);
        if (!few_.span(one.chosen)) continue;
        const std::vector<double> by = few_.regress(one.point, one.chosen.size(), residual);
        auto& column = codes.columns[at(one.point)];
        column.resize(by.size());
        for (std::size_t t = 0; t < by.size(); ++t) column[t] = {one.chosen[t], by[t]};
        const double square = dot(residual, residual, d_);
        left[at(one.point)] = square;
        if (std::sqrt(square) <= enough) continue;
        rows.insert(rows.end(), residual, residual + d_);
        still.push_back(std::move(one));
      }
      open_ = std::move(still);
      residuals_ = std::move(rows);
    }
  }

 private:
  struct One {
    Index point;
    std::vector<Index> chosen = {};

    bool has(Index j) const {
      return j == point || std::find(chosen.begin(), chosen.end(), j) != chosen.end();
    }
  };

  const Task& task_;
  const std::vector<double>& scales_;
  Index d_;
  FewPoints few_;
  std::vector<One> open_;
  std::vector<double> residuals_;  // of those, row by row
};

Picks choose(const Task& task) {
  const Index n = task.size();
  std::vector<double> norms(at(n)), scales(at(n)), left(at(n));
  for (Index i = 0; i < n; ++i) {
    norms[at(i)] = std::sqrt(task.points->squared_norm(i));
    scales[at(i)] = norms[at(i)] > 0 ? 1 / norms[at(i)] : 0.0;
  }
  SparseCodes codes{.columns = std::vector<std::vector<SparseCodes::Entry>>(at(n))};
  for_blocks(
      task.threads, n,
      [&](Index, Index first, Index last) {
        throw_if_cancelled(task.keep_going);
        Pursuit(task, norms, scales, first, last).run(codes, left);
      },
      MostCorrelated::at_once(task.points->dim()));
  Picks picks = choose_by_rows(task, codes, norms, "a larger sparsity");
  const auto all = static_cast<double>(n);
  picks.facts = {{"nonzeros", codes.nonzeros() / all}, {"residual", total(left) / all}};
  return picks;
}

Cost cost(const Sizes& s, const Settings& settings) {
  const double steps = std::min(static_cast<double>(settings.whole("sparsity")), s.n);
  const auto at_once = static_cast<double>(MostCorrelated::at_once(static_cast<Index>(s.d)));
  const double own = most_correlated_bytes(s, at_once) + 8 * at_once * s.d + 8 * steps * s.d;
  return {.bytes = 24 * s.n + s.crew(at_once) * own + by_rows_bytes(s, settings, steps),
          .flops = most_correlated_flops(s, s.n * steps) + by_rows_flops(s, settings, steps),
          .how =
              "all points times all residuals once a step, in blocks; holds a few codes of every "
              "point"};
}

}  // namespace

Method ssc_omp_method() {
  return {.name = "ssc-omp",
          .title = "sparse subspace clustering by matching pursuit",
          .about =
              "every point by a few others, greedily; the points that others use most, or those "
              "of each subspace (You, Robinson and Vidal 2016)",
          .parameters = {{.name = "sparsity",
                          .value = Index{5},
                          .about = "how many others represent a point, at most",
                          .least = 1,
                          .most = 1e4},
                         {.name = "tolerance",
                          .value = 1e-3,
                          .about = "a point whose residual is this part of its norm has enough",
                          .least = 0,
                          .most = 1},
                         clusters_parameter()},
          .codes = true,
          .cost = cost,
          .choose = choose};
}

}  // namespace fwsr
