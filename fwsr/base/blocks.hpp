// Parallel loops and sums whose answers do not depend on the number of threads: work is cut into
// blocks of constant size, and partial results are combined first block to last.
#pragma once

#include <algorithm>
#include <concepts>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/base/keep_going.hpp"
#include "fwsr/base/result.hpp"

namespace fwsr {

/// Points per block of every parallel loop and sum. Part of the answer: never derive it from the
/// number of threads.
inline constexpr Index block_size = 512;

inline Index block_count(Index n, Index block = block_size) {
  return (n + block - 1) / block;
}

inline void throw_if_cancelled(const KeepGoing& keep_going) {
  if (keep_going && !keep_going()) throw Interrupted{};
}

/// The number of the calling thread within its team, from 0.
int this_thread();

/// How many threads to use when nobody said: OMP_NUM_THREADS, or the cores this process may use.
int default_threads();
/// From now on so many, for what this thread begins.
void set_default_threads(int threads);

/// Threads for a loop of about `operations`: waking others costs more than little work takes.
inline int threads_for(int threads, double operations) {
  return operations < 3e5 ? 1 : threads;
}

/// Carries the first exception out of a parallel region, where none may leave by itself.
class FirstError {
 public:
  template <class Work>
  void guard(Work&& work) noexcept {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
};

/// Calls work(task), or work(thread, task), for task = 0 .. tasks - 1 on up to `threads` threads, in
/// no set order. `thread` counts from 0 and tells which scratch space to use.
template <class Work>
void for_tasks(int threads, Index tasks, Work&& work) {
  const auto run = [&](int thread, Index t) {
    if constexpr (std::invocable<Work&, int, Index>)
      work(thread, t);
    else
      work(t);
  };
  if (threads <= 1 || tasks <= 1) {
    for (Index t = 0; t < tasks; ++t) run(0, t);
    return;
  }
  FirstError errors;
  const int team = static_cast<int>(std::min<Index>(threads, tasks));
#pragma omp parallel for schedule(dynamic, 1) num_threads(team)
  for (Index t = 0; t < tasks; ++t) errors.guard([&] { run(this_thread(), t); });
  errors.rethrow();
}

/// Calls work(block, first, last), or work(thread, block, first, last), for every block of 0 .. n.
template <class Work>
void for_blocks(int threads, Index n, Work&& work, Index block = block_size) {
  for_tasks(threads, block_count(n, block), [&](int thread, Index b) {
    const Index first = b * block, last = std::min(n, (b + 1) * block);
    if constexpr (std::invocable<Work&, int, Index, Index, Index>)
      work(thread, b, first, last);
    else
      work(b, first, last);
  });
}

/// Calls work(thread, first, last) for every block of 0 .. n in parallel, and then(thread) after each,
/// one at a time, first block to last: for sums too large to hold one of per block.
template <class Work, class Then>
void for_blocks_in_order(int threads, Index n, Index block, Work&& work, Then&& then) {
  const Index blocks = block_count(n, block);
  const int team = static_cast<int>(std::max<Index>(1, std::min<Index>(threads, blocks)));
  const auto run = [&](int thread, Index b) {
    work(thread, b * block, std::min(n, (b + 1) * block));
  };
  if (team == 1) {
    for (Index b = 0; b < blocks; ++b) run(0, b), then(0);
    return;
  }
  FirstError errors;
#pragma omp parallel num_threads(team)
  {
    const int thread = this_thread();
#pragma omp for ordered schedule(static, 1)
    for (Index b = 0; b < blocks; ++b) {
      bool worked = false;
      errors.guard([&] { run(thread, b), worked = true; });
#pragma omp ordered
      errors.guard([&] {
        if (worked) then(thread);
      });
    }
  }
  errors.rethrow();
}

/// Calls work(block, first, last) for every block of 0 .. n; a thread gets neighbouring blocks, the
/// same ones every time, so that what it left in its cache serves it again.
template <class Work>
void for_own_blocks(int threads, Index n, Work&& work, Index block = block_size) {
  const Index blocks = block_count(n, block);
  const auto run = [&](Index b) { work(b, b * block, std::min(n, (b + 1) * block)); };
  if (threads <= 1 || blocks <= 1) {
    for (Index b = 0; b < blocks; ++b) run(b);
    return;
  }
  FirstError errors;
  const int team = static_cast<int>(std::min<Index>(threads, blocks));
#pragma omp parallel for schedule(static) num_threads(team)
  for (Index b = 0; b < blocks; ++b) errors.guard([&] { run(b); });
  errors.rethrow();
}

/// Sums over points are added in segments: a segment block by block, first to last, and then the segments, first to
/// last. Their borders depend on the number of points alone, so that whoever holds whole segments, on another machine
/// perhaps, contributes the same bits. Part of the answer.
inline constexpr Index segment_step = 1024;
inline constexpr Index most_segments = 256;
inline Index segment_size(Index n) {
  return segment_step * std::max<Index>(1, block_count(n, segment_step * most_segments));
}

/// Neighbouring points of a set: all of them, or whole segments that live in one place.
struct Portion {
  Portion(Index n)
      : size(n), of(n) {}  // NOLINT(google-explicit-constructor): n points are all of them
  Portion(Index first_point, Index points, Index all);

