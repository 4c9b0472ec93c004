#include "fwsr/linalg/lanczos.hpp"

#include <algorithm>
#include <cmath>

#include "fwsr/base/at.hpp"
#include "fwsr/base/index.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/lapack.hpp"
#include "fwsr/linalg/rows.hpp"

namespace fwsr {

namespace {

constexpr Index most_vectors = 96;  // before it begins anew
constexpr Index check_every = 6;    // products between looks at the small matrix
constexpr int most_rounds = 40;

double normalize(std::vector<double>& v) {
  const auto m = static_cast<Index>(v.size());
  const double norm = std::sqrt(dot(v.data(), v.data(), m));
  if (norm > 0)
    for (double& x : v) x /= norm;
  return norm;
}

/// The leading eigenvector of the tridiagonal matrix, and its value.
LeadingEigen of_tridiagonal(const std::vector<double>& diagonal,
                            const std::vector<double>& beside) {
  const auto m = static_cast<Index>(diagonal.size());
  std::vector<double> full(at(m * m));
  for (Index i = 0; i < m; ++i) {
    full[at(i * m + i)] = diagonal[at(i)];
    if (i + 1 < m) full[at(i * m + i + 1)] = full[at((i + 1) * m + i)] = beside[at(i)];
  }
  const EigenDecomposition eigen = symmetric_eigen(std::move(full), m);
  return {.value = eigen.values.back(),
          .vector = std::vector<double>(eigen.vectors.end() - m, eigen.vectors.end())};
}

struct Round {
  LeadingEigen best;
  bool done = false;
};

/// Up to most_vectors products.
Round lanczos_round(const ApplyMatrix& apply, std::vector<double> v, double tolerance) {
  const auto m = static_cast<Index>(v.size());
  std::vector<double> basis, diagonal, beside;
  for (;;) {
    basis.insert(basis.end(), v.begin(), v.end());
    const Index count = static_cast<Index>(diagonal.size()) + 1;
    std::vector<double> w = apply(v);
    diagonal.push_back(dot(w.data(), v.data(), m));
    const MatrixView<const double> known{basis.data(), count, m, m};
    std::vector<double> along(at(count));
    for (int twice = 0; twice < 2; ++twice) {
      multiply_vector(Op::none, known, w.data(), along.data());
      for (double& s : along) s = -s;
      add_vector(Op::transpose, known, along.data(), w.data());
    }
    const double rest = normalize(w);
    const bool last = count == std::min(most_vectors, m);
    if (last || count % check_every == 0 || rest <= tolerance * std::abs(diagonal[0])) {
      const LeadingEigen small = of_tridiagonal(diagonal, beside);
      const bool converged = rest * std::abs(small.vector.back()) <= tolerance * small.value;
      if (converged || last) {
        LeadingEigen best{.value = small.value, .vector = std::vector<double>(at(m))};
        add_vector(Op::transpose, known, small.vector.data(), best.vector.data());
        return {.best = std::move(best), .done = converged || count == m};
      }
    }
    beside.push_back(rest);
    v = std::move(w);
  }
}

}  // namespace

LeadingEigen leading_eigen(const ApplyMatrix& apply, std::vector<double> start, double tolerance) {
  if (normalize(start) == 0) return {};
  for (int r = 0;; ++r) {
    Round round = lanczos_round(apply, std::move(start), tolerance);
    if (!(round.best.value > 0)) return {};
    normalize(round.best.vector);
    if (round.done || r == most_rounds) return round.best;
    start = std::move(round.best.vector);
  }
}

}  // namespace fwsr
