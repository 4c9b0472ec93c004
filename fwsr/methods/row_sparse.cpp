#include "fwsr/methods/row_sparse.hpp"

#include <algorithm>
#include <cmath>

#include "fwsr/base/at.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/rows.hpp"

namespace fwsr {

namespace {

constexpr Index rows_at_once = 256;
constexpr Index tile = 256;  // of V^T Z
constexpr double worth_a_team = 2e7;
constexpr double omega = 1.7;      // over-relaxation; 1.6 to 1.8 is as good
constexpr double first_rho = 0.3;  // times lambda: thresholds of a few units, as the row norms are
/// The gap is looked at every so many steps, and every time when that costs little beside a step.
constexpr Index steps_a_check = 5, many_columns = 100;
constexpr Index first_balance = 100;
/// Where the iteration is fastest the relative primal residual is some 30 times the dual one, as
/// measured; far from there rho is changed.
constexpr double usual_ratio = 30, unbalanced = 8;

double square(double v) {
  return v * v;
}

class Admm {
 public:
  Admm(const RowFrame& frame, const RowSparseOptions& options);
  RowSparseSolution run();

 private:
  /// Sums over rows, of one block or of all.
  struct Sums {
    double x = 0, z = 0, u = 0, primal = 0, dual = 0;  // squares
    double norms = 0;                                  // of the rows of Z
    double steepest = 0;                               // the largest ||v_i^T W||^2
    void add(const Sums& o);
  };
  /// Of one thread.
  struct Room {
    std::vector<double> x, before, z, v, products;
  };
  struct Bounds {
    double objective = 0;
    std::vector<double> shift;  // of the rows of Z, times their shares: meets the constraint
    double shares = 0;          // what the norms are divided by; 0: all rows have the same
  };

  void prepare();
  void step();
  void update(Room& room, Index first, Index last, Sums& sums);
  void update_row(Room& room, Index i, double* x, Sums& sums);
  void multiply_rows(Room& room, Index row, Index column);
  void balance();
  Bounds bounds() const;
  double share(const Bounds& b, Index i) const;
  double dual_bound() const;
  double rho_part(Index l) const { return frame_.squares[at(l)] / (frame_.squares[at(l)] + rho_); }
  RowSparseSolution finish(const Bounds& b, double bound);

