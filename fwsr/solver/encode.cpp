// Codes of points that were not there when the exemplars were chosen.
#include <cmath>

#include "fwsr/base/result.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/solver/codes.hpp"
#include "fwsr/solver/select_points.hpp"

namespace fwsr {

namespace {

/// The kernel by definition in the user's units, on rows of points scaled by `unit` (with eta when
/// linear).
double kernel_between(const Kernel& kernel, double unit, const double* a, const double* b,
                      Index d) {
  const double gamma = kernel.gamma.value_or(0.0);
  switch (kernel.type) {
    case KernelType::rbf:
      return std::exp(-gamma / unit / unit * squared_distance(a, b, d));
    case KernelType::laplacian:
      return std::exp(-gamma / unit * absolute_distance(a, b, d));
    case KernelType::polynomial:
      return std::pow(gamma / unit / unit * dot(a, b, d) + kernel.coef0, kernel.degree);
    default:
      return dot(a, b, d) / unit / unit;
  }
}

}  // namespace

std::vector<double> encode_points(const Points& trained, const Kernel& kernel, double eta,
                                  bool eta_relative, const Coefficients& theta, Index exemplars,
                                  const Points& fresh) {
  const auto at = [](Index i) { return static_cast<std::size_t>(i); };
  const auto matrix = make_tiled_kernel(trained, kernel, eta, eta_relative);
  const double u = trained.unit();
  const double eta_squared = matrix->eta() / matrix->unit() * (matrix->eta() / matrix->unit());
  const double extra = kernel.type == KernelType::linear ? 0.0 : eta_squared;
  const Index d = trained.dim();
  const auto m = static_cast<Index>(theta.basis.size());
  std::vector<double> basis(at(m * d)), row(at(d)), values(at(m)), all;
  for (Index b = 0; b < m; ++b) trained.row(theta.basis[at(b)], basis.data() + b * d);
  for (Index i = 0; i < fresh.size(); ++i) {
    fresh.row(i, row.data());
    for (Index b = 0; b < m; ++b)
      values[at(b)] = kernel_between(kernel, u, row.data(), basis.data() + b * d, d) + extra;
    std::vector<double> codes = codes_from_basis(theta, exemplars, values, 1);
    for (std::size_t t = 0; t < theta.offset.size(); ++t) codes[t] += theta.offset[t];
    all.insert(all.end(), codes.begin(), codes.end());
  }
  return all;
}

}  // namespace fwsr
