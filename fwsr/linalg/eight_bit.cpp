#include "fwsr/linalg/eight_bit.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "fwsr/base/at.hpp"
#include "fwsr/linalg/processor.hpp"

namespace fwsr {

namespace {

std::atomic<bool> allowed{true};

}  // namespace

bool has_eight_bit_products() {
  static const bool here = has_byte_products();
  return here && allowed;
}
void allow_eight_bit_products(bool yes) {
  allowed = yes;
}

#if defined(__x86_64__)

namespace {

/// Beyond these, squares are no float32 numbers any more.
constexpr double smallest = 1e-15, largest = 1e15;

/// What rounding in float32 may have done to the norm of an error.
double no_less_than(float error, double norm) {
  return 1.001 * static_cast<double>(error) + 0x1p-20 * norm;
}

}  // namespace

EightBitRows::EightBitRows(const float* rows, const float* add, Index count, Index d)
    : count_(count),
      columns_(vnni::padded_columns(count)),
      d_(d),
      depth_(vnni::padded_depth(d)),
      packed_(at(columns_ * depth_), std::uint8_t{128}),
      scales_(at(columns_)),
      add_(at(columns_), std::numeric_limits<float>::infinity()) {
  std::copy_n(add, count, add_.begin());
  std::vector<std::int8_t> q(at(depth_));
  for (Index t = 0; t < count; ++t) {
    const vnni::Whole whole = vnni::make_whole(rows + t * d, d, q.data());
    scales_[at(t)] = whole.scale;
    const double norm = static_cast<double>(whole.norm);
    longest_ = std::max(longest_, 1.001 * norm);
    error_ = std::max(error_, no_less_than(whole.error, norm));
    if (!(norm <= largest) || !std::isfinite(add[t]))
      error_ = std::numeric_limits<double>::infinity();
    std::uint8_t* const together = packed_.data() + t / 64 * 64 * depth_ + t % 64 * 4;
    for (Index l = 0; l < depth_; ++l)
      together[l / 4 * 256 + l % 4] = static_cast<std::uint8_t>(q[at(l)] + 128);
  }
  if (!(longest_ >= smallest)) error_ = std::numeric_limits<double>::infinity();
}

void EightBitRows::find(const float* points, Index count, Scratch& scratch) const {
  scratch.q.resize(at(at_once * depth_));
  scratch.of_points.resize(at(at_once));
  scratch.values.resize(at(at_once * columns_));
  scratch.least.resize(at(at_once));
  for (Index i = 0; i < count; ++i)
    scratch.of_points[at(i)] = vnni::make_whole(points + i * d_, d_, scratch.q.data() + i * depth_);
  vnni::products({.q = scratch.q.data(),
                  .of_rows = scratch.of_points.data(),
                  .rows = count,
                  .depth = depth_,
                  .packed = packed_.data(),
                  .scales = scales_.data(),
                  .add = add_.data(),
                  .columns = columns_},
                 scratch.values.data(), scratch.least.data());
}

double EightBitRows::error(Index i, const Scratch& scratch) const {
  const vnni::Whole& whole = scratch.of_points[at(i)];
  const double norm = 1.001 * static_cast<double>(whole.norm);
  if (!(norm >= smallest && norm <= largest)) return std::numeric_limits<double>::infinity();
  const double own = no_less_than(whole.error, norm);
  return own * longest_ + (norm + own) * error_;
}

Index EightBitRows::no_more_than(float enough, Index i, const Scratch& scratch, Index* places,
                                 Index most) const {
  return vnni::no_more_than(scratch.values.data() + i * columns_, count_, enough, places, most);
}

#else

EightBitRows::EightBitRows(const float*, const float*, Index, Index) {}
void EightBitRows::find(const float*, Index, Scratch&) const {}
double EightBitRows::error(Index, const Scratch&) const {
  return std::numeric_limits<double>::infinity();
}
Index EightBitRows::no_more_than(float, Index, const Scratch&, Index*, Index) const {
  return 0;
}

#endif

}  // namespace fwsr
