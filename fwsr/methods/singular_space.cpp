#include "fwsr/methods/singular_space.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/gram.hpp"
#include "fwsr/linalg/lapack.hpp"
#include "fwsr/linalg/rows.hpp"

namespace fwsr {

namespace {

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

std::vector<double> covariance(const Task& task) {
  const Points& points = *task.points;
  const FillRows<double> fill = [&](Index first, Index last, double* out) {
    stop_unless(task.alive);
    points.rows(first, last, out);
  };
  return gram_of_rows<double>(points.size(), points.dim(), task.threads, fill).products;
}

std::vector<double> whole_kernel(const Task& task) {
  const Index n = task.size();
  std::vector<double> k(at(n * n));
  for_blocks(
      task.threads, n,
      [&](Index, Index first, Index last) {
        stop_unless(task.alive);
        task.kernel->scan(
            first, last, [&](Index begin, Index end, const double* tile, Index stride) {
              for (Index i = first; i < last; ++i)
                std::copy_n(tile + (i - first) * stride, end - begin, k.begin() + i * n + begin);
            });
      },
      task.kernel->row_block());
  return k;
}

}  // namespace

SingularSpace::SingularSpace(const Task& task, Index rank)
    : task_(task),
      by_features_(task.linear && task.points && task.points->dim() < task.size()),
      length_(by_features_ ? task.points->dim() : task.size()) {
  const Eigen eigen =
      symmetric_eigen(by_features_ ? covariance(task) : whole_kernel(task), length_);
  stop_unless(task.alive);
  if (length_ == 0) return;
  const double digits = task.kernel->single() ? std::numeric_limits<float>::epsilon()
                                              : std::numeric_limits<double>::epsilon();
  const double noise = 4 * static_cast<double>(length_) * digits * eigen.values.back();
  for (Index r = length_ - 1; r >= 0 && rank_ < rank && eigen.values[at(r)] > noise; --r) {
    const double scale = by_features_ ? 1 / std::sqrt(eigen.values[at(r)]) : 1.0;
    for (Index l = 0; l < length_; ++l)
      vectors_.push_back(scale * eigen.vectors[at(r * length_ + l)]);
    ++rank_;
  }
}

void SingularSpace::row(Index i, double* out) const {
  if (by_features_) {
    std::vector<double> a(at(length_));
    task_.points->row(i, a.data());
    multiply_vector(Op::none, {vectors_.data(), rank_, length_, length_}, a.data(), out);
    return;
  }
  for (Index r = 0; r < rank_; ++r) out[r] = vectors_[at(r * length_ + i)];
}

std::vector<double> SingularSpace::leverage_scores() const {
  std::vector<double> scores(at(task_.size()));
  if (rank_ == 0) return scores;
  constexpr Index rows = 384;  // always as many in a product, so that equal points get equal bits
  for_blocks(
      task_.threads, task_.size(),
      [&](Index, Index first, Index last) {
        stop_unless(task_.alive);
        if (!by_features_) {
          for (Index r = 0; r < rank_; ++r)
            for (Index i = first; i < last; ++i) {
              const double v = vectors_[at(r * length_ + i)];
              scores[at(i)] += v * v;
            }
          return;
        }
        std::vector<double> a(at(rows * length_)), v(at(rows * rank_));
        task_.points->rows(first, last, a.data());
        multiply(Product<double>{.op_b = Op::transpose,
                                 .m = rows,
                                 .n = rank_,
                                 .k = length_,
                                 .left = a.data(),
                                 .left_stride = length_,
                                 .right = vectors_.data(),
                                 .right_stride = length_,
                                 .out = v.data(),
                                 .out_stride = rank_});
        for (Index i = first; i < last; ++i) {
          const double* own = &v[at((i - first) * rank_)];
          scores[at(i)] = dot(own, own, rank_);
        }
      },
      rows);
  return scores;
}

Cost singular_space_cost(const Sizes& s) {
  if (s.linear && s.d < s.n)
    return {.bytes = 8 * (s.d * s.d * (6 + 2 * s.threads) + 2 * s.n),
            .flops = 2 * s.n * s.d * s.d + 25 * s.d * s.d * s.d * s.threads,
            .how = "all eigenvectors of a matrix of features x features, on one thread"};
  return {.bytes = 8 * (6 * s.n * s.n + 2 * s.n),
          .flops = s.n * s.n * (2 * s.d + 20) + 25 * s.n * s.n * s.n * s.threads,
          .how = "all eigenvectors of the matrix of points x points, on one thread"};
}

}  // namespace fwsr
