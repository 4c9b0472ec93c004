#include "fwsr/base/blocks.hpp"

#include <fcntl.h>
#include <omp.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

namespace fwsr {

namespace {

/// How many threads this process has; makes nothing but system calls.
int count_threads() {
  std::array<char, 4096> text;
  const int file = ::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t length = ::read(file, text.data(), text.size());
  ::close(file);
  const std::string_view all(text.data(), length < 0 ? 0 : static_cast<std::size_t>(length));
  constexpr std::string_view name = "\nThreads:\t";
  const std::size_t at = all.find(name);
  int count = 0;
  if (at != all.npos)
    std::from_chars(all.data() + at + name.size(), all.data() + all.size(), count);
  return count;
}

// Of a process that forks only the calling thread lives on in the child. OpenMP does not notice, and the
// next team would wait for threads that are gone, for ever: there, work is done by one thread.
bool threads_are_lost = false;
void before_fork() {
  threads_are_lost = count_threads() != 1;
}
void in_the_child() {
  if (threads_are_lost) omp_set_max_active_levels(0);
}
[[maybe_unused]] const int watches_forks = ::pthread_atfork(before_fork, nullptr, in_the_child);

}  // namespace

Portion::Portion(Index first_point, Index points, Index all)
    : size(points), first(first_point), of(all) {
  const Index end = first + size;
  if (first < 0 || size < 0 || end > of || first % segment() != 0 ||
      (end % segment() != 0 && end != of))
    throw Error(fmt::format(
        "points {} to {} of {} are no whole segments; cut where their number is a multiple of {}",
        first, end, of, segment()));
}

int this_thread() {
  return omp_get_thread_num();
}

void set_default_threads(int threads) {
  omp_set_num_threads(threads);
}

int default_threads() {
  return std::max(1, std::min(omp_get_max_threads(), omp_get_num_procs()));
}

}  // namespace fwsr
