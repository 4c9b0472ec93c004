// The convex program of DS3, and an ADMM for it.
//
//   min_Z  lambda sum_i ||z_i||_p + sum_ij d_ij z_ij    s.t.  Z >= 0,  1^T Z = 1^T
//
// ADMM (Douglas-Rachford): Y = Z with simplex columns on one side, X = Z >= 0 with the norms on the other,
//
//   Y = (w - 1 theta^T)_+  with theta such that the columns sum to 1
//   X = prox_{lambda / rho}(2 Y - w - D / rho),  rows apart
//   w <- w + omega (X - Y)
//
// so that D and w are the only n x n matrices. Certificate: the dual is max sum(nu) over nu with
// ||(nu - d_i)_+||_{p*} <= lambda for every i, 1 / p + 1 / p* = 1. -rho theta, lowered or raised by one number
// until that holds, gives a lower bound; Y is feasible and gives the upper one.
#pragma once

#include <limits>
#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/index.hpp"
#include "fwsr/linalg/large_array.hpp"
#include "fwsr/methods/distances.hpp"

namespace fwsr {

struct Ds3Options {
  bool infinite = true;    // p
  double most_lambda = 0;  // one exemplar is left from here on; positive
  double alpha = 0;        // lambda is that divided by this; 0: 20, doubled until there are `rows`
  Index rows = 0;
  double tolerance = 1e-3;  // stop when gap <= tolerance x objective
  Index max_iterations = 0;
  int threads = 1;
  KeepGoing keep_going = {};
};

/// One run; everything but run() asks for what it left.
class Ds3Admm {
 public:
  Ds3Admm(const DistanceMatrix<double>& d, Index n, const Ds3Options& options);
  void run();

  /// The rows of Y by p-norm, largest first: those that X has too, or all when it has none yet.
  std::vector<Index> rows_in_order() const;
  void row_of_y(Index i, double* out) const;
  double norm(Index i) const { return norms_[static_cast<std::size_t>(i)]; }  // of a row of Y
  double objective() const { return objective_; }
  double gap() const;
  bool converged() const { return !(gap() > options_.tolerance * objective_); }
  double lambda() const { return lambda_; }
  double alpha() const { return alpha_; }
  double primal_residual() const { return residual_; }
  Index iterations() const { return iterations_; }

 private:
  struct Part {  // of one block of rows
    double objective = 0, fit = 0, shift = -std::numeric_limits<double>::infinity();
    double moved = 0;  // ||X - Y||^2
  };

  void begin();
  void represent(double* x, Index i);
  void update_rows();
  void project_columns();
  void project_tile(std::vector<double>& above, Index first, Index last);
  bool check();
  void halve_lambda();
  bool enough_rows() const;
  template <class Work>
  Part over_rows(Work&& work);

  const DistanceMatrix<double>& d_;
  const Index n_;
  const Ds3Options options_;
  const bool infinite_;
  LargeArray<double> w_;
  double alpha_ = 0, lambda_ = 0, rho_ = 0;
  std::vector<double> theta_;
  std::vector<double> levels_;  // of the dual, the last ones: guesses
  std::vector<double> caps_;    // of the rows of X (infinite p): guesses
  std::vector<char> used_;      // rows of X that are not zero
  std::vector<double> norms_;   // of the rows of Y
  double objective_ = 0, fit_ = 0, bound_ = -std::numeric_limits<double>::infinity(), residual_ = 0;
  Index iterations_ = 0;
};

}  // namespace fwsr
