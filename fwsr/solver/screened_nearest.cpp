#include "fwsr/solver/screened_nearest.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "fwsr/base/at.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/rows.hpp"

namespace fwsr {

namespace {

/// Several at a time, which compilers do not dare by themselves.
float least_of(const float* values, Index count) {
  constexpr Index width = 16;
  std::array<float, width> least;
  least.fill(std::numeric_limits<float>::infinity());
  Index e = 0;
  for (; e + width <= count; e += width)
    for (Index l = 0; l < width; ++l) least[at(l)] = std::min(least[at(l)], values[e + l]);
  for (; e < count; ++e) least[0] = std::min(least[0], values[e]);
  return *std::min_element(least.begin(), least.end());
}

}  // namespace

ScreenedNearest::ScreenedNearest(const std::vector<double>& rows, Index dim)
    : rows_(rows),
      dim_(dim),
      count_(std::ssize(rows) / dim),
      shift_(at(padded_length(dim))),
      small_(rows.size()) {
  for (Index t = 0; t < count_; ++t)
    for (Index l = 0; l < dim; ++l)
      shift_[at(l)] += rows[at(t * dim + l)] / static_cast<double>(count_);
  std::vector<double> b(at(dim));
  for (Index t = 0; t < count_; ++t) {
    const double* const row = rows.data() + t * dim;
    for (Index l = 0; l < dim; ++l) {
      b[at(l)] = row[l] - shift_[at(l)];
      small_[at(t * dim + l)] = static_cast<float>(b[at(l)]);
    }
    const double square = dot(b.data(), b.data(), dim);
    plain_squares_.push_back(dot(row, row, dim));
    halves_.push_back(static_cast<float>(square / 2));
    longest_ = std::max(longest_, std::sqrt(square));
  }
}

/// The first of the nearest, by inner products in double, among those with no more than `enough`.
Index ScreenedNearest::among(const double* row, const float* half, float enough) const {
  struct One {
    Index place = 0;
    double far = 0;
  };
  std::vector<One> open;
  double nearest = std::numeric_limits<double>::infinity(), terms = 0;
  for (Index t = 0; t < count_; ++t) {
    if (half[t] > enough) continue;
    const double along = 2 * dot(row, rows_.data() + t * dim_, dim_);
    const double far = plain_squares_[at(t)] - along;
    open.push_back({t, far});
    nearest = std::min(nearest, far);
    terms = std::max(terms, plain_squares_[at(t)] + std::abs(along));
  }
  for (const One& one : open)
    if (one.far <= nearest + nearest_rounding * terms) return one.place;
  return open.front().place;
}

void ScreenedNearest::of(const Points& points, Index first, Index last, Scratch& scratch,
                         Index* places) const {
  const Index rows = last - first;
  scratch.points.resize(at(rows * dim_));
  scratch.products.resize(at(rows * count_));
  scratch.row.resize(at(dim_));
  points.rows(first, last, shift_, scratch.points.data());
  multiply(Product<float>{.op_b = Op::transpose,
                          .m = rows,
                          .n = count_,
                          .k = dim_,
                          .left = scratch.points.data(),
                          .right = small_.data(),
                          .out = scratch.products.data()});
  const auto d = static_cast<double>(dim_);
  for (Index i = 0; i < rows; ++i) {
    const float* const u = scratch.points.data() + i * dim_;
    float* const half = scratch.products.data() + i * count_;
    for (Index t = 0; t < count_; ++t) half[t] = halves_[at(t)] - half[t];
    const float least = least_of(half, count_);
    // Of the least and of another, each by a product and by half a square; and what is too small for float32.
    const double norm = std::sqrt(dot(u, u, dim_));
    const double doubt = 2 * (d + 6) * (0x1p-24 * longest_ * (norm + longest_) + 0x1p-126);
    const float enough = std::nextafter(static_cast<float>(static_cast<double>(least) + doubt),
                                        std::numeric_limits<float>::infinity());
    if (std::count_if(half, half + count_, [&](float h) { return h <= enough; }) == 1) {
      places[i] = std::find(half, half + count_, least) - half;
    } else {
      points.row(first + i, scratch.row.data());
      places[i] = among(scratch.row.data(), half, enough);
    }
  }
}

}  // namespace fwsr
