// The fused pass: dot products of many points with a few vectors, several points at a time in
// registers, and the update of their scores. Compiled for AVX-512, AVX2 and the baseline, chosen at
// run time. A point's numbers do not depend on where it stands or on its neighbours: eight partial
// sums each, added in one fixed order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/base/narrow.hpp"

namespace fwsr {

/// Vectors for these loops have a multiple of this many entries, zeros behind the last one.
inline constexpr Index pass_lanes = 8;
inline Index padded_length(Index d) {
  return (d + pass_lanes - 1) / pass_lanes * pass_lanes;
}

/// a_l = outer (inner weights_l x_l - means_l - mean): how a stored row x becomes a point.
struct PointNumbers {
  double inner, mean, outer;  // 1, 0, 1 where nothing is to be done
};

/// Rows as they stand in memory.
template <class T>
struct Rows {
  const T* const* rows = nullptr;  // `count` pointers to d numbers each
  Index count = 0;
  Index d = 0;
};
/// Rows and how they become points. `weights` and `means` (padded) may be null: 1 and 0.
template <class T>
struct StoredRows : Rows<T> {
  const PointNumbers* numbers = nullptr;
  const double* weights = nullptr;
  const double* means = nullptr;
};

/// x_i = <row_i, u>, and the like for v and w. Vectors padded.
void dots(const Rows<float>& a, const double* u, double* x);
void dots(const Rows<float>& a, const double* u, const double* v, const double* w, double* x,
          double* y, double* z);
void dots(const Rows<double>& a, const double* u, double* x);
/// The same bits as of the float32 numbers that the narrow ones are.
template <NarrowType T>
void dots(const Rows<T>& a, const double* u, double* x);
/// `count` narrow numbers as float32. They are aligned as their type is.
void widen(NarrowNumber number, const void* from, Index count, float* to);
/// p_i <- outer_i (inner_i p_i - offset) + last: from the product of a row with a vector to that of the
/// point. Where there is no array its second name stands for all.
struct PointProduct {
  const double *inner = nullptr, *outer = nullptr;
  double every_inner = 1, every_outer = 1;
  double offset = 0, last = 0;
};
void finish_products(const PointProduct& how, Index count, double* p);

/// x_i = <a_i, u> of the points that float64 rows become: their means must be taken away before the
/// product, lest an offset take the digits. The same bits as `outer` times the products of what load_rows
/// writes with `outer` 1.
void dots_of_points(const StoredRows<double>& a, const double* u, double* x);

/// c_i and h_i of `count` points after X <- (1 - gamma) X + length e_j v^T, with x = K_ij,
/// y = (K v)_i, z = (P v)_i; scores.hpp says what r, c and h are. Returns the largest c.
struct ScoreStep {
  double gamma = 0, length = 0;
};
double update_scores(const ScoreStep& step, Index count, const double* x, const double* y,
                     const double* z, const double* r, double* c, double* h);

/// The same from products x, y and z with the rows that are still to be finished.
struct PassProducts {
  PointProduct x{}, y{}, z{};
};
double update_scores(const PassProducts& how, const ScoreStep& step, Index count, const double* x,
                     const double* y, const double* z, const double* r, double* c, double* h);

/// The fused pass: x, y and z are the products of the rows with u, v and w, finished; then the scores.
/// The same bits as one after the other.
struct PassVectors {
  const double *u = nullptr, *v = nullptr, *w = nullptr;  // padded
  PassProducts products{};
};
double pass_rows(const Rows<float>& a, const PassVectors& with, const ScoreStep& step,
                 const double* r, double* c, double* h);
template <NarrowType T>
double pass_rows(const Rows<T>& a, const PassVectors& with, const ScoreStep& step, const double* r,
                 double* c, double* h);
/// The same of the points that the rows become: only `last` is left to be added to their products.
double pass_points(const StoredRows<double>& a, const PassVectors& with, const ScoreStep& step,
                   const double* r, double* c, double* h);

/// Up to packed_width vectors, a multiple of pass_lanes (packed.hpp makes them): packed_depth features
/// at a time, of these first features 0, 8, 16, ..., then 1, 9, ...; of each the numbers of all vectors
/// side by side.
inline constexpr Index packed_width = 3 * pass_lanes, packed_depth = 256;
struct PackedView {
  const double* numbers = nullptr;
  Index vectors = 0;
  Index d = 0;
};
/// out[i * out_stride + k] = <row_i, vector_k> for rows of d numbers, `stride` apart. The same bits as
/// `dots` with one vector.
void dots(const double* a, Index count, Index stride, const PackedView& with, double* out,
          Index out_stride);

/// out[k * out_stride + i] = a[i * columns + k].
void transpose(const double* a, Index rows, Index columns, double* out, Index out_stride);

/// How distances from some known points, less what they have in common, come from the values v_e (inner products) of
/// a point with them: add_e + times_e v_e. Squared distances have the squared norms for add, and times = -2.
struct NearestTo {
  const double* add = nullptr;
  const double* times = nullptr;
  Index count = 0;
  double rounding = 0;  // of the terms: who is beyond the least by no more than this is as near
};
/// What rounding leaves of squared distances that are computed from values in double, and in float32.
inline constexpr double nearest_rounding = 0x1p-46, nearest_rounding_single = 0x1p-20;
/// The first of the nearest, and the least distance as above.
struct NearestKnown {
  Index place = 0;
  double least = 0;
};
/// @pre to.count > 0
NearestKnown nearest(const double* values, const NearestTo& to);

/// Sums over a stored row, in one visit to memory: what centring and scaling start from. Of the
/// numbers of a point only `inner` is used.
struct RowSums {
  double largest;  // |x|; infinite when any entry is not finite
  double mean;     // of inner weights x; 0 when no mean is wanted
  double squares;  // of inner weights x - means - mean
};
void sum_rows(const StoredRows<float>& a, bool center, RowSums* out);
void sum_rows(const StoredRows<double>& a, bool center, RowSums* out);

/// out_l = a_l - shift_l for every row, `stride` apart; `shift` (padded) may be null.
void load_rows(const StoredRows<float>& a, float* out, Index stride, const double* shift = nullptr);
void load_rows(const StoredRows<float>& a, double* out, Index stride,
               const double* shift = nullptr);
void load_rows(const StoredRows<double>& a, float* out, Index stride,
               const double* shift = nullptr);
void load_rows(const StoredRows<double>& a, double* out, Index stride,
               const double* shift = nullptr);

/// sums_b += sum_e y_e block[slots_e, b] for b < sparse_width: one sparse row times the columns of a
/// block that are stored by feature.
inline constexpr Index sparse_width = 32;
void add_sparse(const std::int32_t* slots, const double* y, Index count, const double* block,
                double* sums);

/// sums_l += a_il over `count` rows, d apart.
void add_rows(const float* a, Index count, Index d, double* sums);
void add_rows(const double* a, Index count, Index d, double* sums);

/// Adds the upper triangle of a d x d matrix to that of another.
void add_triangle(const float* a, Index d, double* sums);
void add_triangle(const double* a, Index d, double* sums);

/// sum_l a_l b_l in double.
double dot(const float* a, const float* b, Index d);

}  // namespace fwsr
