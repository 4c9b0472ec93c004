// Any kernel, q = 2: one product with K per *new* exemplar, O(n m) otherwise (m exemplars so far).
//
//   B          the basis: every point picked so far
//   U = K_B    n x m, its columns of K;   W = K U;   G = U^T U
//   X = Theta U^T on the rows of B, Theta m x m; u_j is row j of U
//
//   t = Theta^T u_j          c~ = e_pos(j) - t       nu = ||U c~||,  c = c~ / nu,  v = U c
//   K v = W c                P v = W c - U Theta G c
//   <v, (K X)_j> = c^T G t   <v, k_j> = c.W_j
//   Theta <- (1 - gamma) Theta;  Theta[pos(j), :] += length c
//
//   <X, K> = <Theta, G>      <X, K X> = <K_BB, Theta G Theta^T>
//
// Points that count by weights s, S = diag(s), change sums over points: W = K S U, G = U^T S U, ||v||^2 = v^T S v,
// r_i = sum_l s_l K_il^2, tr K = sum_i s_i K_ii; X is then that of the points themselves, not of sqrt(s_i) a_i.
//
//   cost        set-up: all of K once, for r;  memory 2 n m + 3 n doubles beside K
//
// After a full step all rows of Theta but one are zero while its columns still refer to the basis.
// The recursive scores lose digits as f falls; as in the covariance form they are then computed
// anew from P itself, row block by row block. All sums are exact to double for the K at hand; where
// its entries are float32 numbers, they carry the run until f has fallen to 1e-4 f(0). Then a K in
// double takes over: U, W, G, r and f are computed anew, Theta stays.
#pragma once

#include <functional>
#include <vector>

#include "fwsr/kernel/kernel_matrix.hpp"
#include "fwsr/solver/form.hpp"
#include "fwsr/solver/scores.hpp"
#include "fwsr/solver/terms.hpp"

namespace fwsr {

class RepresenterForm final : public Form {
 public:
  /// Gives up a K in float32 and answers with the same one in double.
  using InDouble = std::function<const KernelMatrix&()>;

  /// `in_double` is asked at most once, and only when kernel.single(). `terms` are the caller's.
  RepresenterForm(const KernelMatrix& kernel, const Terms& terms, int threads,
                  const InDouble& in_double = {}, const KeepGoing& keep_going = {});

  double objective() const override { return f_; }
  void refine() override;
  void offer(std::span<const double> prices) override {
    scores_.prices.assign(prices.begin(), prices.end());
  }
  Pick best() override;
  Probe probe(const Pick& pick) override;
  void step(const Pick& pick, double gamma, double length) override;

  RunProducts take_products() override {
    return {.kernel = KernelProducts{
                .r = std::move(scores_.r), .basis = std::move(basis_), .w = std::move(w_)}};
  }

 private:
  Index basis_size() const { return static_cast<Index>(basis_.size()); }
  /// Operations of one pass over the points.
  double pass_work() const {
    return 4.0 * static_cast<double>(n_) * static_cast<double>(basis_.size());
  }
  Index position(Index j);
  void grow();
  void find_at_zero();
  std::vector<double> weighted(const double* values) const;
  double exact_score(Index j);
  void recompute();
  void go_on_in_double();

  const KernelMatrix* kernel_;
  const Terms& terms_;
  int threads_;
  InDouble in_double_;
  KeepGoing keep_going_;
  Index n_;
  Scores scores_;
  std::vector<Index> basis_;
  std::vector<double> u_, w_;      // U^T and W^T: m rows of n numbers
  std::vector<double> theta_, g_;  // m x m, rows `room_` apart
  Index room_ = 0;
  std::vector<double> c_, t_, gc_, tgc_;  // m: c~ (then c), t, G c, Theta G c
  std::vector<double> v_, y_;             // n: U c~ (then P v) and K v
  double nu_ = 0;
  Index pos_ = 0;
  double trace_ = 0, xk_ = 0, xkx_ = 0, f_ = 0, f_at_zero_ = 0;
};

}  // namespace fwsr
