#include "fwsr/methods/singular_space.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/gram.hpp"
#include "fwsr/linalg/lapack.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/methods/orthogonal.hpp"
#include "fwsr/methods/ties.hpp"

namespace fwsr {

namespace {

constexpr Index row_block = 384;
constexpr double cut = 1e-8;  // of the largest square: eight digits of the vectors are left
constexpr double equal_values = 1e-12;  // of the largest: eigenvalues so near each other are equal

std::vector<double> whole_kernel(const Task& task) {
  const Index n = task.size();
  std::vector<double> k(at(n * n));
  for_blocks(
      task.threads, n,
      [&](Index, Index first, Index last) {
        throw_if_cancelled(task.keep_going);
        task.kernel->scan(
            first, last, [&](Index begin, Index end, const double* tile, Index stride) {
              for (Index i = first; i < last; ++i)
                std::copy_n(tile + (i - first) * stride, end - begin, k.begin() + i * n + begin);
            });
      },
      task.kernel->row_block());
  return k;
}

double trace(const std::vector<double>& m, Index length) {
  double sum = 0;
  for (Index l = 0; l < length; ++l) sum += m[at(l * length + l)];
  return sum;
}

/// Another basis of the span of some orthonormal rows, which follows from that span alone: row r is the last with
/// anything at pivot r, the first column with most in the rows from r on.
void turn_to_pivots(double* rows, Index count, Index length) {
  std::vector<double> mirror(at(count));
  for (Index r = 0; r < count; ++r) {
    const Index pivot = first_largest(length, [&](Index l) {
      double sum = 0;
      for (Index s = r; s < count; ++s) sum += rows[s * length + l] * rows[s * length + l];
      return sum;
    });
    double norm = 0;  // Householder: the pivot's column to a multiple of the first unit vector
    for (Index s = r; s < count; ++s)
      norm = std::hypot(norm, mirror[at(s)] = rows[s * length + pivot]);
    const double sign = mirror[at(r)] < 0 ? -1 : 1;
    mirror[at(r)] += sign * norm;
    double square = 0;
    for (Index s = r; s < count; ++s) square += mirror[at(s)] * mirror[at(s)];
    for (Index l = 0; l < length; ++l) {
      double along = 0;
      for (Index s = r; s < count; ++s) along += mirror[at(s)] * rows[s * length + l];
      for (Index s = r; s < count; ++s) rows[s * length + l] -= 2 * along / square * mirror[at(s)];
      rows[r * length + l] *= -sign;
    }
  }
}

}  // namespace

SingularSpace::SingularSpace(const Task& task, Index rank)
    : task_(task),
      by_features_(task.linear && task.points && task.points->dim() < task.size()),
      length_(by_features_ ? task.points->dim() : task.size()),
      d_(has_vectors() ? task.points->dim() : 0) {
  rank = std::min(rank, length_);
  while (rank_ < rank) {
    const Index before = rank_;
    add_stage(rank - rank_);
    throw_if_cancelled(task.keep_going);
    if (rank_ == before || rank_ == rank || !has_vectors()) break;
    take_away();
  }
  short_of_digits_ = rank_ < rank && !has_vectors();
}

/// The matrix whose eigenvectors are wanted, of the points less what the stages represent.
std::vector<double> SingularSpace::matrix() const {
  if (!by_features_) return stages_.empty() ? whole_kernel(task_) : inner_products();
  const FillRows<double> fill = [&](Index first, Index last, double* out) {
    std::vector<double> v(at(block_rows() * rank_));
    for (Index i = first; i < last; i += row_block) {
      const Index end = std::min(last, i + row_block);
      load(i, end, end - i, out + (i - first) * d_, v.data());
    }
  };
  return gram_of_rows<double>(task_.size(), d_, task_.threads, fill).products;
}

/// <b_i, b_j>, the upper triangle.
std::vector<double> SingularSpace::inner_products() const {
  const Index n = task_.size();
  std::vector<double> k(at(n * n));
  for_blocks(
      task_.threads, n,
      [&](Index, Index first, Index last) {
        std::vector<double> left(at(block_rows() * d_)), right(left), v(at(block_rows() * rank_));
        load(first, last, last - first, left.data(), v.data());
        for (Index begin = first; begin < n; begin += row_block) {
          const Index end = std::min(n, begin + row_block);
          load(begin, end, end - begin, right.data(), v.data());
          multiply(Product<double>{.op_b = Op::transpose,
                                   .m = last - first,
                                   .n = end - begin,
                                   .k = d_,
                                   .left = left.data(),
                                   .left_stride = d_,
                                   .right = right.data(),
                                   .right_stride = d_,
                                   .out = &k[at(first * n + begin)],
                                   .out_stride = n});
        }
      },
      row_block);
  return k;
}

/// Squares of singular values up to here are rounding, or for the stages to come.
double SingularSpace::least_square(double largest) const {
  const double eps = std::numeric_limits<double>::epsilon();
  return has_vectors() ? std::max(floor_, cut * largest)
                       : 4 * static_cast<double>(length_) * eps * largest;
}

/// The `asked` largest eigenvalues and vectors, ascending. Where values on both sides of the cut are equal, rounding
/// would choose among their vectors: more are found, until there are all of them, and of these the ones are taken
/// that the first of the entries with most in them lean on.
EigenDecomposition SingularSpace::leading_eigen(Index asked) {
  for (Index more = 4;; more *= 8) {
    std::vector<double> m = matrix();
    if (floor_ < 0 && has_vectors())
      floor_ = trace(m, length_) * std::pow(rounding_tolerance(d_), 2);
    const Index count = std::min(length_, asked + more), cut_at = count - asked;
    EigenDecomposition eigen = largest_eigen(std::move(m), length_, count, task_.keep_going);
    const std::vector<double>& values = eigen.values;
    const double near = equal_values * values.back();
    Index first = cut_at, last = cut_at + 1;
    if (values[at(cut_at)] > least_square(values.back())) {
      while (first > 0 && values[at(first)] - values[at(first - 1)] <= near) --first;
      while (last < count && values[at(last)] - values[at(last - 1)] <= near) ++last;
    }
    if (first == 0 && cut_at > 0 && count < length_) continue;
    if (first < cut_at) {
      double* const rows = &eigen.vectors[at(first * length_)];
      turn_to_pivots(rows, last - first, length_);
      std::copy(rows, rows + (last - cut_at) * length_, &eigen.vectors[at(cut_at * length_)]);
    }
    eigen.values.erase(eigen.values.begin(), eigen.values.begin() + cut_at);
    eigen.vectors.erase(eigen.vectors.begin(), eigen.vectors.begin() + cut_at * length_);
    return eigen;
  }
}

void SingularSpace::add_stage(Index asked) {
  const EigenDecomposition eigen = leading_eigen(asked);
  const double least = least_square(eigen.values.back());
  Stage stage;
  for (Index r = asked - 1; r >= 0 && eigen.values[at(r)] > least; --r, ++stage.rank) {
    stage.squares.push_back(eigen.values[at(r)]);
    const auto vector = eigen.vectors.begin() + r * length_;
    if (!by_features_) {
      stage.vectors.insert(stage.vectors.end(), vector, vector + length_);
      continue;
    }
    const double scale = 1 / std::sqrt(eigen.values[at(r)]);
    for (Index l = 0; l < length_; ++l) stage.forms.push_back(scale * vector[l]);
  }
  if (stage.rank == 0) return;
  rank_ += stage.rank;
  stages_.push_back(std::move(stage));
  if (stages_.size() > 1) make_forms();
}

/// Rounding of the matrix gives its eigenvectors of small values a part that is not in the span of the
/// points b_i, or in that of the vectors before. <B v, b_i> / value has none of it.
void SingularSpace::make_forms() {
  if (!stages_.back().forms.empty()) return;
  std::vector<double> forms = sum_of_images();
  Stage& stage = stages_.back();
  for (Index r = 0; r < stage.rank; ++r)
    for (Index l = 0; l < d_; ++l) forms[at(r * d_ + l)] /= stage.squares[at(r)];
  stage.forms = std::move(forms);
  stage.vectors.clear();
}

/// Takes what the last stage represents from the points; twice, for what rounding leaves.
void SingularSpace::take_away() {
  make_forms();
  for (std::vector<double>& images : stages_.back().images) images = sum_of_images();
}

/// sum_i b_i v_ir of the last stage, block by block.
std::vector<double> SingularSpace::sum_of_images() const {
  const Index rank = stages_.back().rank;
  std::vector<double> sum(at(rank * d_));
  std::vector<std::vector<double>> parts(static_cast<std::size_t>(task_.threads), sum);
  for_blocks_in_order(
      task_.threads, task_.size(), row_block,
      [&](int thread, Index first, Index last) {
        std::vector<double> b(at(block_rows() * d_)), v(at(block_rows() * rank_));
        load(first, last, last - first, b.data(), v.data());
        multiply(Product<double>{.op_a = Op::transpose,
                                 .m = rank,
                                 .n = d_,
                                 .k = last - first,
                                 .left = v.data() + rank_ - rank,
                                 .left_stride = rank_,
                                 .right = b.data(),
                                 .right_stride = d_,
                                 .out = parts[static_cast<std::size_t>(thread)].data(),
                                 .out_stride = d_});
      },
      [&](int thread) {
        const std::vector<double>& part = parts[static_cast<std::size_t>(thread)];
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
      });
  return sum;
}

/// v: rows of V_r, as far as it is known; b: what that leaves of the points. Products are made of `rows`
/// rows, which both have room for.
void SingularSpace::load(Index first, Index last, Index rows, double* b, double* v) const {
  throw_if_cancelled(task_.keep_going);
  if (d_ > 0) task_.points->rows(first, last, b);
  double* own = v;
  for (const Stage& stage : stages_) {
    coordinates(stage, first, last, rows, b, own);
    for (const std::vector<double>& images : stage.images)
      if (!images.empty())
        multiply(Product<double>{.m = rows,
                                 .n = d_,
                                 .k = stage.rank,
                                 .a = -1,
                                 .left = own,
                                 .left_stride = rank_,
                                 .right = images.data(),
                                 .right_stride = d_,
                                 .b = 1,
                                 .out = b,
                                 .out_stride = d_});
    own += stage.rank;
  }
}

void SingularSpace::coordinates(const Stage& stage, Index first, Index last, Index rows,
                                const double* b, double* v) const {
  if (!stage.forms.empty()) {
    multiply(Product<double>{.op_b = Op::transpose,
                             .m = rows,
                             .n = stage.rank,
                             .k = d_,
                             .left = b,
                             .left_stride = d_,
                             .right = stage.forms.data(),
                             .right_stride = d_,
                             .out = v,
                             .out_stride = rank_});
    return;
  }
  for (Index i = first; i < last; ++i)
    for (Index r = 0; r < stage.rank; ++r)
      v[(i - first) * rank_ + r] = stage.vectors[at(r * length_ + i)];
}

/// Rows in a product: a multiple of every micro-kernel's height, and no more than there are points for.
Index SingularSpace::block_rows() const {
  return std::min(row_block, block_count(task_.size(), 48) * 48);
}

void SingularSpace::row(Index i, double* out) const {
  std::vector<double> b(at(d_));
  load(i, i + 1, 1, b.data(), out);
}

std::vector<double> SingularSpace::leverage_scores() const {
  std::vector<double> scores(at(task_.size()));
  if (rank_ == 0) return scores;
  for_blocks(
      task_.threads, task_.size(),
      [&](Index, Index first, Index last) {
        // Always as many in a product, so that equal points get equal bits.
        std::vector<double> b(at(block_rows() * d_)), v(at(block_rows() * rank_));
        load(first, last, block_rows(), b.data(), v.data());
        for (Index i = first; i < last; ++i) {
          const double* own = &v[at((i - first) * rank_)];
          scores[at(i)] = dot(own, own, rank_);
        }
      },
      row_block);
  return scores;
}

std::vector<std::string> SingularSpace::warnings() const {
  if (!short_of_digits_) return {};
  return {
      fmt::format("{} singular vectors stand out from the rounding of the kernel matrix: others "
                  "have singular values below about 1e-7 of the largest",
                  rank_)};
}

Cost singular_space_cost(const Sizes& s, double rank) {
  const bool by_features = s.linear && s.d < s.n;
  const double m = by_features ? s.d : s.n, d = s.linear ? s.d : 0;
  rank = std::min(rank, m);
  const double blocks =
      s.crew(row_block) * (s.held(row_block) * (2 * d + rank) + (by_features ? rank * d : 0.0));
  const double all = 2 * rank > m ? 4 : 1;  // lapack.cpp: how many of m x m
  // Half of the reduction to tridiagonal form waits for memory.
  const double eigen = s.threads * m * m * (all > 1 ? 25 * m : 12 * m + 6 * rank);
  if (by_features)
    return {.bytes = 8 * (m * m * (all + 1 + 2 * s.threads) + 4 * rank * m + blocks + 2 * s.n),
            .flops = 2 * s.n * m * m + eigen,
            .how = "eigenvectors of a matrix of features x features, on one thread"};
  return {.bytes = 8 * (m * m * (all + 1) + rank * (2 * m + 2 * d) + blocks + 2 * s.n),
          .flops = m * m * (2 * s.d + 20) + eigen,
          .how = "eigenvectors of the matrix of points x points, on one thread"};
}

}  // namespace fwsr
