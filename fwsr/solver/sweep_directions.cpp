#include "fwsr/solver/sweep_directions.hpp"

#include <algorithm>
#include <cmath>

#include "fwsr/base/at.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/lapack.hpp"
#include "fwsr/linalg/rows.hpp"

namespace fwsr {

namespace {

/// out = op(left) op(right) for the first `rows` rows of `out`.
void product(Op op_left, const SmallMatrix& left, Op op_right, const SmallMatrix& right,
             SmallMatrix& out, Index rows, double times = 1, double add = 0) {
  const Index depth = op_left == Op::none ? left.cols : left.rows;
  if (rows == 0 || out.cols == 0) return;
  if (depth == 0) {
    if (add == 0) std::fill_n(out.values.begin(), rows * out.cols, 0.0);
    return;
  }
  multiply(Product<double>{.op_a = op_left,
                           .op_b = op_right,
                           .m = rows,
                           .n = out.cols,
                           .k = depth,
                           .a = times,
                           .left = left.values.data(),
                           .left_stride = left.cols,
                           .right = right.values.data(),
                           .right_stride = right.cols,
                           .b = add,
                           .out = out.values.data(),
                           .out_stride = out.cols});
}

SmallMatrix rows_of(const SmallMatrix& from, Index first, Index count) {
  SmallMatrix some(count, from.cols);
  std::copy_n(from.values.data() + first * from.cols, count * from.cols, some.values.data());
  return some;
}

/// The inverse of the inner products of the exemplars without eta, where it and what is multiplied with it, products less
/// eta^2, keep most digits; else nothing.
SmallMatrix inverse_products(const SmallMatrix& exemplars, Index features, double eta_squared) {
  const Index k = exemplars.rows;
  SmallMatrix products(k, k), inverted;
  multiply(Product<double>{.op_b = Op::transpose,
                           .m = k,
                           .n = k,
                           .k = features,
                           .left = exemplars.values.data(),
                           .left_stride = exemplars.cols,
                           .right = exemplars.values.data(),
                           .right_stride = exemplars.cols,
                           .out = products.values.data()});
  if (!is_positive_definite(products.values, k)) return inverted;
  std::vector<double> values = inverse(products.values, k);
  const auto largest = [](const std::vector<double>& v) {
    double most = 0;
    for (const double x : v) most = std::max(most, std::abs(x));
    return most;
  };
  constexpr double enough = 1e4;
  for (Index t = 0; t < k; ++t)
    if (!(eta_squared < enough * products.values[at(t * k + t)])) return inverted;
  if (!(largest(products.values) * largest(values) < enough)) return inverted;
  inverted.rows = inverted.cols = k;
  inverted.values = std::move(values);
  return inverted;
}

}  // namespace

SweepDirections::SweepDirections(const SweepTables& z, Index dim, double eta)
    : k_(z.k), m_(z.m), rank_(z.rank), dim_(dim), eta_squared_(eta * eta), places_(z.places) {
  const Index features = dim - (eta != 0 ? 1 : 0);
  codes_from_features_ = dim <= m_;
  misfit_from_features_ = dim < k_;
  by_square_ = dim * dim <= m_ * dim + k_ * m_;
  theta_ = SmallMatrix(k_, m_);
  theta_.values = z.theta.values;
  among_ = z.among;
  const SmallMatrix basis = rows_of(z.with, 0, m_);
  SmallMatrix exemplars(k_, dim);
  for (Index t = 0; t < k_; ++t) std::copy_n(basis.row(places_[at(t)]), dim, exemplars.row(t));
  SmallMatrix u(k_, dim), misfit = exemplars;
  product(Op::none, theta_, Op::none, basis, u, k_);
  product(Op::none, among_, Op::none, u, misfit, k_, -1, 1);
  // h = G Theta^T A_T - 2 A_B C
  SmallMatrix turned(m_, dim), h = rows_of(z.with, m_, m_);
  product(Op::transpose, theta_, Op::none, exemplars, turned, m_);
  product(Op::none, z.g, Op::none, turned, h, m_, 1, -2);
  if (by_square_) {
    square_ = SmallMatrix(dim, dim);
    product(Op::transpose, turned, Op::none, h, square_, dim);
  }
  const SmallMatrix orthonormal = rows_of(z.with, 2 * m_, z.rank);
  if (z.rank == k_ && k_ > 0 && k_ < dim)
    inverse_ = inverse_products(exemplars, features, eta_squared_);
  from_products_ = inverse_.rows > 0;

  std::vector<const SmallMatrix*> parts{codes_from_features_ ? &exemplars : &basis};
  Index rows = parts[0]->rows;
  const auto take = [&](bool wanted, const SmallMatrix& part, Index& place) {
    place = rows;
    if (!wanted) return;
    parts.push_back(&part);
    rows += part.rows;
  };
  take(codes_from_features_, u, codes_at_);
  take(misfit_from_features_, misfit, misfit_at_);
  take(!by_square_, h, h_at_);
  take(!from_products_, orthonormal, along_at_);
  with_ = SmallMatrix(rows, dim);
  auto to = with_.values.begin();
  for (const SmallMatrix* part : parts)
    to = std::copy(part->values.begin(), part->values.end(), to);
}

SweepDirections::Scratch::Scratch(const SweepDirections& with, Index rows)
    : a(rows, with.dim_),
      v(rows, with.with_.rows),
      s(rows, with.k_),
      x(rows, with.k_),
      t(rows, with.by_square_ ? with.dim_ : with.m_),
      p(rows, with.k_),
      along(rows, with.from_products_ ? with.k_ : 0),
      plain(rows, with.from_products_ && with.eta_squared_ > 0 ? with.k_ : 0),
      sizes(at(with.k_)) {}

void SweepDirections::multiply(Index rows, Scratch& block) const {
  product(Op::none, block.a, Op::transpose, with_, block.v, rows);
  for (Index i = 0; i < rows; ++i) {
    const double* const from = block.v.row(i);
    double* const s = block.s.row(i);
    if (codes_from_features_)
      std::copy_n(from, k_, s);
    else
      for (Index t = 0; t < k_; ++t) s[t] = from[places_[at(t)]];
  }
  const auto part_of_v = [&](Index first, SmallMatrix& out) {
    for (Index i = 0; i < rows; ++i) std::copy_n(block.v.row(i) + first, k_, out.row(i));
  };
  if (codes_from_features_) {
    part_of_v(codes_at_, block.x);
  } else if (k_ > 0) {
    fwsr::multiply(Product<double>{.op_b = Op::transpose,
                                   .m = rows,
                                   .n = k_,
                                   .k = m_,
                                   .left = block.v.values.data(),
                                   .left_stride = block.v.cols,
                                   .right = theta_.values.data(),
                                   .right_stride = m_,
                                   .out = block.x.values.data(),
                                   .out_stride = k_});
  }
  if (misfit_from_features_) {
    part_of_v(misfit_at_, block.p);
  } else {
    std::copy_n(block.s.values.begin(), rows * k_, block.p.values.begin());
    product(Op::none, block.x, Op::none, among_, block.p, rows, -1, 1);
  }
  if (by_square_)
    product(Op::none, block.a, Op::none, square_, block.t, rows);
  else
    product(Op::none, block.s, Op::none, theta_, block.t, rows);
  if (!from_products_) return;
  if (eta_squared_ > 0)
    std::transform(block.s.values.begin(), block.s.values.begin() + rows * k_,
                   block.plain.values.begin(), [&](double s) { return s - eta_squared_; });
  product(Op::none, eta_squared_ > 0 ? block.plain : block.s, Op::none, inverse_, block.along,
          rows);
}

double SweepDirections::score_less_r(const Scratch& block, Index row) const {
  if (by_square_) return dot(block.a.row(row), block.t.row(row), dim_);
  return dot(block.v.row(row) + h_at_, block.t.row(row), m_);
}

double SweepDirections::squared_along(const Scratch& block, Index row) const {
  if (from_products_)
    return dot(block.along.row(row), (eta_squared_ > 0 ? block.plain : block.s).row(row), k_);
  const double* const along = block.v.row(row) + along_at_;
  return dot(along, along, rank_);
}

}  // namespace fwsr
