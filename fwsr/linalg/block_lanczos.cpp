#include "fwsr/linalg/block_lanczos.hpp"

#include <algorithm>
#include <cmath>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/base/random.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/lapack.hpp"
#include "fwsr/linalg/projection.hpp"

namespace fwsr {

namespace {

constexpr Index blocks_at_most = 8;  // before it begins anew
constexpr Index guard = 4;  // vectors beyond those asked for: the last ones converge slowly
constexpr double tolerance = 1e-8;

/// Where eigenvalues are close there is no end to it; of many rows, rounds take long.
int most_rounds(Index n) {
  return n <= 4000 ? 100 : 15;
}

/// out (rows x others) = left right^T for rows of n numbers.
void products_of(const double* left, Index rows, const double* right, Index others, Index n,
                 double* out, Index stride) {
  multiply(Product<double>{.op_b = Op::transpose,
                           .m = rows,
                           .n = others,
                           .k = n,
                           .left = left,
                           .right = right,
                           .out = out,
                           .out_stride = stride});
}

class BlockLanczos {
 public:
  BlockLanczos(const ApplyToRows& apply, Index n, Index count)
      : apply_(apply), n_(n), count_(count), width_(std::min(n, count + guard)) {}

  std::vector<double> run(const KeepGoing& keep_going) {
    Rng rng(0);
    std::vector<double> start(at(width_ * n_));
    for (double& v : start) v = rng.normal();
    start = orthonormal_rows(std::move(start), width_, n_);
    for (int round = 0;; ++round) {
      expand(std::move(start), keep_going);
      std::vector<double> best = ritz_vectors();
      if (settled_ || round == most_rounds(n_)) {
        best.resize(at(count_ * n_));
        return best;
      }
      start = std::move(best);
    }
  }

 private:
  /// An orthonormal basis of start, M start, M^2 start, ..., and M in it.
  void expand(std::vector<double> block, const KeepGoing& keep_going) {
    basis_.clear();
    std::vector<double> images;  // M of the last block
    settled_ = false;
    const Index most = std::min(n_, blocks_at_most * width_);
    small_.assign(at(most * most), 0.0);
    stride_ = most;
    while (!block.empty()) {
      throw_if_cancelled(keep_going);
      const Index rows = static_cast<Index>(block.size()) / n_, before = held();
      if (before + rows > most) break;
      basis_.insert(basis_.end(), block.begin(), block.end());
      images.assign(block.size(), 0.0);
      apply_(block.data(), rows, images.data());
      // All entries of M for the new block: the matrix is symmetric.
      std::vector<double> entries(at(held() * rows));
      products_of(basis_.data(), held(), images.data(), rows, n_, entries.data(), rows);
      for (Index i = 0; i < held(); ++i)
        for (Index j = 0; j < rows; ++j)
          small_[at(i * stride_ + before + j)] = small_[at((before + j) * stride_ + i)] =
              entries[at(i * rows + j)];
      take_away(basis_, {.first = images.data(), .count = rows, .d = n_, .stride = n_});
      if (before == 0) settled_ = is_small(images, rows, entries);
      if (settled_) break;
      block = orthonormal_rows(std::move(images), rows, n_);
      images.clear();
      const Index left = static_cast<Index>(block.size()) / n_;
      if (left > 0) {  // once more, for what rounding left
        take_away(basis_, {.first = block.data(), .count = left, .d = n_, .stride = n_});
        block = orthonormal_rows(std::move(block), left, n_);
      }
    }
  }

  /// Whether what M makes of the first rows is in their span but for rounding.
  bool is_small(const std::vector<double>& left, Index rows,
                const std::vector<double>& entries) const {
    double most = 0, largest = 0;
    for (Index r = 0; r < std::min(rows, count_); ++r) {
      double square = 0;
      for (Index i = 0; i < n_; ++i) square += std::pow(left[at(r * n_ + i)], 2);
      most = std::max(most, std::sqrt(square));
      largest = std::max(largest, std::abs(entries[at(r * rows + r)]));
    }
    return most <= tolerance * largest;
  }

  std::vector<double> ritz_vectors() const {
    const Index m = held(), wanted = std::min(width_, m);
    std::vector<double> matrix(at(m * m));
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < m; ++j) matrix[at(i * m + j)] = small_[at(i * stride_ + j)];
    const EigenDecomposition eigen = symmetric_eigen(std::move(matrix), m);
    std::vector<double> leading(at(wanted * m)), out(at(wanted * n_));
    for (Index r = 0; r < wanted; ++r)
      std::copy_n(eigen.vectors.begin() + (m - 1 - r) * m, m, leading.begin() + r * m);
    multiply(Product<double>{.m = wanted,
                             .n = n_,
                             .k = m,
                             .left = leading.data(),
                             .right = basis_.data(),
                             .out = out.data()});
    return out;
  }

  Index held() const { return static_cast<Index>(basis_.size()) / n_; }

  const ApplyToRows& apply_;
  Index n_, count_, width_, stride_ = 0;
  std::vector<double> basis_, small_;
  bool settled_ = false;
};

}  // namespace

std::vector<double> leading_vectors(const ApplyToRows& apply, Index n, Index count,
                                    const KeepGoing& keep_going) {
  return BlockLanczos(apply, n, count).run(keep_going);
}

double leading_vectors_held(double count) {
  return (static_cast<double>(blocks_at_most) + 3) * (count + static_cast<double>(guard));
}

}  // namespace fwsr
