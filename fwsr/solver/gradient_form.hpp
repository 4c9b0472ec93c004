// The paper, literally: P = K - K X held whole, O(n^2) a step. The only form for q = 1, q =
// infinity and X >= 0, and the one that all others are tested against. Points that count by weights are sqrt(s_i) a_i where
// they are represented, and a_i where they are chosen.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "fwsr/kernel/kernel_matrix.hpp"
#include "fwsr/solver/form.hpp"
#include "fwsr/solver/options.hpp"
#include "fwsr/solver/terms.hpp"

namespace fwsr {

class GradientForm final : public Form {
 public:
  /// `kernel` is scanned row by row at every step, so it should be held or given.
  GradientForm(const KernelMatrix& kernel, const Terms& terms, Norm q, bool nonneg, int threads);

  double objective() const override { return f_; }
  void offer(std::span<const double> prices) override {
    prices_.assign(prices.begin(), prices.end());
  }
  Pick best() override;
  Probe probe(const Pick& pick) override;
  void step(const Pick& pick, double gamma, double length) override;

  RunProducts take_products() override;

 private:
  double dual_norm(const double* p) const;
  void direction(const double* p, double score);
  double score_for_price(std::size_t i) const;
  void times_roots(Index begin, Index end, double* numbers) const;

  const KernelMatrix& kernel_;
  std::vector<double> roots_;   // sqrt(s_i) of the points; empty: 1
  std::vector<double> prices_;  // of the points; empty: 1
  Norm q_;
  bool nonneg_;
  int threads_;
  Index n_;
  std::unique_ptr<double[]> p_;  // n x n
  std::vector<double> scores_;   // n: dual norms of the rows of P
  std::vector<double> v_;        // n: the direction of the last pick
  std::vector<double> column_;   // n: k_j
  std::vector<double> with_;     // n: the same with sqrt(s_i) a_i
  ExplicitRows x_;
  double f_ = 0, trace_ = 0, xk_ = 0, xkx_ = 0;
};

}  // namespace fwsr