  Index size;       // points here ...
  Index first = 0;  // ... from this one on ...
  Index of;         // ... of so many
  Index segment() const { return segment_size(of); }
  /// It can add up its segments itself: nothing comes before them.
  bool leads() const { return first == 0; }
};

/// A sum over all points, as a portion of them tells it: the sums of its segments, first to last, in as few numbers as keep
/// that order. Whoever has heard all portions adds up what they told, first to last.
template <class Sum>
using SegmentSums = std::vector<Sum>;

/// One more segment of `portion`. @pre Sum{} is zero, and add(to, sum) adds
template <class Sum, class Segment, class Add>
void append_segment(const Portion& portion, SegmentSums<Sum>& sums, Segment&& segment, Add&& add) {
  if (portion.leads()) {
    if (sums.empty()) sums.emplace_back();
    add(sums.front(), segment);
  } else {
    sums.push_back(std::forward<Segment>(segment));
  }
}

/// What the blocks of a portion have told, in segments. @pre `block` divides segment_step
template <class Sum, class Add>
SegmentSums<Sum> segments_of(const std::vector<Sum>& blocks, const Portion& portion, Index block,
                             Add&& add) {
  const auto each = static_cast<std::size_t>(portion.segment() / block);
  SegmentSums<Sum> sums;
  for (std::size_t first = 0; first < blocks.size(); first += each) {
    Sum segment{};
    for (std::size_t b = first; b < std::min(blocks.size(), first + each); ++b)
      add(segment, blocks[b]);
    append_segment(portion, sums, std::move(segment), add);
  }
  return sums;
}
inline SegmentSums<double> segments_of(const std::vector<double>& blocks, const Portion& portion,
                                       Index block) {
  return segments_of(blocks, portion, block, [](double& to, double more) { to += more; });
}

/// The same of all points, added up.
template <class Sum, class Add>
Sum sum_in_segments(const std::vector<Sum>& blocks, Index n, Index block, Add&& add) {
  SegmentSums<Sum> sums = segments_of(blocks, n, block, add);
  return sums.empty() ? Sum{} : std::move(sums.front());
}
inline double sum_in_segments(const std::vector<double>& blocks, Index n, Index block) {
  return sum_in_segments(blocks, n, block, [](double& to, double more) { to += more; });
}

/// Sum of term(i) over the points of a portion in segments, the same bits for any number of threads.
template <class Term>
SegmentSums<double> segment_sums(int threads, const Portion& portion, Term&& term) {
  std::vector<double> partial(static_cast<std::size_t>(block_count(portion.size)));
  for_blocks(threads, portion.size, [&](Index b, Index first, Index last) {
    double sum = 0;
    for (Index i = first; i < last; ++i) sum += term(i);
    partial[static_cast<std::size_t>(b)] = sum;
  });
  return segments_of(partial, portion, block_size);
}
/// The same over 0 .. n, added up.
template <class Term>
double block_sum(int threads, Index n, Term&& term) {
  const SegmentSums<double> sums = segment_sums(threads, n, term);
  return sums.empty() ? 0.0 : sums.front();
}

}  // namespace fwsr
