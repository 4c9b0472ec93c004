// What is left of the points when their projections on those chosen so far are taken away: common
// to pivoted QR, matching pursuit, greedy subset selection, determinants, and projection and
// matching.
//
//   a_i   point i, or its image in the space of a kernel
//   E     the projection onto the complement of the span of the picks
//   r_i   = E a_i, the residual; R has all of them
//   s_i   = ||r_i||^2                           (squares)
//   g_i   = ||R^T r_i||^2 = sum_j <r_i, r_j>^2  (energies)
//   C     = sum_j a_j a_j^T
//
// Points that count by weights s_j do so in C, and in every sum over j.
//
// Pick p adds the direction q = r_p / ||r_p||. With x_i = <a_i, q> and y_i = <a_i, E C q>
//
//   s_i <- s_i - x_i^2
//   g_i <- g_i - 2 x_i y_i + x_i^2 sum_j x_j^2
//
// which loses digits when little is left: a number that has fallen below a millionth of what it was
// when it was last computed from r_i itself is computed from r_i again. So nothing is worse than
// ten digits of what rounding of the points leaves of it.
//
// With a ridge mu > 0 the picks T are not projected upon but regressed on: in place of E stands
//
//   P     = (I + A_T A_T^T / mu)^-1, which is no projection
//   r_i   = P a_i,   s_i = <a_i, r_i>,   g_i = <r_i, C r_i> = sum_j <r_i, a_j>^2
//
// and pick p has q = r_p / sqrt(mu + s_p). The recursions are the same. Nothing but a point that is zero has s_i = 0, so
// that a copy of a pick has something left; the pick itself is given s_i = 0, and is not taken again.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/linalg/large_array.hpp"
#include "fwsr/methods/task.hpp"
#include "fwsr/methods/ties.hpp"

namespace fwsr {

class Residuals {
 public:
  virtual ~Residuals() = default;

  Index size() const { return static_cast<Index>(squares_.size()); }
  /// Picks taken.
  Index rank() const { return rank_; }
  /// Zero: the point is in the span of the picks, but for rounding.
  std::span<const double> squares() const { return squares_; }
  /// mu, in the units of the squares.
  double ridge() const { return ridge_; }
  /// Zero where the square is.
  std::span<const double> energies() const { return energies_; }
  /// The point with the largest of some scores made of these numbers, of equal ones the first; -1 when none is
  /// positive.
  template <class Score>
  Index best(const Score& score, double width = tie_width) const {
    const Index most = first_largest(size(), score, 0);
    return most < 0 ? -1 : first_largest(size(), score, std::min(0.5, width + doubt(most)));
  }
  /// Takes a point in: projects all others onto its complement. Returns ||r_pick|| before, with a ridge
  /// sqrt(mu + s_pick); zero when the pick turns out to be in the span of the others, and then nothing else changes.
  double take(Index pick);
  /// The same of a point that was there already: without a ridge.
  void take_free(Index point);

 protected:
  /// Points computed again at once: a multiple of every micro-kernel's height, so that equal points
  /// get equal bits.
  static constexpr Index batch = 96;
  static constexpr Index sweep_rows = 384;  // points whose products are made at once

  Residuals(const Task& task, bool energies);
  /// What `take` returns, exactly, x and (where there are energies) y of all points; zero when s_pick <= floor.
  virtual double append(Index pick, std::span<double> x, std::span<double> y) = 0;
  /// s_i and (where `energies` is not null) g_i of at most `batch` points, from r_i. Called from
  /// many threads.
  virtual void compute(std::span<const Index> some, double* squares, double* energies) const = 0;
  /// Which part of s_i rounding of the points themselves may be.
  virtual double doubt(Index i) const = 0;
  /// After every pick: whether all energies have to be computed again.
  virtual bool renew() { return false; }

  const Task& task() const { return task_; }
  /// A number of every point, each times its weight.
  std::vector<double> weighted(std::vector<double> values) const;
  double floor() const { return floor_; }
  /// Of the point that is taken in: its ridge, and up to which square it is in the span of the others.
  double ridge_of_pick() const { return free_ ? 0.0 : ridge_; }
  double floor_of_pick() const { return free_ ? free_floor * largest_ : floor_; }
  double largest_square() const { return largest_; }  // before any pick
  double total() const;                               // of the squares, each by its weight
  /// `ridge` in units of the mean square. Squares up to `relative_floor` of the largest are zero, also
  /// later on where there is no ridge.
  void start(std::vector<double> squares, double relative_floor, double ridge);
  void start_energies(std::vector<double> energies);
  void compute_again(std::span<const Index> points);
  void compute_all_again();

