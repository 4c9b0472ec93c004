// Points as sparse combinations of each other, a_i about sum_j C_ji a_j with C_ii = 0, and exemplars from C: what ssc and
// ssc-omp share.
//
// The exemplars are the points whose rows of C have the largest norm: those that the others use most; behind them, where
// these are too few, points that stand for themselves alone, as no others represent them. With `clusters`
// groups of points are found first, by spectral clustering of |C| + |C|^T (spectral.hpp), and the strongest of each are
// taken in turn, larger clusters first.
#pragma once

#include <span>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/methods/task.hpp"

namespace fwsr {

/// C, column by column.
struct SparseCodes {
  struct Entry {
    Index row = 0;
    double value = 0;
  };
  std::vector<std::vector<Entry>> columns;

  Index size() const { return static_cast<Index>(columns.size()); }
  double nonzeros() const;
};

/// The Euclidean norm of every row.
std::vector<double> row_norms(const SparseCodes& codes);

/// The exemplars that C says, with clusters where these are asked for, and rows of C where codes are. A code of point i
/// by point j is C_ji times scales[i] / scales[j]; empty: C_ji. `more`: what gives more rows, for a warning.
Picks choose_by_rows(const Task& task, const SparseCodes& codes, std::span<const double> scales,
                     const std::string& more);

/// Their common setting.
Parameter clusters_parameter();

/// What choose_by_rows takes, for about `nonzeros` entries in a column.
double by_rows_bytes(const Sizes& sizes, const Settings& settings, double nonzeros);
double by_rows_flops(const Sizes& sizes, const Settings& settings, double nonzeros);

}  // namespace fwsr
