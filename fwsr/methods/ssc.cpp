// Sparse subspace clustering (Elhamifar and Vidal 2013): every point by few others,
//
//   minimise  ||C||_1 + lambda/2 ||A - A C||^2   with C_ii = 0,   and where `affine`   1^T C = 1^T,
//
// a lasso for every column. lambda = alpha / min_i max_{j != i} |<a_i, a_j>|: with alpha <= 1 some column is zero.
//
// The columns of a block are solved together. Each begins with no points in play, or with the one most correlated. All
// points are asked for their product with the residual, in one product of matrices for the block: those that break the
// optimality conditions most come into play, the small lasso is solved on these (lasso.hpp), and so on, until the gap of
// the column, over all points, is `tolerance` of its objective. What never breaks a condition is never looked at
// again: C is held as its non-zeros, and no n x n matrix is ever made.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/base/total.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/methods/all_products.hpp"
#include "fwsr/methods/lasso.hpp"
#include "fwsr/methods/self_expression.hpp"
#include "fwsr/methods/ties.hpp"

namespace fwsr {

namespace {

constexpr std::size_t newcomers = 16;  // that come into play at a time, at least

/// Columns that are solved together: each holds the products of those in play.
Index columns_at_once(Index d) {
  return std::min<Index>(64, AllProducts::at_once(d));
}

/// A point that would help a column, and how much it breaks the condition.
struct Candidate {
  double excess;
  Index point;
};
bool comes_first(const Candidate& a, const Candidate& b) {
  return a.excess != b.excess ? a.excess > b.excess : a.point < b.point;
}

/// One column of C.
struct Column {
  Index point;
  std::vector<Index> in_play = {};  // ascending
  SmallLasso small = {};
  std::vector<double> c = {};
  std::vector<double> residual = {};  // a - A c
  double objective = 0, gap = 0;
  double enough = 0;  // for the small lasso

  std::size_t limit() const { return std::max(newcomers, in_play.size() / 2); }
};

class ColumnBlock {
 public:
  ColumnBlock(const Task& task, double lambda, Index first, Index last)
      : task_(task),
        points_(*task.points),
        d_(points_.dim()),
        lambda_(lambda),
        affine_(task.settings.yes("affine")),
        enough_(task.settings.number("tolerance")) {
    for (Index i = first; i < last; ++i) {
      Column column{.point = i, .residual = std::vector<double>(at(d_))};
      points_.row(i, column.residual.data());
      column.small.square = dot(column.residual.data(), column.residual.data(), d_);
      column.small.lambda = lambda;
      column.small.affine = affine_;
      column.enough = enough_ / 10;
      columns_.push_back(std::move(column));
    }
  }

  /// False: some column is not within the tolerance.
  bool run(SparseCodes& codes, std::vector<double>& objectives, std::vector<double>& gaps) {
    std::vector<std::size_t> open(columns_.size());
    for (std::size_t v = 0; v < open.size(); ++v) open[v] = v;
    AllProducts products(points_, static_cast<Index>(open.size()));
    const Index most = task_.settings.whole("max_iterations");
    bool within = true;
    for (Index round = 0; round < most && !open.empty(); ++round) {
      const std::vector<std::vector<Candidate>> found = ask_all(open, products);
      std::vector<std::size_t> still;
      for (std::size_t o = 0; o < open.size(); ++o) {
        Column& column = columns_[open[o]];
        const bool begun = !affine_ || !column.in_play.empty();
        if (begun && column.gap <= enough_ * column.objective) continue;
        // Where nobody new comes into play the small lasso has to be solved better, as far as rounding lets it.
        if (!bring_in(column, found[o])) column.enough /= 10;
        if (column.in_play.empty()) continue;  // nobody to represent it
        within = within && column.enough > 1e-15;
        if (column.enough > 1e-15) still.push_back(open[o]);
      }
      open = std::move(still);
      for (const std::size_t v : open) {
        throw_if_cancelled(task_.keep_going);
        solve(columns_[v]);
      }
    }
    for (const Column& column : columns_) {
      objectives[at(column.point)] = column.objective;
      gaps[at(column.point)] = column.gap;
      auto& out = codes.columns[at(column.point)];
      for (std::size_t t = 0; t < column.c.size(); ++t)
        if (column.c[t] != 0) out.push_back({column.in_play[t], column.c[t]});
    }
    return open.empty() && within;
  }

