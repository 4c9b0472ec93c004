#include "fwsr/methods/most_correlated.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fwsr/base/at.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/linalg/widest.hpp"
#include "fwsr/methods/first_best.hpp"
#include "fwsr/methods/task.hpp"

namespace fwsr {

namespace {

constexpr double least_score = 1e-12;
constexpr Index lanes = Vector<float>::lanes;

/// How far a product of d numbers in float32 can be from the true one.
double doubt_of(Index d) {
  const double part = static_cast<double>(d + 8) * 0x1p-24;
  return part < 1 ? part / (1 - part) : std::numeric_limits<double>::infinity();
}

Index padded(Index count) {
  return (count + lanes - 1) / lanes * lanes;
}

/// A vector of norm 1 / scale to its direction.
void turn_into(float* direction, const double* vector, double scale, Index d) {
  for (Index l = 0; l < d; ++l) direction[l] = static_cast<float>(vector[l] * scale);
}

/// Whether a number of the row is more than `bound` in size. @pre the row is padded
[[gnu::always_inline]] inline bool any_above(const float* row, Index count, float bound) {
  Floats most{};
  for (Index j = 0; j < count; j += lanes) {
    FloatBits bits;
    __builtin_memcpy(&bits, row + j, sizeof bits);
    bits &= 0x7fffffff;  // the sign
    Floats size;
    __builtin_memcpy(&size, &bits, sizeof size);
    most = most > size ? most : size;
  }
  float all = 0;
  for (Index l = 0; l < lanes; ++l) all = std::max(all, most[l]);
  return all > bound;
}

/// Of rows `stride` apart those with such a number.
void rows_above(const float* rows, Index stride, Index count, const std::vector<float>& bounds,
                std::vector<Index>& found) {
  found.clear();
  const auto rows_of = static_cast<Index>(bounds.size());
  run_widest([&]() __attribute__((always_inline)) {
    for (Index v = 0; v < rows_of; ++v)
      if (any_above(rows + v * stride, count, bounds[static_cast<std::size_t>(v)]))
        found.push_back(v);
  });
}

}  // namespace

MostCorrelated::MostCorrelated(const Points& points, const std::vector<double>& scales,
                               Index vectors)
    : points_(points), scales_(scales), vectors_(vectors) {
  if (points.sparse()) return;
  const Index d = points.dim();
  rows_.resize(at(tile * d));
  directions_.resize(at(tile * d));
  asked_.resize(at(vectors * d));
  products_.resize(at(std::min(group, vectors) * tile));
}

std::vector<Index> MostCorrelated::find(const std::vector<double>& vectors, Index count,
                                        const Passed& passed, double width,
                                        const KeepGoing& keep_going) {
  std::vector<FirstBest> best(at(count), FirstBest(width));
  if (!points_.sparse()) {
    screen(vectors, count, passed, best, keep_going);
  } else {
    AllProducts products(points_, vectors_);
    products.visit(vectors, count, [&](Index begin, Index end, const double* found) {
      throw_if_cancelled(keep_going);
      for (Index v = 0; v < count; ++v)
        for (Index j = begin; j < end; ++j) {
          const double score = std::abs(found[v * AllProducts::tile + j - begin]) * scales_[at(j)];
          if (score > best[at(v)].most() && !passed(v, j)) best[at(v)].tell(j, score);
        }
    });
  }
  std::vector<Index> found;
  for (const FirstBest& b : best) found.push_back(b.most() > least_score ? b.index() : -1);
  return found;
}

void MostCorrelated::screen(const std::vector<double>& vectors, Index count, const Passed& passed,
                            std::vector<FirstBest>& best, const KeepGoing& keep_going) {
  const Index n = points_.size(), d = points_.dim();
  const double doubt = doubt_of(d);
  std::vector<double> lengths(at(count));
  for (Index v = 0; v < count; ++v) {
    const double* const vector = vectors.data() + v * d;
    lengths[at(v)] = std::sqrt(dot(vector, vector, d));
    const double scale = lengths[at(v)] > 0 ? 1 / lengths[at(v)] : 0.0;
    turn_into(asked_.data() + v * d, vector, scale, d);
  }
  std::vector<float> bounds;
  std::vector<Index> rows;
  for (Index begin = 0; begin < n; begin += tile) {
    throw_if_cancelled(keep_going);
    const Index end = std::min(n, begin + tile), width = padded(end - begin);
    points_.rows(begin, end, rows_.data());
    for (Index j = begin; j < end; ++j)
      turn_into(directions_.data() + (j - begin) * d, rows_.data() + (j - begin) * d,
                scales_[at(j)], d);
    std::fill(directions_.begin() + (end - begin) * d, directions_.begin() + width * d, 0.0F);
    for (Index first = 0; first < count; first += group) {
      const Index last = std::min(count, first + group);
      multiply(Product<float>{.op_b = Op::transpose,
                              .m = last - first,
                              .n = width,
                              .k = d,
                              .left = asked_.data() + first * d,
                              .right = directions_.data(),
                              .out = products_.data(),
                              .out_stride = tile});
      const auto bound = [&](Index v) {
        return static_cast<float>(best[at(v)].most() / lengths[at(v)] - doubt);
      };
      bounds.clear();
      for (Index v = first; v < last; ++v) bounds.push_back(bound(v));
      rows_above(products_.data(), tile, width, bounds, rows);
      for (const Index r : rows) {
        const Index v = first + r;
        const float* const row = products_.data() + r * tile;
        float enough = bounds[at(r)];
        for (Index j = begin; j < end; ++j) {
          if (std::abs(row[j - begin]) <= enough || passed(v, j)) continue;
          const double score =
              std::abs(dot(rows_.data() + (j - begin) * d, vectors.data() + v * d, d)) *
              scales_[at(j)];
          best[at(v)].tell(j, score);
          enough = bound(v);
        }
      }
    }
  }
}

double most_correlated_bytes(const Sizes& s, double vectors) {
  if (s.sparse) return 8 * vectors * (AllProducts::tile + 2 * s.d);
  const double tile = MostCorrelated::tile;
  return 12 * tile * s.d + 4 * vectors * s.d +
         4 * std::min<double>(vectors, MostCorrelated::group) * tile;
}

double most_correlated_flops(const Sizes& s, double vectors) {
  constexpr double scan = 4;  // a score, beside operations of BLAS
  if (s.sparse) return all_products_flops(s, vectors) + 22 * vectors * s.n;
  return vectors * s.n * (s.pair() / 2 + scan);
}

}  // namespace fwsr
