// The bodies of those loops of pass.hpp that take many vectors at once, and of what follows on their
// products. Part of pass_loops.hpp, and compiled like it.
#pragma once

#include "fwsr/linalg/lanes.hpp"
#include "fwsr/linalg/pass.hpp"

namespace fwsr {

namespace {

/// Products of `height` rows with `width` times eight vectors: the eight partial sums of dots_of one
/// after the other, each for all these vectors at once. No sums across a register.
template <std::size_t height, std::size_t width>
[[gnu::always_inline]] inline void packed_of(const double* a, Index stride, Index d,
                                             const double* packed, double* out, Index out_stride) {
  constexpr auto both = static_cast<Index>(width) * lanes;
  Lanes parts[height][width][lanes];
  for (Index first = 0; first < d; first += packed_depth) {
    const Index end = first + packed_depth < d ? first + packed_depth : d;
    for (Index q = 0; q < lanes; ++q) {
      Lanes sums[height][width] = {};
      if (first > 0)
        for (std::size_t i = 0; i < height; ++i)
          for (std::size_t k = 0; k < width; ++k) sums[i][k] = parts[i][k][q];
      for (Index l = first + q; l < end; l += lanes, packed += both) {
        Lanes vector[width], x;
        for (std::size_t k = 0; k < width; ++k)
          load(packed + static_cast<Index>(k) * lanes, vector[k]);
        for (std::size_t i = 0; i < height; ++i) {
          spread(a[static_cast<Index>(i) * stride + l], x);
          for (std::size_t k = 0; k < width; ++k) add_product(sums[i][k], x, vector[k]);
        }
      }
      for (std::size_t i = 0; i < height; ++i)
        for (std::size_t k = 0; k < width; ++k) parts[i][k][q] = sums[i][k];
    }
  }
  for (std::size_t i = 0; i < height; ++i)
    for (std::size_t k = 0; k < width; ++k) {
      Lanes sum;
      add_up(parts[i][k], sum);
      store(sum, out + static_cast<Index>(i) * out_stride + static_cast<Index>(k) * lanes);
    }
}

template <std::size_t height, std::size_t width>
void packed_of_all(const double* a, Index count, Index stride, const PackedView& with, double* out,
                   Index out_stride) {
  constexpr auto step = static_cast<Index>(height);
  Index i = 0;
  for (; i + step <= count; i += step)
    packed_of<height, width>(a + i * stride, stride, with.d, with.numbers, out + i * out_stride,
                             out_stride);
  for (; i < count; ++i)
    packed_of<1, width>(a + i * stride, stride, with.d, with.numbers, out + i * out_stride,
                        out_stride);
}

template <std::size_t height>
void packed_body(const double* a, Index count, Index stride, const PackedView& with, double* out,
                 Index out_stride) {
  static_assert(packed_width == 3 * lanes);
  const auto go = with.vectors == lanes       ? packed_of_all<height, 1>
                  : with.vectors == 2 * lanes ? packed_of_all<height, 2>
                                              : packed_of_all<height, 3>;
  go(a, count, stride, with, out, out_stride);
}

/// Twice over the known ones: for the least, and for the first that is as near.
NearestKnown nearest_body(const double* values, const NearestTo& to) {
  const auto far = [&](Index e) __attribute__((always_inline)) {
    return to.add[e] + to.times[e] * values[e];
  };
  Lanes least, largest = {};
  spread(__builtin_inf(), least);
  Index e = 0;
  for (; e + lanes <= to.count; e += lanes) {
    Lanes value, add, times;
    load(values + e, value), load(to.add + e, add), load(to.times + e, times);
    const Lanes part = times * value, sum = add + part;
    const Lanes terms = (add < 0 ? -add : add) + (part < 0 ? -part : part);
    least = sum < least ? sum : least;
    keep_larger(largest, terms);
  }
  NearestKnown found{.place = 0, .least = least[0]};
  for (Index l = 1; l < lanes; ++l) found.least = least[l] < found.least ? least[l] : found.least;
  double terms = largest_of(largest);
  for (; e < to.count; ++e) {
    const double here = far(e),
                 own = __builtin_fabs(to.add[e]) + __builtin_fabs(to.times[e] * values[e]);
    found.least = here < found.least ? here : found.least;
    terms = own > terms ? own : terms;
  }
  // Where products overflow, nothing is within rounding of anything.
  const double enough = found.least + to.rounding * terms;
  for (e = 0; e < to.count; ++e)
    if (far(e) <= enough || far(e) == found.least) {
      found.place = e;
      break;
    }
  return found;
}

/// Four by four, what is left one by one.
void transpose_body(const double* a, Index rows, Index columns, double* out, Index out_stride) {
  constexpr Index four = 4;
  const auto one_by_one = [&](Index i, Index k) { out[k * out_stride + i] = a[i * columns + k]; };
  Index i = 0;
  for (; i + four <= rows; i += four) {
    Index k = 0;
    for (; k + four <= columns; k += four) {
      Quad q[four];
      for (Index t = 0; t < four; ++t)
        __builtin_memcpy(&q[t], a + (i + t) * columns + k, sizeof(Quad));
      const Quad ab_even = __builtin_shufflevector(q[0], q[1], 0, 4, 2, 6),
                 ab_odd = __builtin_shufflevector(q[0], q[1], 1, 5, 3, 7),
                 cd_even = __builtin_shufflevector(q[2], q[3], 0, 4, 2, 6),
                 cd_odd = __builtin_shufflevector(q[2], q[3], 1, 5, 3, 7);
      q[0] = __builtin_shufflevector(ab_even, cd_even, 0, 1, 4, 5);
      q[1] = __builtin_shufflevector(ab_odd, cd_odd, 0, 1, 4, 5);
      q[2] = __builtin_shufflevector(ab_even, cd_even, 2, 3, 6, 7);
      q[3] = __builtin_shufflevector(ab_odd, cd_odd, 2, 3, 6, 7);
      for (Index t = 0; t < four; ++t)
        __builtin_memcpy(out + (k + t) * out_stride + i, &q[t], sizeof(Quad));
    }
    for (; k < columns; ++k)
      for (Index t = 0; t < four; ++t) one_by_one(i + t, k);
  }
  for (; i < rows; ++i)
    for (Index k = 0; k < columns; ++k) one_by_one(i, k);
}

}  // namespace

}  // namespace fwsr