 private:
  /// Who breaks a condition of each column, and its objective and gap.
  std::vector<std::vector<Candidate>> ask_all(const std::vector<std::size_t>& open,
                                              AllProducts& products) {
    std::vector<double> rows;
    std::vector<Residual> known;
    std::vector<double> centre;  // affine: where rho + nu is 0 as the points in play say
    for (const std::size_t v : open) {
      const Column& column = columns_[v];
      rows.insert(rows.end(), column.residual.begin(), column.residual.end());
      known.push_back({.with_point = 0,
                       .square = dot(column.residual.data(), column.residual.data(), d_),
                       .most = -std::numeric_limits<double>::infinity(),
                       .least = std::numeric_limits<double>::infinity()});
      centre.push_back(affine_ ? centre_of(column) : 0.0);
    }
    std::vector<std::vector<Candidate>> found(open.size());
    const auto count = static_cast<Index>(open.size());
    products.visit(rows, count, [&](Index begin, Index end, const double* values) {
      throw_if_cancelled(task_.keep_going);
      for (Index v = 0; v < count; ++v) {
        const Column& column = columns_[open[at(v)]];
        const double* const row = values + v * AllProducts::tile;
        for (Index j = begin; j < end; ++j) {
          if (j == column.point) {
            known[at(v)].with_point = row[j - begin];
            continue;
          }
          const double rho = lambda_ * row[j - begin];
          known[at(v)].most = std::max(known[at(v)].most, rho);
          known[at(v)].least = std::min(known[at(v)].least, rho);
          const bool begins = affine_ && column.in_play.empty();
          const double excess = begins ? rho : std::abs(rho - centre[at(v)]) - 1;
          if (begins || excess > 0) keep(found[at(v)], {excess, j}, column.limit());
        }
      }
    });
    for (std::size_t o = 0; o < open.size(); ++o) describe(columns_[open[o]], known[o], found[o]);
    return found;
  }

  /// The largest so many, now and then cut to these.
  static void keep(std::vector<Candidate>& all, const Candidate& one, std::size_t limit) {
    if (all.size() == 4 * limit) {
      std::nth_element(all.begin(), all.begin() + static_cast<Index>(limit), all.end(),
                       comes_first);
      all.resize(limit);
    }
    all.push_back(one);
  }

  void describe(Column& column, const Residual& r, std::vector<Candidate>& found) const {
    double norm = 0;
    for (const double v : column.c) norm += std::abs(v);
    column.objective = norm + lambda_ / 2 * r.square;
    column.gap = task_.size() > 1 ? lasso_gap(norm, r, lambda_, affine_) : 0.0;
    std::sort(found.begin(), found.end(), comes_first);
    if (found.size() > column.limit()) found.resize(column.limit());
  }

  /// The middle of what rho may be: 1 from those with a positive code, -1 from those with a negative one.
  double centre_of(const Column& column) const {
    double sum = 0, weight = 0;
    const Index m = column.small.size();
    for (Index j = 0; j < m; ++j) {
      if (column.c[at(j)] == 0) continue;
      double g = column.small.products[at(j)];
      for (Index i = 0; i < m; ++i) g -= column.c[at(i)] * column.small.gram[at(j * m + i)];
      sum += lambda_ * g - (column.c[at(j)] > 0 ? 1 : -1);
      ++weight;
    }
    return weight > 0 ? sum / weight : 0.0;
  }

  /// The small lasso with some points more; false: all of them are in play.
  bool bring_in(Column& column, const std::vector<Candidate>& found) const {
    std::vector<Index> next = column.in_play;
    for (const Candidate& one : found)
      if (std::find(column.in_play.begin(), column.in_play.end(), one.point) ==
          column.in_play.end())
        next.push_back(one.point);
    if (next.size() == column.in_play.size()) return false;
    std::sort(next.begin(), next.end());
    const auto m = static_cast<Index>(next.size());
    std::vector<double> c(next.size());
    for (std::size_t t = 0, old = 0; t < next.size(); ++t)
      if (old < column.in_play.size() && column.in_play[old] == next[t]) c[t] = column.c[old++];
    if (affine_ && column.in_play.empty()) c[place_of(next, found.front().point)] = 1;
    std::vector<double> rows(at((m + 1) * d_));
    for (Index t = 0; t < m; ++t) points_.row(next[at(t)], rows.data() + t * d_);
    double* const own = rows.data() + m * d_;
    points_.row(column.point, own);
    column.small.products.resize(next.size());
    column.small.gram.resize(next.size() * next.size());
    for (Index i = 0; i < m; ++i) {
      const double* const row = rows.data() + i * d_;
      column.small.products[at(i)] = dot(row, own, d_);
      for (Index j = 0; j <= i; ++j)
        column.small.gram[at(j * m + i)] = column.small.gram[at(i * m + j)] =
            dot(row, rows.data() + j * d_, d_);
    }
    column.in_play = std::move(next);
    column.c = std::move(c);
    return true;
  }
  static std::size_t place_of(const std::vector<Index>& all, Index one) {
    return at(std::lower_bound(all.begin(), all.end(), one) - all.begin());
  }

  void solve(Column& column) const {
    column.small.solve(column.c, column.enough);
    points_.row(column.point, column.residual.data());
    std::vector<double> row(at(d_));
    for (std::size_t t = 0; t < column.c.size(); ++t) {
      if (column.c[t] == 0) continue;
      points_.row(column.in_play[t], row.data());
      for (Index l = 0; l < d_; ++l) column.residual[at(l)] -= column.c[t] * row[at(l)];
    }
  }

