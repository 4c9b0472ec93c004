#include "fwsr/solver/coefficients.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace fwsr {

Coefficients replay(const std::vector<Step>& trace, const std::vector<Index>& exemplars,
                    const KernelMatrix& kernel) {
  Coefficients result;
  std::unordered_map<Index, std::size_t> place;
  for (const Step& s : trace)
    if (place.emplace(s.pick, result.basis.size()).second) result.basis.push_back(s.pick);
  const std::size_t m = result.basis.size();
  const std::vector<double> k = kernel.values(result.basis, result.basis);

  std::vector<double> theta(m * m);
  std::vector<double> c(m);
  for (const Step& s : trace) {
    const std::size_t j = place.at(s.pick);
    const double length = std::isinf(s.beta) ? s.score / k[j * m + j] : s.gamma * s.beta;
    // c~ = e_j - Theta^T K[basis, j], c = c~ / nu
    std::fill(c.begin(), c.end(), 0.0);
    for (std::size_t r = 0; r < m; ++r) {
      const double factor = k[r * m + j];
      for (std::size_t l = 0; l < m; ++l) c[l] -= factor * theta[r * m + l];
    }
    c[j] += 1;
    for (double& v : theta) v *= 1 - s.gamma;
    if (s.score > 0)
      for (std::size_t l = 0; l < m; ++l) theta[j * m + l] += length * c[l] / s.score;
  }
  for (const Index e : exemplars) {
    const auto row = theta.begin() + static_cast<std::ptrdiff_t>(place.at(e) * m);
    result.theta.insert(result.theta.end(), row, row + static_cast<std::ptrdiff_t>(m));
  }
  return result;
}

}  // namespace fwsr