 private:
  std::vector<Index> subtract(double sum_of_squares);

  const Task& task_;
  Index rank_ = 0;
  double floor_ = 0;  // squares up to here are rounding
  double largest_ = 0;
  double ridge_ = 0;
  bool free_ = false;  // while such a point is taken in, beside a ridge
  /// s_i = <a_i, P a_i> is right to rounding of ||a_i||^2.
  static constexpr double free_floor = 1e-12;
  bool has_energies_ = false;
  std::vector<double> squares_, energies_, computed_squares_, computed_energies_;
  std::vector<double> x_, y_;
};

/// Of vectors: keeps an orthonormal basis of the span, no copy of the points. C is held where d < n
/// and it is needed, and made again from the residuals when they have become small; else products
/// with it are two passes over the points.
class VectorResiduals final : public Residuals {
 public:
  enum class Keep { squares, covariance, energies };
  /// `most` picks; residuals below `tolerance` times the largest norm are rounding. `ridge` in units of the mean square.
  VectorResiduals(const Task& task, Index most, double tolerance, Keep keep, double ridge = 0);

  /// v <- E v, twice for what rounding leaves; with a ridge P v, once.
  void project(std::span<double> v) const { project(v, rank()); }
  /// E C v for v = E v.
  std::vector<double> image(std::span<const double> v) const;
  /// <a_i, v> of all points.
  void products(std::span<const double> v, std::span<double> out) const;

 private:
  double append(Index pick, std::span<double> x, std::span<double> y) override;
  void compute(std::span<const Index> some, double* squares, double* energies) const override;
  double doubt(Index i) const override;
  bool renew() override;
  void project(std::span<double> v, Index rank) const;
  int times() const { return ridge() > 0 ? 1 : 2; }  // that it is applied
  void residual_rows(Index count, Index rows, double* a) const;
  void products(std::span<const double> v, std::span<const double> w, std::span<double> x,
                std::span<double> y) const;
  void energies_by_products(Index count, Index height, const double* residuals,
                            double* energies) const;
  void make_covariance();

  const Points& points_;
  Index d_;
  Keep keep_;
  std::vector<double> basis_;       // rank x d: every q
  std::vector<double> covariance_;  // d x d of the residuals when it was made; with a ridge C
  double covariance_total_ = 0;     // its trace
};

/// In the space of a kernel: the rows of the pivoted Cholesky factor, rank x n.
class KernelResiduals final : public Residuals {
 public:
  static constexpr Index held_points = 30000;  // of which half of K is held: 3.6 GB
  KernelResiduals(const Task& task, Index most, double tolerance, bool energies, double ridge = 0);

 private:
  double append(Index pick, std::span<double> x, std::span<double> y) override;
  void compute(std::span<const Index> some, double* squares, double* energies) const override;
  double doubt(Index i) const override;
  void energies_by_rows(std::span<const Index> some, double* energies) const;
  double square_of(Index i) const;

  std::unique_ptr<KernelMatrix> held_;
  const KernelMatrix* kernel_;
  double rounding_;            // of a square, in units of the largest
  LargeArray<double> factor_;  // most x n
};

/// By vectors where the task has them and the kernel is their inner product.
std::unique_ptr<Residuals> make_residuals(const Task& task, Index most, double tolerance,
                                          bool energies, double ridge = 0);
/// The setting of methods that may have a ridge: mu in units of the mean square, 0: none.
Parameter ridge_parameter();
/// What they hold and do for k picks.
Cost residuals_cost(const Sizes& sizes, bool energies);
/// Time of one pass over all points, in operations of a matrix product.
double pass_flops(const Sizes& sizes);

/// Relative residuals of vectors of d numbers that rounding makes out of nothing.
double rounding_tolerance(Index d);

/// Pivoted QR: the point with the largest residual, time and again. Fewer than `count` when no
/// others are left.
struct Pivots {
  std::vector<Index> points;
  std::vector<double> norms;  // |R_tt|: of the residuals when they were chosen
};
Pivots largest_residuals(const Task& task, Index count);

}  // namespace fwsr
