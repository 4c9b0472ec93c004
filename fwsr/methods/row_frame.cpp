#include "fwsr/methods/row_frame.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fwsr/base/at.hpp"
#include "fwsr/base/index_range.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/gram.hpp"
#include "fwsr/linalg/lapack.hpp"

namespace fwsr {

namespace {

constexpr Index rows_at_once = 256;
constexpr Index columns_at_once = 384;  // of the kernel matrix
/// Directions with less than this part of the largest s have nothing that rounding has not.
constexpr double negligible = 1e-13;
/// V from a d x d matrix is orthonormal to 1e-16 times the ratio of the largest and the smallest s.
constexpr double well_conditioned = 1e-4;
constexpr double infinity = std::numeric_limits<double>::infinity();

double square(double v) {
  return v * v;
}

Index count_of(const Task& task, std::span<const Index> members) {
  return members.empty() ? task.size() : static_cast<Index>(members.size());
}

std::vector<Index> all_of(const Task& task, std::span<const Index> members) {
  if (!members.empty()) return {members.begin(), members.end()};
  return index_range(0, task.size());
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
        throw_if_cancelled(task.keep_going);
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
void multiply_in_strips(const Product<double>& all, const KeepGoing& keep_going) {
  for (Index first = 0; first < all.m; first += rows_at_once) {
    throw_if_cancelled(keep_going);
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
    throw_if_cancelled(task.keep_going);
    std::copy(v + first * r, v + last * r, out);
  };
  const bool affine = frame.affine();
  std::vector<double> s = frame.squares;
  if (affine) s.back() = stand_in(s);
  EigenDecomposition overlap = symmetric_eigen(
      gram_of_rows<double>(frame.points, r, task.threads, fill).products, r, task.keep_going);
  std::vector<double> left = overlap.vectors;  // rows are those of P^T
  std::vector<double> right = std::move(overlap.vectors);
  for (Index a = 0; a < r; ++a)
    for (Index l = 0; l < r; ++l) {
      const double root = std::sqrt(overlap.values[at(a)]);
      left[at(a * r + l)] *= root * std::sqrt(s[at(l)]);
      right[at(a * r + l)] /= root;
    }
  std::vector<double> middle(at(r * r));
  multiply_in_strips(square_product(r, Op::none, left, Op::transpose, left, middle),
                     task.keep_going);
  left = {};
  const EigenDecomposition again = symmetric_eigen(
      std::move(middle), r, task.keep_going);  // the constraint is the largest: last
  std::vector<double> turn(at(r * r));
  multiply_in_strips(square_product(r, Op::transpose, right, Op::transpose, again.vectors, turn),
                     task.keep_going);
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
    throw_if_cancelled(task.keep_going);
    if (members.empty())
      points.rows(first, last, out);
    else
      for (Index i = first; i < last; ++i) points.row(members[at(i)], out + (i - first) * d);
    for (Index i = 0; i < last - first; ++i)
      for (Index l = 0; l < d; ++l) out[i * d + l] -= mean[at(l)];
  };
  if (affine) mean = mean_of_rows(n, d, fill);
  EigenDecomposition eigen =
      symmetric_eigen(gram_of_rows<double>(n, d, task.threads, fill).products, d, task.keep_going);
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
          throw_if_cancelled(task.keep_going);
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
  const EigenDecomposition eigen = symmetric_eigen(std::move(k), n, task.keep_going);
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

}  // namespace fwsr
