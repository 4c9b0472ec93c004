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

/// Some columns of Theta = scale phi on its way, so that a step need not touch all of it; columns know nothing of each
/// other. The basis is in the order of picking: rows and columns of what is not yet picked are zero.
class Theta {
 public:
  /// Columns first .. last of m. `k`: K among the basis, m x m.
  Theta(const std::vector<double>& k, Index m, Index first, Index last)
      : k_(k), m_(m), first_(first), width_(last - first), phi_(at(m * width_)) {}

  /// The first of these steps, one at least; says how many. phi^T K_j of all of them is a product with phi as it was
  /// before, and what the steps between have added to it.
  std::size_t take(std::span<const Taken> steps) {
    if (steps.front().place < first_ && picked_ <= first_) return pass_by(steps);
    std::vector<double> columns, all_c(at(std::ssize(steps) * width_)), added;
    for (const Taken& step : steps) {
      const auto own = k_.begin() + step.place * m_;  // K is symmetric
      columns.insert(columns.end(), own, own + picked_);
    }
    multiply(Product<double>{.m = std::ssize(steps),
                             .n = width_,
                             .k = picked_,
                             .left = columns.data(),
                             .right = phi_.data(),
                             .right_stride = width_,
                             .out = all_c.data(),
                             .out_stride = width_});
    for (std::size_t s = 0; s < steps.size(); ++s) {
      const auto& [j, gamma, length_per_score] = steps[s];
      picked_ = std::max(picked_, j + 1);
      // c~ = e_j - Theta^T K[basis, j], c = c~ / nu
      double* const c = all_c.data() + static_cast<Index>(s) * width_;
      for (std::size_t t = 0; t < s; ++t)
        add(added[t] * k_[at(steps[t].place * m_ + j)],
            all_c.data() + static_cast<Index>(t) * width_, c);
      for (Index l = 0; l < width_; ++l) c[l] *= -scale_;
      if (first_ <= j && j < first_ + width_) c[j - first_] += 1;
      const bool keeps_phi = scale_by(1 - gamma);
      added.push_back(length_per_score / scale_);
      add(added.back(), c, phi_.data() + j * width_);
      if (!keeps_phi) return s + 1;
    }
    return steps.size();
  }

  double entry(Index row, Index column) const {
    return scale_ * phi_[at(row * width_ + column - first_)];
  }

 private:
  void add(double times, const double* from, double* to) const {
    for (Index l = 0; l < width_; ++l) to[l] += times * from[l];
  }
  /// Those before the first pick of these columns, which are zero.
  std::size_t pass_by(std::span<const Taken> steps) {
    std::size_t count = 0;
    for (; count < steps.size() && steps[count].place < first_; ++count) {
      picked_ = std::max(picked_, steps[count].place + 1);
      scale_by(1 - steps[count].gamma);
    }
    return count;
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
  Index m_, first_, width_, picked_ = 0;
  std::vector<double> phi_;  // m x width
  double scale_ = 1;
};

}  // namespace

Coefficients replay(const std::vector<Step>& trace, const std::vector<Index>& exemplars,
                    const KernelMatrix& kernel, const std::vector<double>& costs, int threads,
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
  constexpr std::size_t at_once = 32;
  constexpr Index columns = 128;
  result.theta.resize(exemplars.size() * at(m));
  const double work = 2.0 * static_cast<double>(steps.size() * at(m * m));
  for_blocks(
      threads_for(threads, work), m,
      [&](Index, Index first, Index last) {
        Theta theta(k, m, first, last);
        for (std::span<const Taken> rest = steps; !rest.empty();) {
          throw_if_cancelled(keep_going);
          rest = rest.subspan(theta.take(rest.first(std::min(at_once, rest.size()))));
        }
        for (std::size_t e = 0; e < exemplars.size(); ++e)
          for (Index l = first; l < last; ++l)
            result.theta[e * at(m) + at(l)] = theta.entry(place.at(exemplars[e]), l);
      },
      columns);
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
