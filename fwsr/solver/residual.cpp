#include "fwsr/solver/residual.hpp"

#include <algorithm>

#include "fwsr/linalg/blas.hpp"

namespace fwsr {

namespace {

MatrixView<const double> rows_of_length(const std::vector<double>& m, Index d) {
  return {m.data(), static_cast<Index>(m.size()) / d, d, d};
}

/// out = x - left^T (right x), for matrices of as many rows.
void subtract_pairs(MatrixView<const double> left, MatrixView<const double> right, const double* x,
                    std::vector<double>& inner, double* out) {
  std::copy_n(x, left.cols, out);
  if (left.rows == 0) return;
  inner.resize(static_cast<std::size_t>(left.rows));
  multiply_vector(Op::none, right, x, inner.data());
  for (double& v : inner) v = -v;
  add_vector(Op::transpose, left, inner.data(), out);
}

}  // namespace

void Residual::apply(const double* x, double* out) const {
  if (!e_.empty())
    multiply_vector(Op::none, rows_of_length(e_, d_), x, out);
  else
    subtract_pairs(rows_of_length(a_, d_), rows_of_length(g_, d_), x, inner_, out);
}

void Residual::apply_transposed(const double* x, double* out) const {
  if (!e_.empty())
    multiply_vector(Op::transpose, rows_of_length(e_, d_), x, out);
  else
    subtract_pairs(rows_of_length(g_, d_), rows_of_length(a_, d_), x, inner_, out);
}

void Residual::step(Index j, const double* a, const double* w, double gamma, double factor) {
  const double keep = 1 - gamma;
  if (!e_.empty()) {
    for (Index r = 0; r < d_; ++r) {
      double* row = e_.data() + r * d_;
      const double b = factor * a[r];
      for (Index l = 0; l < d_; ++l) row[l] = keep * row[l] - b * w[l];
      row[r] += gamma;
    }
    return;
  }
  if (keep == 0) points_.clear(), a_.clear(), g_.clear();
  for (double& v : g_) v *= keep;
  auto at = std::find(points_.begin(), points_.end(), j) - points_.begin();
  if (at == static_cast<Index>(points_.size())) {
    points_.push_back(j);
    a_.insert(a_.end(), a, a + d_);
    g_.resize(a_.size(), 0.0);
  }
  double* g = g_.data() + at * d_;
  for (Index l = 0; l < d_; ++l) g[l] += factor * w[l];
  if (2 * static_cast<Index>(points_.size()) > d_) spread();
}

std::vector<double> Residual::dense() const {
  if (!e_.empty()) return e_;
  std::vector<double> e(static_cast<std::size_t>(d_ * d_));
  for (Index l = 0; l < d_; ++l) e[static_cast<std::size_t>(l * d_ + l)] = 1;
  multiply(Product<double>{.op_a = Op::transpose,
                           .m = d_,
                           .n = d_,
                           .k = static_cast<Index>(points_.size()),
                           .a = -1,
                           .left = a_.data(),
                           .right = g_.data(),
                           .b = 1,
                           .out = e.data()});
  return e;
}

/// From pairs to the matrix, for good.
void Residual::spread() {
  e_ = dense();
  points_ = {};
  a_ = g_ = {};
}

}  // namespace fwsr
