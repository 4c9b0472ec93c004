#include "fwsr/solver/coefficients.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "fwsr/base/at.hpp"
#include "fwsr/linalg/blas.hpp"

namespace fwsr {

Coefficients replay(const std::vector<Step>& trace, const std::vector<Index>& exemplars,
                    const KernelMatrix& kernel, const KeepGoing& keep_going) {
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
    const double length = std::isinf(s.beta) ? s.score / k[at(j * m + j)] : s.step_size * s.beta;
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

}  // namespace fwsr