  const Task& task_;
  const Points& points_;
  Index d_;
  double lambda_;
  bool affine_;
  double enough_;
  std::vector<Column> columns_;
};

/// min_i max_{j != i} |<a_i, a_j>| over points for which that is not 0.
double least_correlation(const Task& task) {
  const Index n = task.size(), d = task.points->dim(), block = AllProducts::at_once(d);
  std::vector<double> most(at(n));
  for_blocks(
      task.threads, n,
      [&](Index, Index first, Index last) {
        AllProducts products(*task.points, last - first);
        std::vector<double> rows(at((last - first) * d));
        task.points->rows(first, last, rows.data());
        products.visit(rows, last - first, [&](Index begin, Index end, const double* values) {
          throw_if_cancelled(task.keep_going);
          for (Index i = first; i < last; ++i)
            for (Index j = begin; j < end; ++j)
              if (i != j)
                most[at(i)] = std::max(
                    most[at(i)], std::abs(values[(i - first) * AllProducts::tile + j - begin]));
        });
      },
      block);
  double least = std::numeric_limits<double>::infinity(), largest = 0;
  for (Index i = 0; i < n; ++i) {
    const double square = task.points->squared_norm(i);
    largest = std::max(largest, square);
    if (most[at(i)] > 1e-14 * square) least = std::min(least, most[at(i)]);
  }
  return std::isfinite(least) ? least : std::max(largest, 1e-300);
}

Picks choose(const Task& task) {
  const Index n = task.size();
  const double lambda = task.settings.number("alpha") / least_correlation(task);
  SparseCodes codes{.columns = std::vector<std::vector<SparseCodes::Entry>>(at(n))};
  std::vector<double> objectives(at(n)), gaps(at(n));
  const Index block = columns_at_once(task.points->dim());
  std::vector<char> done(at(block_count(n, block)));
  for_blocks(
      task.threads, n,
      [&](Index b, Index first, Index last) {
        throw_if_cancelled(task.keep_going);
        done[at(b)] = ColumnBlock(task, lambda, first, last).run(codes, objectives, gaps);
      },
      block);
  Picks picks = choose_by_rows(task, codes, {}, "a larger alpha");
  const double objective = total(objectives), gap = total(gaps);
  if (std::find(done.begin(), done.end(), 0) != done.end()) {
    picks.status = Status::iteration_limit;
    picks.warnings.push_back(fmt::format(
        "stopped after {} rounds with a gap of {:.2g} of the objective; a larger max_iterations "
        "makes it smaller",
        task.settings.whole("max_iterations"), gap / objective));
  }
  picks.facts = {{"objective", objective},
                 {"gap", gap},
                 {"lambda", lambda * task.unit() * task.unit()},
                 {"nonzeros", codes.nonzeros() / static_cast<double>(n)}};
  return picks;
}

Cost cost(const Sizes& s, const Settings& settings) {
  const double nonzeros = std::min(s.n, 20.0), rounds = 6, in_play = std::min(s.n, 128.0);
  const auto at_once = static_cast<double>(columns_at_once(static_cast<Index>(s.d)));
  const double own =
      all_products_bytes(s) + 8 * at_once * (2 * s.d + in_play * in_play + 4 * in_play);
  return {.bytes = 24 * s.n + s.crew(at_once) * own + by_rows_bytes(s, settings, nonzeros),
          .flops = all_products_flops(s, s.n * (rounds + 1)) +
                   s.n * rounds * in_play * (in_play / 4) * (s.pair() + 400) +
                   by_rows_flops(s, settings, nonzeros),
          .how =
              "all points times all residuals a few times, in blocks of columns; holds the codes "
              "that are not zero"};
}

}  // namespace

Method ssc_method() {
  return {.name = "ssc",
          .title = "sparse subspace clustering",
          .about =
              "every point by few others, as a convex program; the points that others use most, "
              "or those of each subspace (Elhamifar and Vidal 2013)",
          .parameters = {{.name = "alpha",
                          .value = 20.0,
                          .about = "lambda is the smallest useful one times this; more for codes "
                                   "that represent the points better",
                          .least = 1},
                         {.name = "affine",
                          .value = false,
                          .about = "the codes of every point sum to 1"},
                         {.name = "tolerance",
                          .value = 1e-4,
                          .about = "a column is done when its objective is within this part of the "
                                   "optimum, for certain",
                          .least = 1e-12,
                          .most = 1},
                         {.name = "max_iterations",
                          .value = Index{100},
                          .about = "how often points come into play, at most",
                          .least = 1,
                          .most = 1e6},
                         clusters_parameter()},
          .codes = true,
          .cost = cost,
          .choose = choose};
}

}  // namespace fwsr
