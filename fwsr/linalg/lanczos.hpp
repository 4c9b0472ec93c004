// The leading eigenvector of a symmetric positive semi-definite matrix that is known by its
// products.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace fwsr {

using ApplyMatrix = std::function<std::vector<double>(std::span<const double>)>;

struct LeadingEigen {
  double value = 0;
  std::vector<double> vector;  // of norm 1; empty when the matrix is zero
};
/// Lanczos iterations from `start`, every vector orthogonalised against all before, begun anew from
/// the best vector so far when there are too many; until the residual is below `tolerance` times
/// the eigenvalue.
LeadingEigen leading_eigen(const ApplyMatrix& apply, std::vector<double> start, double tolerance);

}  // namespace fwsr
