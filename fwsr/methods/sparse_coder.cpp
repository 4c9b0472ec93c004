#include "fwsr/methods/sparse_coder.hpp"

#include <algorithm>
#include <cmath>

#include "fwsr/base/at.hpp"
#include "fwsr/methods/ties.hpp"

namespace fwsr {

namespace {

constexpr double rounding = 1e-10;  // of the squared norm: what is not left of a point

/// L L^T x = p.
std::vector<double> solve(const std::vector<Index>& atoms, const std::vector<double>& lower,
                          const double* products) {
  const std::size_t m = atoms.size();
  std::vector<double> x(m);
  for (std::size_t u = 0; u < m; ++u) {
    x[u] = products[atoms[u]];
    for (std::size_t v = 0; v < u; ++v) x[u] -= lower[u * (u + 1) / 2 + v] * x[v];
    x[u] /= lower[u * (u + 1) / 2 + u];
  }
  for (std::size_t u = m; u-- > 0;) {
    for (std::size_t v = u + 1; v < m; ++v) x[u] -= lower[v * (v + 1) / 2 + u] * x[v];
    x[u] /= lower[u * (u + 1) / 2 + u];
  }
  return x;
}

}  // namespace

SparseCoder::SparseCoder(const std::vector<double>& gram, Index atoms, Index sparsity)
    : gram_(gram), k_(atoms), sparsity_(std::min(sparsity, atoms)) {}

Code SparseCoder::code(const double* products, double square) const {
  Code found;
  std::vector<double> left(products, products + k_), lower;
  double error = square;
  while (static_cast<Index>(found.atoms.size()) < sparsity_ && error > rounding * square) {
    const Index next = first_largest(k_, [&](Index t) { return std::abs(left[at(t)]); });
    if (next < 0 || !extend(found, next, lower)) break;
    found.values = solve(found.atoms, lower, products);
    left.assign(products, products + k_);
    error = square;
    for (std::size_t u = 0; u < found.atoms.size(); ++u) {
      const double* const row = gram_.data() + found.atoms[u] * k_;
      for (Index t = 0; t < k_; ++t) left[at(t)] -= found.values[u] * row[t];
      error -= found.values[u] * products[found.atoms[u]];
    }
    for (const Index used : found.atoms)
      left[at(used)] = 0;  // but for rounding, which must not choose
  }
  return found;
}

bool SparseCoder::extend(Code& found, Index next, std::vector<double>& lower) const {
  const std::size_t m = found.atoms.size();
  std::vector<double> row(m + 1);
  double rest = 1;
  for (std::size_t u = 0; u < m; ++u) {
    double sum = gram_[at(next * k_ + found.atoms[u])];
    for (std::size_t v = 0; v < u; ++v) sum -= row[v] * lower[u * (u + 1) / 2 + v];
    row[u] = sum / lower[u * (u + 1) / 2 + u];
    rest -= row[u] * row[u];
  }
  if (rest <= 1e-12) return false;
  row[m] = std::sqrt(rest);
  lower.insert(lower.end(), row.begin(), row.end());  // packed, row by row
  found.atoms.push_back(next);
  return true;
}

}  // namespace fwsr
