// Entries of K on the card: the kernel's values from inner products or distances of its points (kernel/formula.hpp), and
// what is done with rows of them. All sums are in double, and added in one order.
#pragma once

#include "fwsr/base/index.hpp"
#include "fwsr/cuda/device.hpp"

namespace fwsr::cuda {

/// Points in double, row by row, less their middle where the kernel is one of distances.
struct PlainRows {
  const double* rows = nullptr;
  const double* squares = nullptr;   // ||a_i||^2
  const double* diagonal = nullptr;  // K_ii
  Index n = 0, d = 0;
};

/// What makes K_ij of an inner product, or of a distance.
struct EntryFormula {
  enum class Of { products, powers, squared_distances, absolute_distances };
  Of of = Of::products;
  double gamma = 1, coef0 = 0;
  int degree = 1;
  double factor = 1, extra = 0;  // factor k + extra
  double far = 0;  // gamma ||a||^2 beyond which squared distances come from differences
};

/// Rows first .. first + rows of K, from this column to the last.
struct EntryBlock {
  Index first = 0, rows = 0, column = 0;
};

/// ||a_i - a_j||_1.
void launch_absolute_distances(const Device& device, const PlainRows& points,
                               const EntryBlock& block, double* out);
/// From products or L1 distances, row by row: whole rows of K, in place.
void launch_entries(const Device& device, const EntryFormula& formula, const PlainRows& points,
                    const EntryBlock& block, double* values);
/// The same to where they belong in K, n x n, on both sides of the diagonal. @pre block.column is block.first
template <class T>
void launch_entries_to(const Device& device, const EntryFormula& formula, const PlainRows& points,
                       const EntryBlock& block, const double* values, T* k);
/// A tile of K to where it belongs, on both sides of the diagonal: rows first_row .. and columns first_column .., which
/// are no further left.
struct TilePlace {
  Index first_row = 0, rows = 0, first_column = 0, columns = 0, n = 0;
};
template <class T>
void launch_place(const Device& device, const TilePlace& place, const T* tile, T* k);

/// Rows of K, n entries each.
template <class T>
struct EntryRows {
  const T* k = nullptr;
  Index rows = 0, n = 0;
};
/// out_c = K x_c: `count` vectors of n numbers, one after the other; out_c begins at out + c stride.
template <class T>
void launch_products(const Device& device, const EntryRows<T>& k, const double* x, Index count,
                     double* out, Index stride);
/// out_i = sum_l w_l K_il^2; no weights: 1 each.
template <class T>
void launch_squares(const Device& device, const EntryRows<T>& k, const double* weights,
                    double* out);
/// What is left of K's rows, and sums of it: squares_i = sum_l w_l p_il^2, with_k_i = sum_l w_l p_il K_il (null: not
/// wanted).
template <class T>
void launch_left_sums(const Device& device, const EntryRows<T>& k, const double* left,
                      const double* weights, double* squares, double* with_k);
template <class T>
void launch_widen(const Device& device, const EntryRows<T>& k, double* out);
/// out = K at rows x columns, row by row.
struct EntryPlaces {
  const Index *rows = nullptr, *columns = nullptr;
  Index row_count = 0, column_count = 0;
};
template <class T>
void launch_entries_at(const Device& device, const T* k, Index n, const EntryPlaces& places,
                       double* out);

}  // namespace fwsr::cuda
