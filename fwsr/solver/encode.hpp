// New points by known ones: codes, the exemplar that stands for each, and what they leave out. A block of points at a
// time; the same answer for any number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/kernel/new_points.hpp"
#include "fwsr/linalg/pass.hpp"

namespace fwsr {

/// How values v between a point and the m known ones become its codes: (v + extra) map + offset.
struct CodeMap {
  Index codes = 0;                      // how many
  std::span<const double> map = {};     // m x codes, row by row; empty: the values themselves
  double extra = 0;                     // eta^2
  std::span<const double> offset = {};  // one a code; empty: none
};

/// Codes of all points, row by row, to `out`.
void write_codes(const NewPoints& points, const CodeMap& how, double* out, int threads,
                 const KeepGoing& keep_going = {});

/// For every point the place of the nearest known one. Answers the sum of the distances as `to` has them.
/// @pre there is one
double find_nearest(const NewPoints& points, const NearestTo& to, std::int64_t* out, int threads,
                    const KeepGoing& keep_going = {});

/// What the known ones add to each other, of the squared norms of the points.
struct Shares {
  std::vector<double> explained = {};  // by each, beyond those before it
  double total = 0;                    // of all points
  double rest = 0;                     // what no known one explains
};
/// With `lower`, Cholesky's factor of the kernel among the known ones (rows of those within the span of others are 0):
/// v = lower u, and |u_j|^2 is what j adds. Without, the known vectors are orthonormal or 0, and u = v.
/// `squares`: the squared norms of the points, where the known ones cannot tell; empty: they can.
Shares find_shares(const NewPoints& points, std::span<const double> lower,
                   std::span<const double> squares, int threads, const KeepGoing& keep_going = {});

}  // namespace fwsr
