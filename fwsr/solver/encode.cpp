#include "fwsr/solver/encode.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/base/check_view.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/blas_room.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/solver/prepared_problem.hpp"
#include "fwsr/solver/select.hpp"

namespace fwsr {

namespace {

/// Calls work(block, first, last, values, other numbers of these points) for all blocks of points. The values go to
/// `all`, where there is room for all of them, else to a place that the next block uses again.
template <class Work>
void for_values(const NewPoints& points, double* all, bool diagonals, int threads,
                const KeepGoing& keep_going, const Work& work) {
  const SerialBlas serial;
  make_room_for_products(threads);
  struct Scratch {
    std::vector<double> values;
    NewPoints::Block block;
  };
  std::vector<Scratch> scratch(at(std::max(1, threads)));
  const Index m = points.known().count();
  for_blocks(
      threads, points.size(),
      [&](int thread, Index b, Index first, Index last) {
        throw_if_cancelled(keep_going);
        Scratch& own = scratch[at(thread)];
        own.values.resize(all ? 0 : at((last - first) * m));
        double* const values = all ? all + first * m : own.values.data();
        points.compare(first, last, values, diagonals, own.block);
        work(b, first, last, values, own.block);
      },
      points.block_rows());
}

/// Codes of `rows` points from their values, which are used up. Without a map both are in one place.
void codes_of(const CodeMap& how, Index known, Index rows, double* values, double* out) {
  if (how.extra != 0)
    for (Index e = 0; e < rows * known; ++e) values[e] += how.extra;
  if (known == 0)
    std::fill_n(out, rows * how.codes, 0.0);
  else if (!how.map.empty())
    multiply(Product<double>{.m = rows,
                             .n = how.codes,
                             .k = known,
                             .left = values,
                             .right = how.map.data(),
                             .out = out});
  for (Index i = 0; i < rows && !how.offset.empty(); ++i)
    for (Index t = 0; t < how.codes; ++t) out[i * how.codes + t] += how.offset[at(t)];
}

/// v <- lower^-1 v, with zeros for the rows that are.
void substitute(std::span<const double> lower, Index m, double* v) {
  for (Index t = 0; t < m; ++t) {
    const double* const row = lower.data() + t * m;
    v[t] = row[t] > 0 ? (v[t] - dot(row, v, t)) / row[t] : 0.0;
  }
}

/// ||points - values vectors||^2 of some rows: what orthonormal vectors leave of them. The points are used up.
double left_of(const KnownPoints& known, const double* values, std::vector<double>& points,
               Index rows) {
  const Index d = known.features(), m = known.count();
  if (m > 0)
    multiply(Product<double>{.m = rows,
                             .n = d,
                             .k = m,
                             .a = -1,
                             .left = values,
                             .right = known.vectors().data(),
                             .b = 1,
                             .out = points.data()});
  return dot(points.data(), points.data(), rows * d);
}

}  // namespace

void write_codes(const NewPoints& points, const CodeMap& how, double* out, int threads,
                 const KeepGoing& keep_going) {
  const Index m = points.known().count();
  for_values(points, how.map.empty() ? out : nullptr, false, threads, keep_going,
             [&](Index, Index first, Index last, double* values, NewPoints::Block&) {
               codes_of(how, m, last - first, values, out + first * how.codes);
             });
}

double find_nearest(const NewPoints& points, const NearestTo& to, std::int64_t* out, int threads,
                    const KeepGoing& keep_going) {
  const Index m = points.known().count();
  std::vector<double> sums(at(block_count(points.size(), points.block_rows())));
  for_values(points, nullptr, false, threads, keep_going,
             [&](Index b, Index first, Index last, double* values, NewPoints::Block&) {
               for (Index i = first; i < last; ++i) {
                 const NearestKnown found = nearest(values + (i - first) * m, to);
                 out[i] = found.place;
                 sums[at(b)] += found.least;
               }
             });
  double sum = 0;
  for (const double s : sums) sum += s;
  return sum;
}

Shares find_shares(const NewPoints& points, std::span<const double> lower,
                   std::span<const double> squares, int threads, const KeepGoing& keep_going) {
  const KnownPoints& known = points.known();
  const Index m = known.count();
  const bool vectors = lower.empty() && known.linear();
  std::vector<Shares> parts(at(block_count(points.size(), points.block_rows())));
  for_values(points, nullptr, squares.empty(), threads, keep_going,
             [&](Index b, Index first, Index last, double* values, NewPoints::Block& block) {
               Shares& part = parts[at(b)];
               part.explained.assign(at(m), 0.0);
               for (Index i = first; i < last; ++i) {
                 double* const own = values + (i - first) * m;
                 if (!lower.empty()) substitute(lower, m, own);
                 for (Index j = 0; j < m; ++j) part.explained[at(j)] += own[j] * own[j];
                 part.total += squares.empty() ? block.diagonals[at(i - first)] : squares[at(i)];
               }
               double explained = 0;
               for (const double e : part.explained) explained += e;
               // Vectors keep twice the digits of their inner products.
               part.rest = !vectors             ? part.total - explained
                           : block.rows.empty() ? std::max(0.0, part.total - explained)
                                                : left_of(known, values, block.rows, last - first);
             });
  Shares all{.explained = std::vector<double>(at(m))};
  for (const Shares& part : parts) {
    for (Index j = 0; j < m; ++j) all.explained[at(j)] += part.explained[at(j)];
    all.total += part.total;
    all.rest += part.rest;
  }
  all.rest = std::max(0.0, all.rest);
  return all;
}

std::vector<double> encode(const PointsView& points, const SelectOptions& options,
                           const Selection& selection, const PointsView& new_points) {
  if (!selection.coefficients)
    throw Error("codes of new points need a selection with q = 2 and without a sign constraint");
  if (options.kernel.type == KernelType::precomputed)
    throw Error("codes of new points need the points; a precomputed kernel has none");
  check_view(points);
  check_view(new_points);
  const int threads = threads_of(options);
  const Coefficients& c = *selection.coefficients;
  const Index d = cols_of(points), m = static_cast<Index>(c.basis.size());
  for (const Index b : c.basis)
    if (b < 0 || b >= rows_of(points))
      throw Error(fmt::format("the selection is of other points: it speaks of point {}, of {}", b,
                              rows_of(points)));
  Kernel kernel = options.kernel;  // with the gamma that was used, found from the data or given
  if (selection.gamma > 0) kernel.gamma = selection.gamma;
  const Frame frame = frame_of(points, preprocessing_of(options), threads);
  std::vector<double> basis(at(m * d)), map(c.theta.size());
  for (Index b = 0; b < m; ++b)
    load_in_frame(frame, points, c.basis[at(b)], c.basis[at(b)] + 1, basis.data() + b * d);
  const auto k = static_cast<Index>(selection.exemplars.size());
  for (Index t = 0; t < k; ++t)
    for (Index b = 0; b < m; ++b) map[at(b * k + t)] = c.theta[at(t * m + b)];
  const KnownPoints known(frame, kernel, std::move(basis), d);
  std::vector<double> codes(at(checked_bytes(rows_of(new_points), k, 1)));
  write_codes(NewPoints(known, new_points),
              {.codes = k, .map = map, .extra = selection.eta * selection.eta, .offset = c.offset},
              codes.data(), threads);
  return codes;
}

}  // namespace fwsr
