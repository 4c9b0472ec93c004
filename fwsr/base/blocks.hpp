// Parallel loops and sums whose answers do not depend on the number of threads: work is cut into
// blocks of constant size, and partial results are combined first block to last.
#pragma once

#include <algorithm>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/base/result.hpp"

namespace fwsr {

/// Points per block of every parallel loop and sum. Part of the answer: never derive it from the
/// number of threads.
inline constexpr Index block_size = 1024;

inline Index block_count(Index n, Index block = block_size) {
  return (n + block - 1) / block;
}

/// Asked now and then during long work, from any thread; when it says no, Interrupted is thrown.
using Alive = std::function<bool()>;
inline void stop_unless(const Alive& alive) {
  if (alive && !alive()) throw Interrupted{};
}

/// How many threads to use when nobody said: OMP_NUM_THREADS, or the cores this process may use.
int default_threads();

/// Threads for a loop of about `operations`: waking others costs more than little work takes.
inline int threads_for(int threads, double operations) {
  return operations < 1e6 ? 1 : threads;
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

/// Calls work(task) for task = 0 .. tasks - 1 on up to `threads` threads, in no set order.
template <class Work>
void for_tasks(int threads, Index tasks, Work&& work) {
  if (threads <= 1 || tasks <= 1) {
    for (Index t = 0; t < tasks; ++t) work(t);
    return;
  }
  FirstError errors;
  const int team = static_cast<int>(std::min<Index>(threads, tasks));
#pragma omp parallel for schedule(dynamic, 1) num_threads(team)
  for (Index t = 0; t < tasks; ++t) errors.guard([&] { work(t); });
  errors.rethrow();
}

/// Calls work(block, first, last) for every block of 0 .. n.
template <class Work>
void for_blocks(int threads, Index n, Work&& work, Index block = block_size) {
  for_tasks(threads, block_count(n, block),
            [&](Index b) { work(b, b * block, std::min(n, (b + 1) * block)); });
}

/// Sum of term(i) over 0 .. n, the same bits for any number of threads.
template <class Term>
double block_sum(int threads, Index n, Term&& term) {
  std::vector<double> partial(static_cast<std::size_t>(block_count(n)));
  for_blocks(threads, n, [&](Index b, Index first, Index last) {
    double sum = 0;
    for (Index i = first; i < last; ++i) sum += term(i);
    partial[static_cast<std::size_t>(b)] = sum;
  });
  double total = 0;
  for (const double p : partial) total += p;
  return total;
}

}  // namespace fwsr
