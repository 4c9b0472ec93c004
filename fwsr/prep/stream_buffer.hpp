// Rows of a source on their way to the loops over points: one buffer per thread, filled with as many
// rows as the processor's own cache holds, so that what was read is still near when it is used.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "fwsr/base/index.hpp"

namespace fwsr {

template <class T>
class StreamBuffer {
 public:
  /// Bytes of a buffer, for rows of d numbers: many short rows, one long one.
  static Index bytes(Index d) { return capacity(d) * d * Index{sizeof(T)}; }

  explicit StreamBuffer(const StreamView<T>& view) : view_(view) {}

  /// Pointers to points begin .. end, or as many of them as there is room for; returns where they
  /// end. Points up to `last` are asked for next, in their order; source(i) is the row of point i.
  template <class Source>
  Index fetch(Index begin, Index end, Index last, const Source& source, const T** rows) {
    if (begin < first_ || begin >= last_) fill(begin, last, source);
    const Index until = std::min(end, last_);
    for (Index i = begin; i < until; ++i)
      rows[i - begin] = numbers_ + places()[static_cast<std::size_t>(i - first_)];
    return until;
  }

 private:
  static constexpr Index enough = Index{1} << 18;
  /// Reading on costs less than another call when fewer bytes than this lie between two points.
  static constexpr Index small_gap = 4096;

  static Index capacity(Index d) {
    return std::max<Index>(1, enough / std::max<Index>(1, d * Index{sizeof(T)}));
  }
  /// Room for `count` numbers, at the start of a line of the cache.
  static T* numbers(Index count) {
    constexpr std::size_t line = 64;
    thread_local std::vector<T> all;
    if (all.size() * sizeof(T) < static_cast<std::size_t>(count) * sizeof(T) + line) {
      all = {};
      all.resize(static_cast<std::size_t>(count) + line / sizeof(T));
    }
    const auto past = reinterpret_cast<std::uintptr_t>(all.data()) % line;
    return all.data() + (past ? (line - past) / sizeof(T) : 0);
  }
  static std::vector<Index>& places() {  // of points first_ .. last_ in numbers_
    thread_local std::vector<Index> all;
    return all;
  }

  /// Reads points from `begin` on until there is no more room, neighbours at once.
  template <class Source>
  void fill(Index begin, Index last, const Source& source) {
    const Index d = view_.cols, room = std::min(capacity(d), view_.rows);
    const Index gap = small_gap / std::max<Index>(1, d * Index{sizeof(T)});
    numbers_ = numbers(room * d);
    places().clear();
    first_ = begin;
    Index used = 0;
    for (Index i = begin; i < last && used < room; i = last_) {
      const Index start = source(i);
      Index stop = start;
      last_ = i;
      do {
        stop = source(last_);
        places().push_back((used + stop - start) * d);
        ++last_;
      } while (last_ < last && source(last_) > stop && source(last_) - stop <= gap + 1 &&
               used + source(last_) - start < room);
      view_.source->read(start, stop + 1, numbers_ + used * d);
      used += stop + 1 - start;
    }
  }

  StreamView<T> view_;
  T* numbers_ = nullptr;
  Index first_ = 0, last_ = 0;  // points in the buffer
};

}  // namespace fwsr
