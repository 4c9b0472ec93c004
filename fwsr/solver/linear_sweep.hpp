// One pass over the points of the covariance form that says everything about the answer: which exemplar is nearest to
// whom, how large the rows of the codes X are, and the sums of the certificate.
//
// With B the basis, T the exemplars and X = Theta A_B^T A, the residual is R = E A,
// E = I - A_T Theta A_B^T, and the score of point i follows from C = A A^T and r_i = a_i^T C a_i, which
// come from the raw data alone:
//
//   ||p_i||^2 = ||C^(1/2) E^T a_i||^2 = r_i - 2 q_i.t_i + t_i^T G t_i
//   t_i = Theta^T A_T^T a_i     q_i = A_B^T C a_i     G = A_B^T C A_B
//
// so that the largest of them, and with it the gap, costs products with few vectors instead of
// another n d^2.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/prep/points.hpp"
#include "fwsr/solver/selection.hpp"
#include "fwsr/solver/terms.hpp"

namespace fwsr {

/// The codes of a run that has ended: X = Theta A_B^T A on the exemplars.
struct CodesOf {
  const std::vector<Index>& exemplars;
  const Coefficients& theta;  // without numbers: only who is nearest to whom is to be told
  bool left =
      false;  // of what the included exemplars leave of the points: X is of the others alone
};

/// What is to be told about the codes beside weights and strength.
struct Wanted {
  bool assignment = false, codes = false;
  bool sums = false;  // those of the certificate
};

/// Sizes of what is added and subtracted, in the points' units. With w_i what rounding may have done to
/// point i and X the codes, the residual of point i is known to w_i + sum_t |X_ti| w_t.
struct Magnitudes {
  double absolute = 0;         // sum_i (||a_i|| + sum_t |X_ti| ||a_t||)^2
  double residual_errors = 0;  // sum_i (w_i + sum_t |X_ti| w_t)^2
  double longest = 0;          // max_i ||a_i||
  double roughest = 0;         // max_i w_i

  void add(const Magnitudes& other);
};

/// Sums over all points, each by its weight, in the points' units; scores are those of the candidates.
struct LinearSums {
  double xk = 0, xkx = 0, trace = 0;  // <X, K>, <X, K X>, tr K
  double largest_score = 0;           // max_i ||p_i||
  double score_error = 0;             // by which rounding may have changed it
  std::vector<Index> leaders;         // who may have it, whatever rounding has done; none: too many
  double projection = 0;              // ||A - P_T A||^2 without the eta row; 0: not said
  double plain_trace = 0;             // ||A||^2 without the eta row
  Magnitudes sizes;                   // what rounding is measured by
  std::vector<double> xp;             // per exemplar t: <X_t, p_t> ...
  std::vector<double> squared_score;  // ... and ||p_t||^2, from the codes themselves
};

/// Codes are sums over the basis, and right to within rounding of their terms: this times ||a_i|| is what
/// that may do to row i of A X, some units in the last place of sum_tb ||a_t|| |Theta_tb| ||a_b||.
double code_roughness(const Coefficients& theta, const std::vector<double>& basis_norms,
                      const std::vector<double>& exemplar_norms);
/// And this times the largest r what it may do to ||p_i||^2 where that is r_i less products with t_i = Theta^T A_T^T a_i:
/// some units in the last place of sum_b ||a_b||^2 ||Theta_b^T A_T||^2, which bounds sum_b ||a_b||^2 t_ib^2 of points of
/// length 1. `among`: K_TT.
double score_roughness(const Coefficients& theta, const std::vector<double>& basis_norms,
                       const std::vector<double>& among);

/// A small row-major matrix.
struct SmallMatrix {
  Index rows = 0, cols = 0;
  std::vector<double> values;

  SmallMatrix() = default;
  SmallMatrix(Index r, Index c) : rows(r), cols(c), values(static_cast<std::size_t>(r * c)) {}
  double* row(Index i) { return values.data() + i * cols; }
  const double* row(Index i) const { return values.data() + i * cols; }
};

/// What every point is multiplied with: small, and the same wherever the points live.
struct SweepTables {
  bool full = false;  // for all sums, not exemplars and codes alone
  Index m = 0, k = 0, rank = 0;
  std::vector<Index> exemplars;
  std::vector<Index> places;    // of the exemplars in the basis
  std::vector<double> squares;  // ||a_t||^2
  SmallMatrix theta;            // k x m
  // The m points of the basis; for all sums then m rows A_B^T C, then an orthonormal basis of T.
  SmallMatrix with;
  SmallMatrix among;                    // K_TT, k x k
  SmallMatrix g;                        // G, m x m
  std::vector<double> norm, roughness;  // of the exemplars: ||a_t|| and w_t
  double of_codes = 0;                  // code_roughness
  double score_error = 0;               // what rounding may have done to squared scores

  /// Whether all products of a block of points are made at once.
  bool by_product() const { return full || theta.values.empty(); }
};
/// The points of theta's basis, row by row, and what centring took from each. The first `features` of `dim` numbers are
/// not the eta row.
struct BasisRows {
  const std::vector<double>& rows;
  const std::vector<double>& taken_away;
  Index dim = 0, features = 0;
  std::vector<double> norms =
      {};  // of the points as they are, where the rows are what is left of them
};
/// What scores are made from: C, what rounding may have done to r, and what no r is more than. Without C, who is asked
/// makes the products with it himself: `with` is the basis alone, and there is neither `among` nor `g`.
struct ScoresFrom {
  std::span<const double> c;
  double r_error = 0, largest_r = 0;
};
/// `scores` are needed for all sums only.
SweepTables make_tables(const CodesOf& codes, const BasisRows& rows, const ScoresFrom& scores,
                        bool full);

/// The points whose squared scores are within `margin` of the largest so far.
struct Leaders {
  struct One {
    Index point = 0;
    double score = 0;
  };
  static constexpr std::size_t most = 16;  // more are not kept
  double margin = 0;
  double largest = -std::numeric_limits<double>::infinity(), left_out = largest;
  std::vector<One> all{};

  void see(const One& one);
  void see(const Leaders& others);
  bool complete() const { return left_out < largest - margin; }
};

/// What some points add.
struct SweepPart {
  std::vector<double> count, squares;  // per exemplar
  LinearSums sums;
  Leaders leaders;

  void add(const SweepPart& other);
};
/// What the points at hand say about the codes. The last two where asked for.
struct SweepAnswer {
  SegmentSums<SweepPart> parts;
  std::vector<Index> assignment;
  std::vector<double> codes;
};
/// `r`: of the points at hand; `terms`: what they count, and who may be picked.
SweepAnswer sweep_linear(const Points& points, const SweepTables& z, const std::vector<double>& r,
                         const Terms& terms, const Wanted& wanted, int threads,
                         const KeepGoing& keep_going);

/// Fills weights and strength, and assignment, codes and sums when asked for.
LinearSums gather_sweep(std::vector<SweepAnswer> answers, const SweepTables& z,
                        Selection& selection);

}  // namespace fwsr
