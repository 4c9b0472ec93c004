// Algorithm 1 of the paper as the slow, obvious program: explicit preprocessing, the kernel matrix
// by its definition, full n x n matrices, sums in extended precision. The library is tested against
// it and never calls it; it uses nothing of the library but Index.
//
//   paper     code     shape   meaning
//   A         points   n x d   one row per point (the paper's columns)
//   K         k        n x n   kernel matrix, eta^2 included
//   X         x        n x n   codes; row i belongs to point i
//   P         p        n x n   K - K X = -grad f / 2
//   S         s        n       the one non-zero row of the linear oracle's answer
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "fwsr/base/index.hpp"

namespace oracle {

using fwsr::Index;
using Real = long double;

template <class T>
struct Matrix {
  Matrix() = default;
  Matrix(Index r, Index c) : rows(r), cols(c), values(static_cast<std::size_t>(r * c)) {}

  T& operator()(Index i, Index j) { return values[static_cast<std::size_t>(i * cols + j)]; }
  const T& operator()(Index i, Index j) const {
    return values[static_cast<std::size_t>(i * cols + j)];
  }

  Index rows = 0;
  Index cols = 0;
  std::vector<T> values;
};

// ---- preprocessing: scale, then centre, then normalise -----------------------------------------

enum class Center { point, feature, none };
enum class Scale { none, standard, unit };

struct Preprocessing {
  Center center = Center::none;
  Scale scale = Scale::none;
  bool normalize = false;  // after centring, each point to norm 1; zero points stay
};

/// The points as the algorithm is to see them, without the row of eta. Features that are constant
/// stay as they are under `standard`, zero points under `unit`. Whatever is constant becomes
/// exactly zero when its own mean is subtracted.
Matrix<Real> preprocess(Matrix<Real> points, const Preprocessing& how);

/// Root of the mean squared norm of the rows.
Real root_mean_square(const Matrix<Real>& points);

// ---- kernels by definition ---------------------------------------------------------------------

enum class KernelType { linear, rbf, polynomial, cosine, laplacian };

struct Kernel {
  KernelType type = KernelType::linear;
  Real gamma = 1;
  int degree = 3;
  Real coef0 = 1;
};

Matrix<Real> kernel_matrix(const Matrix<Real>& points, const Kernel& kernel);
/// The same matrix in double precision.
Matrix<double> rounded(const Matrix<Real>& m);
/// K + eta^2 1 1^T: what appending the row eta 1^T to A means for K.
template <class T>
void add_eta(Matrix<T>& k, Real eta);

// ---- Algorithm 1 -------------------------------------------------------------------------------

enum class Norm { one, two, infinity };
enum class WhenConverged { grow, stop };
// As fwsr::Status; nobody interrupts the oracle, and it has no clock.
enum class Status {
  exemplars_reached,
  converged,
  exhausted,
  iteration_limit,
  interrupted,
  budget_spent,
  error_reached,
  time_limit,
  candidates_exhausted,
};

/// The problem under conditions, all of them at once:
///
///   min over X, Y of  sum_i s_i ||a_i - B_0 y_i - A_C x_i||^2   s.t.   sum_j cost_j ||X^(j)|| <= beta
///
/// where the norm of a row counts every point by its weight. Y is free, so that all points are replaced by what B_0
/// leaves of them, K <- K - K_0 K_00^+ K_0^T, and the points then by sqrt(s_i) a_i.
struct Conditions {
  std::vector<bool> candidates = {};          // empty: all
  std::vector<Index> included = {};           // B_0
  std::vector<Real> weights = {};             // s; empty: 1
  std::vector<Real> costs = {};               // empty: 1
  std::vector<Index> groups = {};             // for every point the number of its group, or empty
  std::vector<Index> floors = {}, caps = {};  // of every group; negative: none
  std::optional<Real> budget = {};
  std::optional<Real> until_error = {};  // of the points without the row of eta
  Real eta = 0;                          // that is in K
};

struct Settings {
  Index exemplars = 1;
  Real beta = 1;  // infinity: simultaneous matching pursuit
  Norm q = Norm::two;
  bool nonneg = false;
  WhenConverged when_converged = WhenConverged::grow;
  Real delta = 1e-8L;  // times f(0), unless absolute
  bool delta_absolute = false;
  Index max_iterations = 1000;
  bool from_scratch = false;  // P = K - K X anew in each step instead of by recursion
  /// For every point the first one with the same numbers; empty: all are different.
  std::vector<Index> copy_of = {};
  Conditions conditions = {};
};

/// One step, as fwsr::Step, and how clear its decisions were.
struct Step {
  Index pick = -1;
  Real f = 0;      // after the step
  Real gap = 0;    // before the step
  Real gamma = 0;  // nu / (beta K_jj) -> 0 in matching pursuit; recorded as 0
  Real beta = 0;
  Real score = 0;
  Index rows = 0;

