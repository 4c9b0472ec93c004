#include "fwsr/solver/codes.hpp"

#include <algorithm>

#include "fwsr/base/at.hpp"
#include "fwsr/base/index_range.hpp"
#include "fwsr/linalg/blas.hpp"

namespace fwsr {

Codes::Codes(const KernelMatrix& kernel, std::vector<Index> exemplars, const Coefficients& theta)
    : kernel_(kernel), exemplars_(std::move(exemplars)), theta_(&theta) {
  for (const Index e : exemplars_)
    places_.push_back(std::find(theta.basis.begin(), theta.basis.end(), e) - theta.basis.begin());
}

Codes::Codes(const KernelMatrix& kernel, std::vector<Index> exemplars, const ExplicitRows& rows)
    : kernel_(kernel), exemplars_(std::move(exemplars)) {
  for (const Index e : exemplars_) {
    const auto found = std::find(rows.points.begin(), rows.points.end(), e) - rows.points.begin();
    rows_.push_back(&rows.codes[at(found)]);
  }
}

std::vector<double> codes_from_basis(const Coefficients& theta, Index exemplars,
                                     const std::vector<double>& values, Index points) {
  const auto m = static_cast<Index>(theta.basis.size());
  std::vector<double> codes(at(points * exemplars));
  multiply(Product<double>{.op_b = Op::transpose,
                           .m = points,
                           .n = exemplars,
                           .k = m,
                           .left = values.data(),
                           .right = theta.theta.data(),
                           .out = codes.data()});
  return codes;
}

Codes::Block Codes::block(Index first, Index last) const {
  const std::vector<Index> points = index_range(first, last);
  const Index k = exemplars();
  Block block;
  if (!theta_) {
    block.kernel = (values_ ? *values_ : kernel_).values(points, exemplars_);
    for (Index i = first; i < last; ++i)
      for (const auto* row : rows_) block.codes.push_back((*row)[at(i)]);
    return block;
  }
  const std::vector<double> values = kernel_.values(points, theta_->basis);
  block.codes = codes_from_basis(*theta_, k, values, last - first);
  if (values_) {
    block.kernel = values_->values(points, exemplars_);
    return block;
  }
  const std::size_t m = theta_->basis.size();
  for (std::size_t i = 0; i < points.size(); ++i)
    for (const Index p : places_) block.kernel.push_back(values[i * m + at(p)]);
  return block;
}

}  // namespace fwsr