  const RowFrame& frame_;
  const RowSparseOptions& options_;
  const Index n_, r_;
  double rho_, rescale_ = 1;                   // rescale_: U of the last step times this is U now
  LargeArray<double> d_;                       // D, n x r
  std::vector<double> kept_;                   // z_i = kept_i d_i
  std::vector<double> norms_;                  // ||z_i||
  std::vector<double> vz_, vu_, w_, next_vz_;  // V^T Z, V^T U, W: r x r
  std::vector<Index> nonzero_;                 // rows of Z
  std::vector<Room> rooms_;
  std::vector<Sums> parts_;  // of every block
  Sums sums_;
  Index iterations_ = 0;
};

void Admm::Sums::add(const Sums& o) {
  x += o.x, z += o.z, u += o.u, primal += o.primal, dual += o.dual, norms += o.norms;
  steepest = std::max(steepest, o.steepest);
}

Admm::Admm(const RowFrame& frame, const RowSparseOptions& options)
    : frame_(frame),
      options_(options),
      n_(frame.points),
      r_(frame.columns),
      rho_(first_rho * options.lambda),
      d_(make_large_array<double>(n_ * r_)),
      kept_(at(n_), 0.0),
      norms_(at(n_), 0.0),
      vz_(at(r_ * r_), 0.0),
      vu_(at(r_ * r_), 0.0),
      w_(at(r_ * r_)),
      next_vz_(at(r_ * r_)),
      rooms_(at(std::max(1, options.threads))),
      parts_(at(block_count(n_, rows_at_once))) {
  std::fill_n(d_.get(), n_ * r_, 0.0);
  const Index rows = std::min(n_, rows_at_once);
  for (Room& room : rooms_) {
    room.x.resize(at(rows * r_));
    room.before.resize(at(r_));
    room.z.resize(at(rows_at_once * tile));
    room.v.resize(at(rows_at_once * tile));
    room.products.resize(at(tile * tile));
  }
}

/// W = G (I - V^T (Z - U)).
void Admm::prepare() {
  for (Index l = 0; l < r_; ++l) {
    const double g = std::isfinite(frame_.squares[at(l)]) ? rho_part(l) : 1.0;
    for (Index c = 0; c < r_; ++c) {
      const std::size_t e = at(l * r_ + c);
      vu_[e] *= rescale_;
      w_[e] = g * ((l == c ? 1.0 : 0.0) - vz_[e] + vu_[e]);
    }
  }
}

/// From v_i^T W in x: row i of X there, of D in place, and what it is multiplied with to give Z.
void Admm::update_row(Room& room, Index i, double* x, Sums& sums) {
  double* const d = d_.get() + i * r_;
  const double was = kept_[at(i)], dual = (1 - was) * rescale_;
  sums.steepest = std::max(sums.steepest, dot(x, x, r_));
  for (Index l = 0; l < r_; ++l) {
    const double old = d[l], moved = x[l];
    room.before[at(l)] = was * old;
    x[l] = (was - dual) * old + moved;
    d[l] = (was + (1 - omega) * dual) * old + omega * moved;
  }
  const double norm = std::sqrt(dot(d, d, r_)), threshold = options_.lambda / rho_;
  const double keep = norm > threshold ? 1 - threshold / norm : 0.0;
  kept_[at(i)] = keep;
  norms_[at(i)] = keep * norm;
  const double squares = dot(x, x, r_);
  sums.x += squares;
  sums.u += square((1 - keep) * norm);
  if (keep == 0) {
    sums.primal += squares;
    if (was > 0) sums.dual += dot(room.before.data(), room.before.data(), r_);
    return;
  }
  for (Index l = 0; l < r_; ++l) {
    const double z = keep * d[l];
    x[l] -= z;
    room.before[at(l)] -= z;
  }
  sums.primal += dot(x, x, r_);
  sums.dual += dot(room.before.data(), room.before.data(), r_);
  sums.z += square(keep * norm);
  sums.norms += keep * norm;
}

void Admm::update(Room& room, Index first, Index last, Sums& sums) {
  throw_if_cancelled(options_.keep_going);
  sums = {};
  multiply(Product<double>{.m = last - first,
                           .n = r_,
                           .k = r_,
                           .left = frame_.vectors.get() + first * r_,
                           .right = w_.data(),
                           .out = room.x.data()});
  for (Index i = first; i < last; ++i) update_row(room, i, room.x.data() + (i - first) * r_, sums);
}

/// One tile of V^T Z, from the non-zero rows of Z.
void Admm::multiply_rows(Room& room, Index row, Index column) {
  const Index rows = std::min(tile, r_ - row), columns = std::min(tile, r_ - column);
  std::fill_n(room.products.begin(), tile * tile, 0.0);
  const auto count = static_cast<Index>(nonzero_.size());
  for (Index first = 0; first < count; first += rows_at_once) {
    throw_if_cancelled(options_.keep_going);
    const Index last = std::min(count, first + rows_at_once);
    const bool neighbours = nonzero_[at(last - 1)] - nonzero_[at(first)] == last - 1 - first;
    for (Index j = first; j < last; ++j) {
      const Index i = nonzero_[at(j)];
      const double *const v = frame_.vectors.get() + i * r_ + row,
                          *const d = d_.get() + i * r_ + column, keep = kept_[at(i)];
      double* const z = room.z.data() + (j - first) * tile;
      for (Index c = 0; c < columns; ++c) z[c] = keep * d[c];
      if (!neighbours) std::copy_n(v, rows, room.v.begin() + (j - first) * tile);
    }
    multiply(Product<double>{
        .op_a = Op::transpose,
        .m = rows,
        .n = columns,
        .k = last - first,
        .left = neighbours ? frame_.vectors.get() + nonzero_[at(first)] * r_ + row : room.v.data(),
        .left_stride = neighbours ? r_ : tile,
        .right = room.z.data(),
        .right_stride = tile,
        .b = 1,
        .out = room.products.data(),
        .out_stride = tile});
  }
  for (Index l = 0; l < rows; ++l)
    std::copy_n(room.products.begin() + l * tile, columns,
                next_vz_.begin() + (row + l) * r_ + column);
}

void Admm::step() {
  prepare();
  const double work = 2 * static_cast<double>(r_ * r_);
  const auto team = [&](Index rows) {
    return work * static_cast<double>(rows) < worth_a_team ? 1 : options_.threads;
  };
  for_blocks(
      team(n_), n_,
      [&](int thread, Index b, Index first, Index last) {
        update(rooms_[at(thread)], first, last, parts_[at(b)]);
      },
      rows_at_once);
  sums_ = {};
  for (const Sums& part : parts_) sums_.add(part);
  nonzero_.clear();
  for (Index i = 0; i < n_; ++i)
    if (kept_[at(i)] > 0) nonzero_.push_back(i);
  const Index tiles = block_count(r_, tile);
  for_tasks(team(static_cast<Index>(nonzero_.size())), tiles * tiles, [&](int thread, Index t) {
    multiply_rows(rooms_[at(thread)], t / tiles * tile, t % tiles * tile);
  });
  for (std::size_t e = 0; e < vz_.size(); ++e) {
    vu_[e] = vz_[e] + (1 - omega) * vu_[e] + omega * w_[e] - next_vz_[e];
    vz_[e] = next_vz_[e];
  }
  rescale_ = 1;
  ++iterations_;
}

/// Residual balancing: doubles or halves rho. Ever more seldom, so that the iteration settles.
void Admm::balance() {
  const double primal = std::sqrt(sums_.primal * sums_.u),
               dual = usual_ratio * std::sqrt(sums_.dual * std::max(sums_.x, sums_.z));
  const double change = primal > unbalanced * dual ? 2 : dual > unbalanced * primal ? 0.5 : 1;
  rho_ *= change;
  rescale_ = 1 / change;
}

double Admm::share(const Bounds& b, Index i) const {
  return b.shares > 0 ? norms_[at(i)] / b.shares : 1 / static_cast<double>(n_);
}

/// The objective at Z, moved to meet the constraint.
Admm::Bounds Admm::bounds() const {
  Bounds b;
  std::vector<double> moved(at(r_), 0.0);  // V^T shares
  double norms = sums_.norms;
  if (frame_.affine()) {
    b.shares = sums_.norms;
    b.shift.resize(at(r_));
    const double root = std::sqrt(static_cast<double>(n_));
    for (Index c = 0; c < r_; ++c)
      b.shift[at(c)] = root * ((c == r_ - 1 ? 1.0 : 0.0) - vz_[at((r_ - 1) * r_ + c)]);
    norms = 0;
    std::vector<double> now(at(r_));
    for (Index i = 0; i < n_; ++i) {
      const double part = share(b, i);
      if (part == 0) continue;
      const double* const d = d_.get() + i * r_;
      for (Index c = 0; c < r_; ++c) {
        now[at(c)] = kept_[at(i)] * d[c] + part * b.shift[at(c)];
        moved[at(c)] += part * frame_.vectors[at(i * r_ + c)];
      }
      norms += std::sqrt(dot(now.data(), now.data(), r_));
    }
  }
  double fit = 0;
  for (Index l = 0; l < r_; ++l) {
    if (!std::isfinite(frame_.squares[at(l)])) continue;
    double sum = 0;
    for (Index c = 0; c < r_; ++c) {
      const double change = b.shift.empty() ? 0.0 : moved[at(l)] * b.shift[at(c)];
      sum += square((l == c ? 1.0 : 0.0) - vz_[at(l * r_ + c)] - change);
    }
    fit += frame_.squares[at(l)] * sum;
  }
  b.objective = options_.lambda * norms + fit / 2;
  return b;
}

/// The dual at t rho W, with the best t that is feasible.
double Admm::dual_bound() const {
  double linear = 0, quadratic = 0;
  for (Index l = 0; l < r_; ++l) {
    linear += rho_ * w_[at(l * r_ + l)];
    if (!std::isfinite(frame_.squares[at(l)])) continue;
    quadratic +=
        square(rho_) * dot(w_.data() + l * r_, w_.data() + l * r_, r_) / frame_.squares[at(l)];
  }
  const double steepest = rho_ * std::sqrt(sums_.steepest);
  double t = steepest > 0 ? options_.lambda / steepest : 1;
  if (quadratic > 0) t = std::min(t, linear / quadratic);
  return t > 0 ? t * linear - t * t / 2 * quadratic : 0;
}

RowSparseSolution Admm::finish(const Bounds& b, double bound) {
  for_blocks(options_.threads, n_, [&](Index, Index first, Index last) {
    for (Index i = first; i < last; ++i) {
      const double part = b.shift.empty() ? 0.0 : share(b, i);
      double* const d = d_.get() + i * r_;
      for (Index c = 0; c < r_; ++c) {
        d[c] *= kept_[at(i)];
        if (part > 0) d[c] += part * b.shift[at(c)];
      }
    }
  });
  for (Index i = 0; i < n_; ++i)
    norms_[at(i)] = std::sqrt(dot(d_.get() + i * r_, d_.get() + i * r_, r_));
  const auto relative = [](double a, double by) { return by > 0 ? std::sqrt(a / by) : 0.0; };
  return {.rows = std::move(d_),
          .norms = std::move(norms_),
          .objective = b.objective,
          .gap = std::max(0.0, b.objective - bound),
          .primal_residual = relative(sums_.primal, std::max(sums_.x, sums_.z)),
          .dual_residual = relative(sums_.dual, sums_.u),
          .iterations = iterations_,
          .converged = b.objective - bound <= options_.tolerance * b.objective};
}

RowSparseSolution Admm::run() {
  double bound = 0;
  Index next_balance = first_balance;
  for (;;) {
    step();
    const bool last = iterations_ >= options_.max_iterations;
    if (r_ >= many_columns || iterations_ % steps_a_check == 0 || last) {
      bound = std::max(bound, dual_bound());
      const Bounds b = bounds();
      if (last || b.objective - bound <= options_.tolerance * b.objective) return finish(b, bound);
    }
    if (iterations_ == next_balance) balance(), next_balance *= 2;
  }
}

}  // namespace

RowSparseSolution solve_row_sparse(const RowFrame& frame, const RowSparseOptions& options) {
  if (options.lambda > 0) return Admm(frame, options).run();
  // All points are equal, or zero: with the constraint every c 1^T is optimal, one of them with equal rows.
  RowSparseSolution flat{.rows = make_large_array<double>(frame.points * frame.columns),
                         .norms = std::vector<double>(at(frame.points)),
                         .converged = true};
  for (Index i = 0; i < frame.points && frame.affine(); ++i)
    flat.rows[at(i)] = flat.norms[at(i)] = 1 / std::sqrt(static_cast<double>(frame.points));
  return flat;
}

std::vector<double> codes_of(const RowFrame& frame, const RowSparseSolution& solution,
                             std::span<const Index> chosen, int threads) {
  const Index n = frame.points, r = frame.columns, k = static_cast<Index>(chosen.size());
  std::vector<double> codes(at(k * n)), rows(at(k * r));
  for (Index t = 0; t < k; ++t)
    std::copy_n(solution.rows.get() + chosen[at(t)] * r, r, rows.begin() + t * r);
  for_blocks(
      threads, n,
      [&](Index, Index first, Index last) {
        multiply(Product<double>{.op_b = Op::transpose,
                                 .m = k,
                                 .n = last - first,
                                 .k = r,
                                 .left = rows.data(),
                                 .left_stride = r,
                                 .right = frame.vectors.get() + first * r,
                                 .right_stride = r,
                                 .out = codes.data() + first,
                                 .out_stride = n});
      },
      rows_at_once);
  return codes;
}

}  // namespace fwsr
