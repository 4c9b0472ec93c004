// What the points alone say, whatever the radius: C = sum_i a_i a_i^T and r_i = a_i^T C a_i. Every run on them can
// share it. r stays where the points are.
#pragma once

#include <span>
#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/linalg/gram.hpp"
#include "fwsr/prep/points.hpp"

namespace fwsr {

/// Under conditions (conditions.hpp) C counts every point by its weight, C = sum_i s_i a_i a_i^T, and is that of what the
/// included exemplars leave of the points, C <- (I - Q) C (I - Q); r is of the candidates.
struct Covariance {
  std::vector<double> c;           // C, dim x dim
  double r_error = 0;              // what rounding may have done to r
  double largest_r = 0;            // no r is more than this
  bool single = false;             // from float32 products
  Index id = 0;                    // by which the points know their r
  std::vector<double> whole = {};  // C before anything was taken away; empty: nothing was

  const std::vector<double>& with_included() const { return whole.empty() ? c : whole; }
};

/// C <- (I - Q) C (I - Q), Q the projection on the span of some orthonormal rows; none: as it is.
void take_from(std::span<const double> orthonormal, Index dim, Covariance& of);

Gram total_gram(std::vector<SegmentSums<Gram>> sums);

// In double. `weights`: of the points; empty: 1 each.
SegmentSums<Gram> moments_in_double(const Points& points, const std::vector<double>& weights,
                                    int threads, const KeepGoing& keep_going);
/// Rows of points first .. last times sqrt(s_i).
void times_roots(const std::vector<double>& weights, Index first, Index last, Index dim,
                 double* rows);
std::vector<double> forms_in_double(const Points& points, std::span<const double> c, int threads,
                                    const KeepGoing& keep_going);

/// What the points have in common would take most digits of float32 products. They are formed of b_i = a_i - m, with m
/// the mean of some points, and what m adds is added in double:
///
///   B = sum_i b_i b_i^T    s = sum_i b_i    C = B + m s^T + s m^T + n m m^T
///   r_i = b_i^T B b_i + 2 (b_i.m) (b_i.s) + n (b_i.m)^2 + 2 b_i.(C m) + m^T C m
SegmentSums<Gram> moments_in_single(const Points& points, std::span<const double> m, int threads,
                                    const KeepGoing& keep_going);
struct SingleVectors {
  std::span<const double> m, s, cm;  // dim numbers each
};
struct SingleForms {
  std::vector<double> r;
  double most = 0, longest = 0;  // of all b_i^T B b_i and ||b_i||^2: what float32 has rounded
};
/// `of`: how many points the sums are of.
SingleForms forms_in_single(const Points& points, std::span<const double> b,
                            const SingleVectors& vectors, Index of, int threads,
                            const KeepGoing& keep_going);
/// C, and C m, from the sums.
struct SingleCovariance {
  std::vector<double> c, cm;
};
SingleCovariance covariance_from(const Gram& gram, const std::vector<double>& m, Index n);
double error_of_single(const SingleVectors& vectors, double most, double longest, Index n);
/// No r is more than this: tr C (||b|| + ||m||)^2.
double bound_of_single(std::span<const double> c, std::span<const double> m, double longest);

// With an eta from what is known without: eta borders C by one row and column, and with s = sum_i a_i
//   r_i <- r_i + 2 eta^2 a_i.s + n eta^4.
// `scale`: how much larger the points are with eta than without.
struct Bordered {
  double scale = 1, eta = 0;
  Index n = 0, dim = 0;  // of the points with eta
};
std::vector<double> bordered_covariance(const std::vector<double>& c, const std::vector<double>& s,
                                        const Bordered& with);
std::vector<double> bordered_forms(const Points& plain, const std::vector<double>& r,
                                   const std::vector<double>& s, const Bordered& with, int threads);

}  // namespace fwsr
