// What is asked of the points when a run has ended, block of rows by block of rows: the parts that are no matrix products
// (solver/linear_sweep.hpp, solver/exchange.hpp say what they are).
#pragma once

#include "fwsr/cuda/device.hpp"

namespace fwsr::cuda {

/// Sums over `part_rows` points each, which the host adds up first to last.
inline constexpr Index part_rows = 64;
struct SweepSums {
  double plain_trace = 0, absolute = 0, residual_errors = 0, longest = 0, roughest = 0;
};

/// `rows` points from `first` on. All matrices row by row.
struct SweepBlock {
  Index first = 0, rows = 0, k = 0;
  bool full = false;  // for the sums, not the nearest alone
  // Codes, for the sums; products with the exemplars: k each.
  const double *x = nullptr, *s = nullptr;
  // Of all points, from point 0 on; weights may be null: 1 each.
  const double* weights = nullptr;
  const double *squares = nullptr, *mean = nullptr, *outer = nullptr;
  double every_outer = 1, means_norm = 0, root_features = 0, eta_squared = 0;
  // Of the exemplars.
  const double *exemplar_squares = nullptr, *norms = nullptr, *roughness = nullptr;
  double of_codes = 0, rounding = 0;
  // Out.
  SweepSums* sums = nullptr;  // of every part_rows points of all
  int* nearest = nullptr;     // of all points
};
void launch_sweep_rows(const Device& device, const SweepBlock& block);
/// nearest[point_t] = t, of points between these: exemplars stand for themselves.
struct PointRange {
  Index first = 0, last = 0;
};
void launch_themselves(const Device& device, const Index* points, Index k, PointRange between,
                       int* nearest);
/// How many points have each exemplar for the nearest.
void launch_count(const Device& device, const int* nearest, Index n, unsigned long long* counts);
/// The points whose score is at least this: up to `most` of them (unordered), and how many there are.
void launch_collect(const Device& device, const double* scores, Index n, double least, Index most,
                    Index* found, unsigned long long* count);

/// For every exemplar the best offer of rows first .. first + rows, joined with what `best` holds.
struct OfferOnCard {
  Index point;
  double gain;
};
/// Which exchanges are permitted (solver/permitted.hpp); null: that does not decide.
struct PartnersOnCard {
  const double *costs = nullptr, *most = nullptr;  // of the candidates, of the exemplars
  const Index *groups = nullptr, *of_exemplars = nullptr, *spare = nullptr, *room = nullptr;
  const Index* refused = nullptr;  // places of an exemplar and of a candidate
  Index refusals = 0;
};
struct OfferBlock {
  Index first = 0, rows = 0, k = 0;
  const double* bw = nullptr;                             // rows x 2 k: b, and w behind it
  const double *y = nullptr, *x = nullptr, *e = nullptr;  // rows x k
  const double *r = nullptr, *squares = nullptr;          // of all candidates
  const char* chosen = nullptr;                           // of all candidates: is an exemplar
  PartnersOnCard partners;
  double eta_squared = 0, mu = 0, step = 0;
  const double *kappa = nullptr, *per_m = nullptr;
  double* st = nullptr;          // room for 2 x rows
  OfferOnCard* parts = nullptr;  // room for parts x k
  OfferOnCard* best = nullptr;   // k
};
void launch_offers(const Device& device, const OfferBlock& block);
void launch_no_offers(const Device& device, OfferOnCard* best, Index k);
/// marks[places_c] = 1.
void launch_mark(const Device& device, const Index* places, Index count, char* marks);

/// x <- w - x, for the rows of an OfferBlock.
void launch_subtract_from(const Device& device, const double* bw, double* x, Index rows, Index k);
/// c_i = <y_i, z_i>, h_i = <a_i, z_i> of rows of d numbers.
void launch_scores(const Device& device, const double* a, const double* y, const double* z,
                   Index rows, Index d, double* c, double* h);
/// bounds of squared scores v_i that are known to error (squares_i + eta^2) prices_i.
struct ScoreErrors {
  const double* squares = nullptr;
  double eta_squared = 0, error = 0;
  const double* prices = nullptr;  // null: 1 each
};
void launch_bounds(const Device& device, const double* v, const ScoreErrors& errors, Index n,
                   double* least, double* most);
/// v_i <- v_i times_i; rows of d numbers times the roots of `times`.
void launch_times(const Device& device, const double* times, Index n, double* v);
void launch_times_roots(const Device& device, const double* times, Index rows, Index d, double* v);
/// least_i <- min(least_i, squares_i + of_exemplars_t - 2 s_it) over all t, of rows of k products with exemplars; from the
/// differences of rows of `dim` numbers where that is below `doubtful` of the squares, and 0 below `nothing` of them without
/// eta.
struct DistanceBlock {
  Index rows = 0, k = 0, dim = 0;
  const double *points = nullptr, *exemplars = nullptr;
  double doubtful = 0, nothing = 0, eta_squared = 0;
  const double *s = nullptr, *squares = nullptr, *of_exemplars = nullptr;
  double* least = nullptr;
};
void launch_lower(const Device& device, const DistanceBlock& block);
/// v_place <- value at these places.
void launch_set_at(const Device& device, const Index* places, Index count, double value, double* v);
/// out_i = v_i, or -infinity where the price is 0; without prices v_i.
void launch_permitted(const Device& device, const double* v, const double* prices, Index n,
                      double* out);
/// v_i <- v_i and its width (distance_width of solver/distances.hpp) of points of these squared norms.
struct Widths {
  const double* squares = nullptr;
  double eta_squared = 0;
};
void launch_widen(const Device& device, const Widths& widths, Index n, double* v);
/// Of a d x d matrix what is above its panels of columns on the diagonal counts twice.
void launch_double_above(const Device& device, Index panel, Index d, double* matrix);
/// I is added to a d x d matrix.
void launch_add_identity(const Device& device, Index d, double* matrix);

}  // namespace fwsr::cuda
