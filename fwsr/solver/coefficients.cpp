#include "fwsr/solver/coefficients.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "fwsr/base/at.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/projection.hpp"

namespace fwsr {

Coefficients replay(const std::vector<Step>& trace, const std::vector<Index>& exemplars,
                    const KernelMatrix& kernel, const std::vector<double>& costs,
                    const KeepGoing& keep_going) {
  Coefficients result;
  std::unordered_map<Index, Index> place;
  for (const Step& s : trace)
    if (place.emplace(s.pick, static_cast<Index>(result.basis.size())).second)
      result.basis.push_back(s.pick);
  const auto m = static_cast<Index>(result.basis.size());
  const std::vector<double> k = kernel.values(result.basis, result.basis);

  // Theta = scale phi, so that a step need not touch all of it. The basis is in the order of picking:
  // rows and columns of what is not yet picked are zero.
  std::vector<double> phi(at(m * m));
  double scale = 1;
  Index picked = 0;
  std::vector<double> c(at(m));
  for (const Step& s : trace) {
    throw_if_cancelled(keep_going);
    const Index j = place.at(s.pick);
    picked = std::max(picked, j + 1);
    const double cost = costs.empty() ? 1.0 : costs[at(s.pick)];
    const double length =
        std::isinf(s.beta) ? s.score / k[at(j * m + j)] : s.step_size * (s.beta / cost);
    // c~ = e_j - Theta^T K[basis, j], c = c~ / nu; K is symmetric
    multiply_vector(Op::transpose, {phi.data(), picked, picked, m}, &k[at(j * m)], c.data());
    for (Index l = 0; l < picked; ++l) c[at(l)] *= -scale;
    c[at(j)] += 1;
    scale *= 1 - s.step_size;
    if (std::abs(scale) < 1e-100) {  // a full step, or many nearly full ones
      for (Index r = 0; r < picked; ++r)
        for (Index l = 0; l < picked; ++l) phi[at(r * m + l)] *= scale;
      scale = 1;
    }
    if (s.score > 0)
      for (Index l = 0; l < picked; ++l) phi[at(j * m + l)] += length * c[at(l)] / s.score / scale;
  }
  for (const Index e : exemplars)
    for (Index l = 0; l < m; ++l) result.theta.push_back(scale * phi[at(place.at(e) * m + l)]);
  return result;
}

Coefficients with_included(const Coefficients& theta, const std::vector<Index>& exemplars,
                           const std::vector<Index>& included, const KernelMatrix& kernel) {
  if (included.empty()) return theta;
  const auto i0 = static_cast<Index>(included.size()), m = static_cast<Index>(theta.basis.size()),
             k = static_cast<Index>(exemplars.size());
  const PivotedCholesky factor = pivoted_cholesky(kernel.values(included, included), i0);
  // (K_II)^-1 b for b of all included points; zero for those that depend on others.
  const auto solve = [&](const std::vector<double>& b) {
    std::vector<double> scratch(at(factor.rank)), found(at(i0));
    factor.squared_solution(b.data(), scratch.data());
    factor.weights(scratch.data());
    for (Index r = 0; r < factor.rank; ++r) found[at(factor.pivots[at(r)])] = scratch[at(r)];
    return found;
  };
  const std::vector<double> with = kernel.values(theta.basis, included);  // m x i0
  std::vector<std::vector<double>> z;                                     // columns of Z
  for (Index b = 0; b < m; ++b)
    z.push_back(solve({with.begin() + b * i0, with.begin() + (b + 1) * i0}));

  Coefficients all{.basis = included, .theta = {}, .offset = {}};
  all.basis.insert(all.basis.end(), theta.basis.begin(), theta.basis.end());
  const Index width = i0 + m;
  all.theta.assign(at((i0 + k) * width), 0.0);
  const auto entry = [&](Index row, Index column) -> double& {
    return all.theta[at(row * width + column)];
  };
  for (Index r = 0; r < factor.rank; ++r) {  // K_II^-1
    std::vector<double> unit(at(i0));
    const Index p = factor.pivots[at(r)];
    unit[at(p)] = 1;
    const std::vector<double> column = solve(unit);
    for (Index i = 0; i < i0; ++i) entry(i, p) = column[at(i)];
  }
  for (Index t = 0; t < k; ++t) {
    for (Index b = 0; b < m; ++b) {
      const double value = theta.theta[at(t * m + b)];
      entry(i0 + t, i0 + b) = value;
      for (Index i = 0; i < i0; ++i) entry(i0 + t, i) -= value * z[at(b)][at(i)];
    }
    const Index place =
        std::find(theta.basis.begin(), theta.basis.end(), exemplars[at(t)]) - theta.basis.begin();
    for (Index i = 0; i < i0; ++i)
      for (Index c = 0; c < width; ++c) entry(i, c) -= z[at(place)][at(i)] * entry(i0 + t, c);
  }
  return all;
}

}  // namespace fwsr
