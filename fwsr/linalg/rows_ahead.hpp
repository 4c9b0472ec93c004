// What a loop over rows asks memory for before it is needed. For the files that are compiled for one instruction set
// each: nothing of the standard library.
#pragma once

#include "fwsr/linalg/pass.hpp"

namespace fwsr {

namespace {

/// How far ahead of its use a row is asked for, in bytes.
constexpr Index reach = 2048;

/// Rows after which `reach` bytes have passed.
template <class T>
[[gnu::always_inline]] inline Index rows_ahead(Index d) {
  constexpr Index far = reach / static_cast<Index>(sizeof(T));
  return d > 0 && d < far ? (far - 1) / d + 1 : 1;
}

/// Rows are taken together that stand `apart` from each other, each at the head of a stream of `apart` rows. Of row `here`,
/// the `step`-th of its stream: of a long row what comes next, else a row that comes `next` later: of this stream, or where
/// the stream would go on behind all these rows. That is a guess, which does no harm.
template <class T>
[[gnu::always_inline]] inline const T* ahead_of(const Rows<T>& a, Index here, Index step,
                                                Index apart, Index next) {
  constexpr Index far = reach / static_cast<Index>(sizeof(T));
  if (a.d > 4 * far) return a.rows[here] + far;
  const bool own_stream = step + next < apart;
  const Index later = own_stream ? here + next : here + next - apart;
  if (later >= a.count) return a.rows[here];
  return a.rows[later] + (own_stream ? 0 : a.count * a.d);
}

}  // namespace

}  // namespace fwsr
