#include "fwsr/methods/row_sparse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/gram.hpp"
#include "fwsr/linalg/lapack.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/methods/ties.hpp"

namespace fwsr {

namespace {

constexpr Index rows_at_once = 256;
constexpr Index columns_at_once = 384;  // of the kernel matrix
constexpr Index tile = 256;             // of V^T Z
constexpr double worth_a_team = 2e7;
constexpr double omega = 1.7;      // over-relaxation; 1.6 to 1.8 is as good
constexpr double first_rho = 0.3;  // times lambda: thresholds of a few units, as the row norms are
/// The gap is looked at every so many steps, and every time when that costs little beside a step.
constexpr Index steps_a_check = 5, many_columns = 100;
constexpr Index first_balance = 100;
/// Where the iteration is fastest the relative primal residual is some 30 times the dual one, as
/// measured; far from there rho is changed.
constexpr double usual_ratio = 30, unbalanced = 8;
/// Directions with less than this part of the largest s have nothing that rounding has not.
constexpr double negligible = 1e-13;
/// V from a d x d matrix is orthonormal to 1e-16 times the ratio of the largest and the smallest s.
constexpr double well_conditioned = 1e-4;
constexpr double infinity = std::numeric_limits<double>::infinity();

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

double square(double v) {
  return v * v;
}

// ---- The frame ------------------------------------------------------------------------------------

Index count_of(const Task& task, std::span<const Index> members) {
  return members.empty() ? task.size() : static_cast<Index>(members.size());
}

std::vector<Index> all_of(const Task& task, std::span<const Index> members) {
  if (!members.empty()) return {members.begin(), members.end()};
  std::vector<Index> all(at(task.size()));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

/// Which eigenvalues are kept, largest first: those above `floor`, the rounding of what they come from.
std::vector<Index> kept(std::span<const double> values, double floor) {
  std::vector<Index> which;
  for (Index l = static_cast<Index>(values.size()) - 1; l >= 0; --l)
    if (values[at(l)] > floor && values[at(l)] > negligible * values.back()) which.push_back(l);
  return which;
}

/// What centring leaves of the squares of points that are all equal, in units of those.
constexpr double rounding = 16 * std::numeric_limits<double>::epsilon();

/// rows (n x m, written block by block by `fill`) times `right` (m x columns, row by row).
LargeArray<double> product(Index n, Index m, const FillRows<double>& fill,
                           const std::vector<double>& right, Index columns, Index stride,
                           const Task& task) {
  LargeArray<double> out = make_large_array<double>(n * stride);
  std::vector<std::vector<double>> rooms(at(std::max(1, task.threads)));
  for_blocks(
      task.threads, n,
      [&](int thread, Index, Index first, Index last) {
        stop_unless(task.alive);
        std::vector<double>& room = rooms[at(thread)];
        room.resize(at(rows_at_once * m));
        fill(first, last, room.data());
        multiply(Product<double>{.m = last - first,
                                 .n = columns,
                                 .k = m,
                                 .left = room.data(),
                                 .left_stride = m,
                                 .right = right.data(),
                                 .right_stride = columns,
                                 .out = out.get() + first * stride,
                                 .out_stride = stride});
      },
      rows_at_once);
  return out;
}

void set_last_column(RowFrame& frame) {
  const double one = 1 / std::sqrt(static_cast<double>(frame.points));
  for (Index i = 0; i < frame.points; ++i)
    frame.vectors[at(i * frame.columns + frame.columns - 1)] = one;
}

/// For eigenvectors the constraint is the direction with by far the largest eigenvalue.
double stand_in(const std::vector<double>& squares) {
  double sum = 0;
  for (const double s : squares)
    if (std::isfinite(s)) sum += s;
  return sum > 0 ? 2 * sum : 1;
}

/// op(a) op(b) of r x r matrices.
Product<double> square_product(Index r, Op op_a, const std::vector<double>& a, Op op_b,
                               const std::vector<double>& b, std::vector<double>& out) {
  return {.op_a = op_a,
          .op_b = op_b,
          .m = r,
          .n = r,
          .k = r,
          .left = a.data(),
          .left_stride = r,
          .right = b.data(),
          .right_stride = r,
          .out = out.data(),
          .out_stride = r};
}

/// The product, some rows of the answer at a time: of many rows it takes seconds.
void multiply_in_strips(const Product<double>& all, const Alive& alive) {
  for (Index first = 0; first < all.m; first += rows_at_once) {
    stop_unless(alive);
    Product<double> strip = all;
    strip.m = std::min(rows_at_once, all.m - first);
    strip.left += all.op_a == Op::none ? first * all.left_stride : first;
    strip.out += first * all.out_stride;
    multiply(strip);
  }
}

/// V P M^(-1/2) O for V^T V = P M P^T and the eigenvectors O of M^(1/2) P^T diag(s) P M^(1/2): with
/// V diag(s) V^T as before, and orthonormal columns.
void make_orthonormal(RowFrame& frame, const Task& task) {
  const Index r = frame.columns;
  const double* const v = frame.vectors.get();
  const FillRows<double> fill = [&](Index first, Index last, double* out) {
    stop_unless(task.alive);
    std::copy(v + first * r, v + last * r, out);
  };
  const bool affine = frame.affine();
  std::vector<double> s = frame.squares;
  if (affine) s.back() = stand_in(s);
  Eigen overlap = symmetric_eigen(
      gram_of_rows<double>(frame.points, r, task.threads, fill).products, r, task.alive);
  std::vector<double> left = overlap.vectors;  // rows are those of P^T
  std::vector<double> right = std::move(overlap.vectors);
  for (Index a = 0; a < r; ++a)
    for (Index l = 0; l < r; ++l) {
      const double root = std::sqrt(overlap.values[at(a)]);
      left[at(a * r + l)] *= root * std::sqrt(s[at(l)]);
      right[at(a * r + l)] /= root;
    }
  std::vector<double> middle(at(r * r));
  multiply_in_strips(square_product(r, Op::none, left, Op::transpose, left, middle), task.alive);
  left = {};
  const Eigen again =
      symmetric_eigen(std::move(middle), r, task.alive);  // the constraint is the largest: last
  std::vector<double> turn(at(r * r));
  multiply_in_strips(square_product(r, Op::transpose, right, Op::transpose, again.vectors, turn),
                     task.alive);
  frame.vectors = product(frame.points, r, fill, turn, r, r, task);
  frame.squares = again.values;
  if (affine) {
    frame.squares.back() = infinity;
    set_last_column(frame);
  }
}

std::vector<double> mean_of_rows(Index n, Index d, const FillRows<double>& fill) {
  std::vector<double> mean(at(d), 0.0), rows(at(rows_at_once * d));
  for (Index first = 0; first < n; first += rows_at_once) {
    const Index last = std::min(n, first + rows_at_once);
    fill(first, last, rows.data());
    for (Index i = 0; i < last - first; ++i)
      for (Index l = 0; l < d; ++l) mean[at(l)] += rows[at(i * d + l)] / static_cast<double>(n);
  }
  return mean;
}

/// By the d x d matrix A A^T = U diag(s) U^T: V = A^T U diag(s)^(-1/2).
RowFrame frame_by_features(const Task& task, std::span<const Index> members, bool affine) {
  const Points& points = *task.points;
  const Index n = count_of(task, members), d = points.dim();
  std::vector<double> mean(at(d), 0.0);
  const FillRows<double> fill = [&](Index first, Index last, double* out) {
    stop_unless(task.alive);
    if (members.empty())
      points.rows(first, last, out);
    else
      for (Index i = first; i < last; ++i) points.row(members[at(i)], out + (i - first) * d);
    for (Index i = 0; i < last - first; ++i)
      for (Index l = 0; l < d; ++l) out[i * d + l] -= mean[at(l)];
  };
  if (affine) mean = mean_of_rows(n, d, fill);
  Eigen eigen =
      symmetric_eigen(gram_of_rows<double>(n, d, task.threads, fill).products, d, task.alive);
  double squares = 0;
  for (Index i = 0; i < n; ++i)
    squares += points.squared_norm(members.empty() ? i : members[at(i)]);
  const std::vector<Index> which = kept(eigen.values, square(rounding) * squares);
  const Index r = static_cast<Index>(which.size());
  RowFrame frame{.points = n, .columns = r + affine, .vectors = {}, .squares = {}};
  std::vector<double> u(at(d * r));
  for (Index c = 0; c < r; ++c) {
    const double s = eigen.values[at(which[at(c)])];
    frame.squares.push_back(s);
    for (Index l = 0; l < d; ++l)
      u[at(l * r + c)] = eigen.vectors[at(which[at(c)] * d + l)] / std::sqrt(s);
  }
  eigen = {};
  frame.vectors = product(n, d, fill, u, r, frame.columns, task);
  u = {};
  if (affine) {
    frame.squares.push_back(infinity);
    set_last_column(frame);
  }
  if (r > 0 && frame.squares[at(r - 1)] < well_conditioned * frame.squares[0])
    make_orthonormal(frame, task);
  return frame;
}

std::vector<double> kernel_among(const Task& task, std::span<const Index> members) {
  const std::vector<Index> all = all_of(task, members);
  const Index n = static_cast<Index>(all.size());
  std::vector<double> k(at(n * n));
  for_blocks(
      task.threads, n,
      [&](Index, Index first, Index last) {
        const auto rows = std::span(all).subspan(at(first), at(last - first));
        for (Index begin = 0; begin < n; begin += columns_at_once) {
          stop_unless(task.alive);
          const Index width = std::min(columns_at_once, n - begin);
          const std::vector<double> values =
              task.kernel->values(rows, std::span(all).subspan(at(begin), at(width)));
          for (Index i = first; i < last; ++i)
            std::copy_n(values.begin() + (i - first) * width, width, k.begin() + i * n + begin);
        }
      },
      32);
  return k;
}

/// K less its means over rows and columns: the inner products of centred points.
void center_kernel(std::vector<double>& k, Index n, int threads) {
  const auto count = static_cast<double>(n);
  std::vector<double> means(at(n));
  for_blocks(threads, n, [&](Index, Index first, Index last) {
    for (Index i = first; i < last; ++i)
      means[at(i)] = std::accumulate(k.begin() + i * n, k.begin() + (i + 1) * n, 0.0) / count;
  });
  const double mean = std::accumulate(means.begin(), means.end(), 0.0) / count;
  for_blocks(threads, n, [&](Index, Index first, Index last) {
    for (Index i = first; i < last; ++i)
      for (Index j = 0; j < n; ++j) k[at(i * n + j)] += mean - means[at(i)] - means[at(j)];
  });
}

/// By the n x n matrix itself.
RowFrame frame_by_points(const Task& task, std::span<const Index> members, bool affine) {
  const Index n = count_of(task, members);
  std::vector<double> k = kernel_among(task, members);
  const auto trace = [&] {
    double sum = 0;
    for (Index i = 0; i < n; ++i) sum += k[at(i * n + i)];
    return sum;
  };
  const double floor = rounding * trace();
  if (affine) {
    center_kernel(k, n, task.threads);
    // 1 comes out as the eigenvector of the largest value, and all others orthogonal to it.
    const double more = (2 * std::max(0.0, trace()) + floor) / static_cast<double>(n);
    for (double& v : k) v += more;
  }
  const Eigen eigen = symmetric_eigen(std::move(k), n, task.alive);
  const std::vector<Index> which = kept(std::span(eigen.values).first(at(n - affine)), floor);
  const Index r = static_cast<Index>(which.size());
  RowFrame frame{.points = n,
                 .columns = r + affine,
                 .vectors = make_large_array<double>(n * (r + affine)),
                 .squares = {}};
  for (const Index l : which) frame.squares.push_back(eigen.values[at(l)]);
  for_blocks(
      task.threads, n,
      [&](Index, Index first, Index last) {
        for (Index c = 0; c < r; ++c)
          for (Index i = first; i < last; ++i)
            frame.vectors[at(i * frame.columns + c)] = eigen.vectors[at(which[at(c)] * n + i)];
      },
      64);
  if (affine) {
    frame.squares.push_back(infinity);
    set_last_column(frame);
  }
  return frame;
}

// ---- The ADMM -------------------------------------------------------------------------------------

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
  stop_unless(options_.alive);
  sums = {};
  multiply(Product<double>{.m = last - first,
                           .n = r_,
                           .k = r_,
                           .left = frame_.vectors.get() + first * r_,
                           .left_stride = r_,
                           .right = w_.data(),
                           .right_stride = r_,
                           .out = room.x.data(),
                           .out_stride = r_});
  for (Index i = first; i < last; ++i) update_row(room, i, room.x.data() + (i - first) * r_, sums);
}

/// One tile of V^T Z, from the non-zero rows of Z.
void Admm::multiply_rows(Room& room, Index row, Index column) {
  const Index rows = std::min(tile, r_ - row), columns = std::min(tile, r_ - column);
  std::fill_n(room.products.begin(), tile * tile, 0.0);
  const auto count = static_cast<Index>(nonzero_.size());
  for (Index first = 0; first < count; first += rows_at_once) {
    stop_unless(options_.alive);
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

bool RowFrame::affine() const {
  return !squares.empty() && std::isinf(squares.back());
}

double RowFrame::mean_squared_distance() const {
  const auto n = static_cast<double>(points);
  double sum = 0;
  for (Index l = 0; l < columns; ++l) {
    if (!std::isfinite(squares[at(l)])) continue;
    double ones = 0;
    for (Index i = 0; i < points; ++i) ones += vectors[at(i * columns + l)];
    sum += squares[at(l)] * (1 - ones * ones / n);
  }
  return 2 * sum / n;
}

RowFrame make_row_frame(const Task& task, std::span<const Index> members, bool affine) {
  const bool by_features =
      task.linear && task.points && task.points->dim() < count_of(task, members);
  return by_features ? frame_by_features(task, members, affine)
                     : frame_by_points(task, members, affine);
}

double largest_lambda(const RowFrame& frame) {
  double most = 0;
  for (Index i = 0; i < frame.points; ++i) {
    double sum = 0;
    for (Index l = 0; l < frame.columns; ++l)
      if (std::isfinite(frame.squares[at(l)]))
        sum += square(frame.squares[at(l)] * frame.vectors[at(i * frame.columns + l)]);
    most = std::max(most, sum);
  }
  return std::sqrt(most);
}

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

std::vector<Index> rows_by_norm(const std::vector<double>& norms) {
  return by_score(norms, rough_width);
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

std::vector<Knob> row_sparse_knobs() {
  return {{.name = "alpha",
           .value = 20.0,
           .about = "lambda is the largest useful one divided by this; 2 to 50 as a rule, more "
                    "for more non-zero rows",
           .least = 1},
          {.name = "affine", .value = true, .about = "the codes of every point sum to 1"},
          {.name = "tolerance",
           .value = 1e-4,
           .about = "stop when the objective is within this part of the optimum, for certain",
           .least = 0,
           .most = 1},
          {.name = "max_iterations", .value = Index{10000}, .about = "of the ADMM", .least = 1},
          {.name = "remove_duplicates",
           .value = false,
           .about = "leave out points that are close to one chosen before"},
          {.name = "closeness",
           .value = 0.05,
           .about = "what close means, in root-mean-square distances of two points",
           .least = 0}};
}

Cost row_sparse_cost(const Sizes& s, bool by_features) {
  constexpr double steps = 300;
  const bool lean = by_features && s.d < s.n;
  const double m = lean ? s.d : s.n, r = m + 1;
  const double rows = 256, rooms = s.threads * (std::min(rows, s.n) * r + 3 * rows * 256);
  // The frame and its eigenvectors, with what LAPACK holds beside them; then the ADMM with four matrices r x r.
  const double making = s.n * r + 6 * m * m + s.threads * (1024 + rows + m) * m;
  const double solving = 2 * s.n * r + 4 * r * r + rooms;
  return {.bytes = 8 * std::max(lean ? making : 4 * m * m, solving),
          .flops = steps * 4 * s.n * r * (r + 20) + 25 * m * m * m + 4 * s.n * m * m,
          .how = lean ? "solves for n x d numbers; a step costs O(n d^2)"
                      : "holds five n x n matrices; a step costs O(n^3)"};
}

namespace {

/// The rule for representatives that are too close to others: going through the rows from the largest
/// norm down, a point is left out when it is nearer than `radius` to one that was taken.
std::vector<Index> without_duplicates(const Task& task, const std::vector<Index>& order,
                                      double squared_radius, Index wanted) {
  std::vector<Index> taken;
  for (const Index i : order) {
    if (static_cast<Index>(taken.size()) == wanted) break;
    stop_unless(task.alive);
    const Index one[] = {i};
    const std::vector<double> products = task.kernel->values(one, taken);
    bool far = true;
    for (std::size_t t = 0; t < taken.size() && far; ++t)
      far = task.kernel->diagonal(i) + task.kernel->diagonal(taken[t]) - 2 * products[t] >
            squared_radius;
    if (far) taken.push_back(i);
  }
  return taken;
}

}  // namespace

Picks choose_row_sparse(const Task& task) {
  const Settings& s = task.settings;
  const RowFrame frame = make_row_frame(task, {}, s.yes("affine"));
  const double most = largest_lambda(frame), unit = square(task.unit());
  const RowSparseSolution solution =
      solve_row_sparse(frame, {.lambda = most / s.number("alpha"),
                               .tolerance = s.number("tolerance"),
                               .max_iterations = s.whole("max_iterations"),
                               .threads = task.threads,
                               .alive = task.alive});
  std::vector<Index> order = rows_by_norm(solution.norms);
  const auto rows = static_cast<Index>(order.size());
  Picks picks;
  if (s.yes("remove_duplicates"))
    order = without_duplicates(
        task, order, square(s.number("closeness")) * frame.mean_squared_distance(), task.exemplars);
  if (rows < task.exemplars && rows < task.size())
    picks.warnings.push_back(
        fmt::format("only {} rows of X are not zero; a larger alpha gives more", rows));
  else if (static_cast<Index>(order.size()) < task.exemplars)
    picks.warnings.push_back(fmt::format(
        "only {} of the {} points whose rows of X are not zero are not close to another; a smaller "
        "closeness or a larger alpha gives more",
        order.size(), rows));
  order.resize(std::min(order.size(), at(task.exemplars)));
  for (const Index i : order) picks.strength.push_back(solution.norms[at(i)]);
  picks.codes = codes_of(frame, solution, order, task.threads);
  picks.exemplars = std::move(order);
  if (!solution.converged) {
    picks.status = Status::iteration_limit;
    picks.warnings.push_back(
        fmt::format("the ADMM stopped after {} iterations with a gap of {:.2g} of the objective",
                    solution.iterations, solution.gap / solution.objective));
  }
  picks.facts = {{"objective", solution.objective / unit},
                 {"gap", solution.gap / unit},
                 {"lambda", most / s.number("alpha") / unit},
                 {"iterations", static_cast<double>(solution.iterations)},
                 {"primal_residual", solution.primal_residual},
                 {"dual_residual", solution.dual_residual},
                 {"rows", static_cast<double>(rows)}};
  return picks;
}

}  // namespace fwsr
