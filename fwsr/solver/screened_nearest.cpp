#include "fwsr/solver/screened_nearest.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

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

/// For fewer exemplars float32 takes little time, and of so long rows sums of whole numbers would not fit their 32 bits.
constexpr Index fewest_for_eight_bits = 64, most_for_eight_bits = 60000;
/// Of exemplars told apart in double, for each point.
constexpr Index least_in_doubt = 8;

}  // namespace

ScreenedNearest::ScreenedNearest(std::vector<double> rows, Index dim)
    : dim_(dim),
      count_(std::ssize(rows) / dim),
      shift_(at(padded_length(dim))),
      wide_(std::move(rows)),
      small_(wide_.size()) {
  for (Index t = 0; t < count_; ++t)
    for (Index l = 0; l < dim; ++l)
      shift_[at(l)] += wide_[at(t * dim + l)] / static_cast<double>(count_);
  for (Index t = 0; t < count_; ++t) {
    double* const b = wide_.data() + t * dim;
    for (Index l = 0; l < dim; ++l) {
      b[l] -= shift_[at(l)];
      small_[at(t * dim + l)] = static_cast<float>(b[l]);
    }
    squares_.push_back(dot(b, b, dim));
    halves_.push_back(static_cast<float>(squares_.back() / 2));
    longest_ = std::max(longest_, std::sqrt(squares_.back()));
  }
  if (count_ >= fewest_for_eight_bits && dim <= most_for_eight_bits && has_eight_bit_products())
    eight_bit_.emplace(small_.data(), halves_.data(), count_, dim);
}

/// The first of the nearest to point i among those in doubt. Two are as near where their distances less ||u||^2 differ by
/// no more than rounding of these two: whoever else is in doubt changes nothing.
Index ScreenedNearest::among(const Points& points, Index i, Scratch& scratch) const {
  scratch.row.resize(at(dim_));
  double* const u = scratch.row.data();
  points.row(i, u);
  for (Index l = 0; l < dim_; ++l) u[l] -= shift_[at(l)];
  scratch.told.clear();
  Told nearest{.far = std::numeric_limits<double>::infinity()};
  for (const Index t : scratch.open) {
    const double along = 2 * dot(u, wide_.data() + t * dim_, dim_), square = squares_[at(t)];
    scratch.told.push_back({.place = t, .far = square - along, .terms = square + std::abs(along)});
    if (scratch.told.back().far < nearest.far) nearest = scratch.told.back();
  }
  for (const Told& one : scratch.told)
    if (one.far <= nearest.far + nearest_rounding * std::max(one.terms, nearest.terms))
      return one.place;
  return scratch.open.front();  // distances that are no numbers
}

/// By how much halves of distances, less ||u||^2 / 2, may seem to differ in float32: of the least and of another, each by
/// a product and by half a square; and what is too small for float32.
double ScreenedNearest::doubt(const float* u) const {
  const double norm = std::sqrt(dot(u, u, dim_));
  return 2 * (static_cast<double>(dim_) + 6) * (0x1p-24 * longest_ * (norm + longest_) + 0x1p-126);
}

namespace {

float no_less_than(double v) {
  return std::nextafter(static_cast<float>(v), std::numeric_limits<float>::infinity());
}

}  // namespace

void ScreenedNearest::of(const Points& points, Index first, Index last, Scratch& scratch,
                         Index* places) const {
  scratch.points.resize(at((last - first) * dim_));
  points.rows(first, last, shift_, scratch.points.data());
  if (!eight_bit_ || !scratch.eight_bit_pays ||
      !by_eight_bits(points, first, last, scratch, places))
    by_single(points, first, last, scratch, places);
}

/// False where so many exemplars are left that products in float32 are less work.
bool ScreenedNearest::by_eight_bits(const Points& points, Index first, Index last, Scratch& scratch,
                                    Index* places) const {
  const Index most = std::max(least_in_doubt, count_ / 32);
  for (Index begin = first; begin < last; begin += EightBitRows::at_once) {
    const Index rows = std::min(EightBitRows::at_once, last - begin);
    const float* const u = scratch.points.data() + (begin - first) * dim_;
    eight_bit_->find(u, rows, scratch.eight_bit);
    Index left = most * rows;
    for (Index i = 0; i < rows; ++i) {
      const double off = 2 * eight_bit_->error(i, scratch.eight_bit) + doubt(u + i * dim_);
      const float enough =
          no_less_than(static_cast<double>(eight_bit_->least(i, scratch.eight_bit)) + off);
      scratch.open.resize(at(left));
      const Index open =
          eight_bit_->no_more_than(enough, i, scratch.eight_bit, scratch.open.data(), left);
      if (open > left) return scratch.eight_bit_pays = false;
      left -= open;
      scratch.open.resize(at(open));
      places[begin + i - first] =
          open == 1 ? scratch.open.front() : among(points, begin + i, scratch);
    }
  }
  return true;
}

void ScreenedNearest::by_single(const Points& points, Index first, Index last, Scratch& scratch,
                                Index* places) const {
  const Index rows = last - first;
  scratch.products.resize(at(rows * count_));
  multiply(Product<float>{.op_b = Op::transpose,
                          .m = rows,
                          .n = count_,
                          .k = dim_,
                          .left = scratch.points.data(),
                          .right = small_.data(),
                          .out = scratch.products.data()});
  for (Index i = 0; i < rows; ++i) {
    float* const half = scratch.products.data() + i * count_;
    for (Index t = 0; t < count_; ++t) half[t] = halves_[at(t)] - half[t];
    const float least = least_of(half, count_);
    const float enough =
        no_less_than(static_cast<double>(least) + doubt(scratch.points.data() + i * dim_));
    if (std::count_if(half, half + count_, [&](float h) { return h <= enough; }) == 1) {
      places[i] = std::find(half, half + count_, least) - half;
      continue;
    }
    scratch.open.clear();
    for (Index t = 0; t < count_; ++t)
      if (!(half[t] > enough)) scratch.open.push_back(t);
    places[i] = among(points, first + i, scratch);
  }
}

}  // namespace fwsr
