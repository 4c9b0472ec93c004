#include "fwsr/solver/middle.hpp"

#include <algorithm>

#include "fwsr/base/at.hpp"
#include "fwsr/base/segments.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/pass.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/solver/nearest_exemplar.hpp"

namespace fwsr {

namespace {

constexpr Index block_rows = 256;

/// Points first .. last less the shift.
std::vector<double> shifted_rows(const Points& points, const MiddleTables& z, Index first,
                                 Index last) {
  std::vector<double> a(at((last - first) * z.dim));
  points.rows(first, last, a.data());
  for (Index i = 0; i < last - first; ++i)
    for (Index l = 0; l < z.dim; ++l) a[at(i * z.dim + l)] -= z.shift[at(l)];
  return a;
}

}  // namespace

Moved move_to_middles(MiddlePoints& points, Moved moved, Index rounds, const TellMoved& tell) {
  const Index most = rounds > 0 ? rounds : 1000;  // where rounding might move for ever
  try {
    moved.ended |= moved.exemplars.empty();
    while (!moved.ended && moved.rounds < most) {
      const Middles found = points.middles(moved.exemplars);
      ++moved.rounds;
      moved.ended = true;
      for (std::size_t p = 0; p < found.offers.size(); ++p)
        if (found.offers[p].gain > found.least) {
          moved.exemplars[p] = found.offers[p].point;
          ++moved.moves;
          moved.ended = false;
        }
      if (tell) tell(moved);
    }
  } catch (const Interrupted&) {
    moved.interrupted = true;
  }
  return moved;
}

MiddleTables middle_tables(const std::vector<Index>& exemplars, std::vector<double> rows, Index dim,
                           const MiddleWeights& weights) {
  MiddleTables z;
  z.dim = dim;
  z.weights = weights;
  z.exemplars = exemplars;
  z.rows = std::move(rows);
  z.shift.assign(at(dim), 0.0);
  const std::size_t k = exemplars.size();
  for (std::size_t l = 0; l < z.rows.size(); ++l)
    z.shift[l % at(dim)] += z.rows[l] / static_cast<double>(k);
  for (std::size_t l = 0; l < z.rows.size(); ++l) z.rows[l] -= z.shift[l % at(dim)];
  return z;
}

void add_means(MiddleTables& z, std::span<const double> sums) {
  const Index d = z.dim, k = std::ssize(z.exemplars);
  constexpr double rounding = 1e-10;  // of what the exemplars' places explain
  z.means.resize(at(k * d));
  double spread = 0;
  for (Index p = 0; p < k; ++p) {
    const double* const sum = sums.data() + p * (d + 1);
    double* const mean = z.means.data() + p * d;
    const double weight = sum[d];  // 1 at least: an exemplar stands for itself
    for (Index l = 0; l < d; ++l) mean[l] = sum[l] / weight;
    z.weight.push_back(weight);
    z.at.push_back(squared_distance(z.rows.data() + p * d, mean, d));
    spread += weight * (dot(mean, mean, d) + z.at.back());
  }
  z.least = rounding * spread;
}

SegmentSums<std::vector<double>> group_sums(const Points& points, const MiddleTables& z,
                                            std::vector<Index>& groups, int threads,
                                            const KeepGoing& keep_going) {
  const Index n = points.size(), d = z.dim, k = std::ssize(z.exemplars);
  const Portion& portion = points.portion();
  std::vector<double> squares;
  for (Index p = 0; p < k; ++p)
    squares.push_back(dot(z.rows.data() + p * d, z.rows.data() + p * d, d));
  const NearestExemplar nearest(z.exemplars, std::move(squares), nearest_rounding);
  groups.assign(at(n), 0);
  const auto add_block = [&](Index first, Index last, std::vector<double>& sum) {
    throw_if_cancelled(keep_going);
    const Index count = last - first;
    const std::vector<double> a = shifted_rows(points, z, first, last);
    std::vector<double> products(at(count * k));
    multiply(Product<double>{.op_b = Op::transpose,
                             .m = count,
                             .n = k,
                             .k = d,
                             .left = a.data(),
                             .right = z.rows.data(),
                             .out = products.data()});
    for (Index i = 0; i < count; ++i) {
      const Index p = nearest.of(portion.first + first + i, products.data() + i * k);
      groups[at(first + i)] = p;
      const double* const own = a.data() + i * d;
      const double weight = z.weights.of(squared_distance(own, z.rows.data() + p * d, d));
      double* const to = sum.data() + p * (d + 1);
      for (Index l = 0; l < d; ++l) to[l] += weight * own[l];
      to[d] += weight;
    }
  };
  const double bytes = 8.0 * static_cast<double>(k * (d + 1));
  const double work = 2.0 * static_cast<double>(d) * static_cast<double>(k + 1);
  SegmentSums<std::vector<double>> total;
  sum_segments<std::vector<double>>(
      threads_for(threads, work * static_cast<double>(n)), portion, bytes,
      work * static_cast<double>(portion.segment()),
      [&](int, std::vector<double>& sum, Index first, Index last) {
        sum.assign(at(k * (d + 1)), 0.0);
        for (Index from = first; from < last; from += block_rows)
          add_block(from, std::min(last, from + block_rows), sum);
      },
      [&](const std::vector<double>& sum, int) {
        append_segment(portion, total, sum, [](auto& to, const std::vector<double>& more) {
          to.resize(more.size());
          for (std::size_t l = 0; l < more.size(); ++l) to[l] += more[l];
        });
      });
  return total;
}

std::vector<Offer> nearest_to_means(const Points& points, const MiddleTables& z,
                                    const std::vector<Index>& groups, int threads,
                                    const KeepGoing& keep_going) {
  const Index n = points.size(), d = z.dim, before = points.portion().first;
  std::vector<std::vector<Offer>> parts(at(block_count(n, block_rows)));
  const double work = 3.0 * static_cast<double>(n) * static_cast<double>(d);
  for_blocks(
      threads_for(threads, work), n,
      [&](Index block, Index first, Index last) {
        throw_if_cancelled(keep_going);
        const std::vector<double> a = shifted_rows(points, z, first, last);
        std::vector<Offer>& offers = parts[at(block)];
        offers.resize(z.weight.size());
        for (Index i = first; i < last; ++i) {
          const Index p = groups[at(i)];
          const double far =
              squared_distance(a.data() + (i - first) * d, z.means.data() + p * d, d);
          offers[at(p)].see({.point = before + i, .gain = z.weight[at(p)] * (z.at[at(p)] - far)},
                            z.least);
        }
      },
      block_rows);
  std::vector<Offer> best(z.weight.size());
  for (const std::vector<Offer>& part : parts)
    for (std::size_t p = 0; p < part.size(); ++p) best[p].see(part[p], z.least);
  return best;
}

}  // namespace fwsr