  /// (best score - largest score different from it) / best score, and for q = 1 and infinity the
  /// same for the choice inside the row: how much rounding it takes to change the direction.
  Real lead = std::numeric_limits<Real>::infinity();
  /// Several rows had exactly the best score, and not because their points are copies.
  bool tied = false;
  /// Several rows had exactly the best score because their points are copies.
  bool copied = false;
  /// Smallest |gap - delta| / f(0) of the tests made since the last step: what it takes to stop or
  /// grow at another moment.
  Real from_delta = std::numeric_limits<Real>::infinity();
  /// |num / den - 1|: what it takes to turn a full step into an ordinary one.
  Real from_full = std::numeric_limits<Real>::infinity();
};

template <class T>
struct Run {
  std::vector<Index> exemplars;  // non-zero rows of X in the order of picking since the last reset
  Matrix<T> x;
  std::vector<Step> trace;
  Step ending;  // the step that was looked at but not taken; `pick` is -1 if none was
  Status status = Status::iteration_limit;
  Real f_at_zero = 0;
  Real beta = 0;
};

/// Runs the algorithm on a kernel matrix. T is the type in which the n x n matrices are kept
/// (double for large n); every sum is long double.
template <class T>
Run<T> select(const Matrix<T>& k, const Settings& settings);

// ---- certificate -------------------------------------------------------------------------------

struct Certificate {
  Real f = 0;
  Real f_at_zero = 0;
  Real gap = 0;
  Real radius_used = 0;
};

/// ||X^(i)||_q.
template <class T>
Real row_norm(const Matrix<T>& x, Index i, Norm q);

/// What B_0 leaves of the points: K - K_0 K_00^+ K_0^T. A pivot below `tolerance` of the largest one ends it.
template <class T>
Matrix<T> beyond(const Matrix<T>& k, const std::vector<Index>& included, Real tolerance = 1e-15L);

/// f, gap and radius of any X, from P = K - K X. Under conditions X is over the candidates alone and unweighted: what
/// is written as codes; floors, caps and budget are left out of account.
template <class T>
Certificate certify(const Matrix<T>& k, const Matrix<T>& x, const Settings& settings, Real beta);

/// ||A - P_T A||^2 by modified Gram-Schmidt, twice, over the points of T. A point that keeps less
/// than `tolerance` of its norm adds no direction.
Real projection_error(const Matrix<Real>& points, const std::vector<Index>& chosen,
                      Real tolerance = 1e-9L);

/// The same from the kernel matrix alone, by Cholesky with pivoting of K_TT; a pivot below
/// `tolerance` of the largest one ends it.
template <class T>
Real projection_error_of_kernel(const Matrix<T>& k, const std::vector<Index>& chosen,
                                Real tolerance = 1e-15L);

/// min_X ||A_T X - A||^2 + rho^2 ||X||^2 + lambda |T|, paper Eq. (1), rho > 0; points by their weights, where there are
/// some.
template <class T>
Real boolean_objective(const Matrix<T>& k, const std::vector<Index>& chosen, Real lambda, Real rho,
                       const std::vector<Real>& weights = {});

}  // namespace oracle
