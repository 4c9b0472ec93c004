#include "fwsr/solver/coefficients.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <unordered_map>
#include <vector>

#include "fwsr/base/at.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/projection.hpp"

namespace fwsr {

namespace {

/// A step as Theta sees it.
struct Taken {
  Index place = 0;  // of the pick in the basis
  double gamma = 0, length_per_score = 0;
};

/// Theta = scale phi on its way, so that a step need not touch all of it. The basis is in the order of picking: rows and
/// columns of what is not yet picked are zero.
class Theta {
 public:
  /// `k`: K among the basis, m x m.
  Theta(const std::vector<double>& k, Index m) : k_(k), m_(m), phi_(at(m * m)) {}

  /// The first of these steps, one at least; says how many. phi^T K_j of all of them is a product with phi as it was
  /// before, and what the steps between have added to it.
  std::size_t take(std::span<const Taken> steps) {
    std::vector<double> columns, all_c(at(std::ssize(steps) * m_)), added;
    for (const Taken& step : steps) {
      const auto own = k_.begin() + step.place * m_;  // K is symmetric
      columns.insert(columns.end(), own, own + picked_);
    }
    multiply(Product<double>{.m = std::ssize(steps),
                             .n = picked_,
                             .k = picked_,
                             .left = columns.data(),
                             .right = phi_.data(),
                             .right_stride = m_,
                             .out = all_c.data(),
                             .out_stride = m_});
    for (std::size_t s = 0; s < steps.size(); ++s) {
      const auto& [j, gamma, length_per_score] = steps[s];
      picked_ = std::max(picked_, j + 1);
      // c~ = e_j - Theta^T K[basis, j], c = c~ / nu
      double* const c = all_c.data() + static_cast<Index>(s) * m_;
      for (std::size_t t = 0; t < s; ++t)
        add(added[t] * k_[at(steps[t].place * m_ + j)], all_c.data() + static_cast<Index>(t) * m_,
            c);
      for (Index l = 0; l < picked_; ++l) c[l] *= -scale_;
      c[j] += 1;
      const bool keeps_phi = scale_by(1 - gamma);
      added.push_back(length_per_score / scale_);
      add(added.back(), c, phi_.data() + j * m_);
      if (!keeps_phi) return s + 1;
    }
    return steps.size();
  }

  double entry(Index row, Index column) const { return scale_ * phi_[at(row * m_ + column)]; }

 private:
  void add(double times, const double* from, double* to) const {
    for (Index l = 0; l < picked_; ++l) to[l] += times * from[l];
  }
  /// False: phi is another one now.
  bool scale_by(double keep) {
    scale_ *= keep;
    if (!(std::abs(scale_) < 1e-100)) return true;  // else a full step, or many nearly full ones
    for (double& v : phi_) v *= scale_;
    scale_ = 1;
    return false;
  }

  const std::vector<double>& k_;
  Index m_, picked_ = 0;
  std::vector<double> phi_;
  double scale_ = 1;
};

}  // namespace

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
  std::vector<Taken> steps;
  for (const Step& s : trace) {
    const Index j = place.at(s.pick);
    const double cost = costs.empty() ? 1.0 : costs[at(s.pick)];
    const double length =
        std::isinf(s.beta) ? s.score / k[at(j * m + j)] : s.step_size * (s.beta / cost);
    steps.push_back({j, s.step_size, s.score > 0 ? length / s.score : 0.0});
  }
  Theta theta(k, m);
  constexpr std::size_t at_once = 32;
  for (std::span<const Taken> rest = steps; !rest.empty();) {
    throw_if_cancelled(keep_going);
    rest = rest.subspan(theta.take(rest.first(std::min(at_once, rest.size()))));
  }
  for (const Index e : exemplars)
    for (Index l = 0; l < m; ++l) result.theta.push_back(theta.entry(place.at(e), l));
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
