// Codes of points that were not there when the exemplars were chosen.
#include <span>

#include "fwsr/base/result.hpp"
#include "fwsr/kernel/formula.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/solver/codes.hpp"
#include "fwsr/solver/select_points.hpp"

namespace fwsr {

namespace {

/// The kernel of `a` with m other rows, in the user's units; all rows are scaled by `unit` (with eta
/// when linear).
void kernel_between(const Kernel& kernel, double unit, double extra, const double* a,
                    const double* others, Index d, std::span<double> values) {
  const KernelFormula& formula = formula_of(kernel.type);
  const auto m = static_cast<Index>(values.size());
  for (Index b = 0; b < m; ++b) {
    const double* other = others + b * d;
    values[static_cast<std::size_t>(b)] =
        formula.of == KernelOf::squared_distances    ? squared_distance(a, other, d)
        : formula.of == KernelOf::absolute_distances ? absolute_distance(a, other, d)
                                                     : dot(a, other, d);
  }
  formula.wide.values(numbers_of(kernel, unit, {.extra = extra}), m, values.data());
}

}  // namespace

std::vector<double> encode_points(const Points& trained, const Kernel& kernel, double eta,
                                  bool eta_relative, const Coefficients& theta, Index exemplars,
                                  const Points& fresh) {
  const auto at = [](Index i) { return static_cast<std::size_t>(i); };
  const auto matrix =
      make_tiled_kernel(trained, kernel, {.eta = eta, .eta_relative = eta_relative});
  const double u = trained.unit();
  const double eta_squared = matrix->eta() / matrix->unit() * (matrix->eta() / matrix->unit());
  const double extra = formula_of(kernel.type).linear ? 0.0 : eta_squared;  // else in the rows
  const Index d = trained.dim();
  const auto m = static_cast<Index>(theta.basis.size());
  std::vector<double> basis(at(m * d)), row(at(d)), values(at(m)), all;
  for (Index b = 0; b < m; ++b) trained.row(theta.basis[at(b)], basis.data() + b * d);
  for (Index i = 0; i < fresh.size(); ++i) {
    fresh.row(i, row.data());
    kernel_between(kernel, u, extra, row.data(), basis.data(), d, values);
    std::vector<double> codes = codes_from_basis(theta, exemplars, values, 1);
    for (std::size_t t = 0; t < theta.offset.size(); ++t) codes[t] += theta.offset[t];
    all.insert(all.end(), codes.begin(), codes.end());
  }
  return all;
}

}  // namespace fwsr
