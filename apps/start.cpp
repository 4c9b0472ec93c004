// Before the libraries start: OpenBLAS takes a buffer of 128 MiB for every core when it is loaded, and where
// a limit on the address space refuses it asks again, for ever. This runs before, and before anything of C++ is ready: it
// only makes system calls.
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>

namespace {

constexpr unsigned long mebi = 1ul << 20;
constexpr unsigned long buffer = 128 * mebi, room = 32 * mebi;

/// What OMP_NUM_THREADS says, or 0.
unsigned long threads_wanted(char** environment) {
  constexpr char name[] = "OMP_NUM_THREADS=";
  for (; *environment; ++environment) {
    const char* text = *environment;
    const char* letter = name;
    while (*letter && *text == *letter) ++text, ++letter;
    if (*letter) continue;
    unsigned long value = 0;
    for (; *text >= '0' && *text <= '9' && value < 100000; ++text)
      value = 10 * value + static_cast<unsigned long>(*text - '0');
    return value;
  }
  return 0;
}

/// How many threads OpenBLAS prepares for: that of OpenMP, which is the one used here, asks OMP_NUM_THREADS alone.
unsigned long count_threads(char** environment) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  const bool known = ::sched_getaffinity(0, sizeof cores, &cores) == 0;
  const auto count = known ? static_cast<unsigned long>(CPU_COUNT(&cores)) : 1;
  const unsigned long wanted = threads_wanted(environment);
  return wanted > 0 && wanted < count ? wanted : count;
}

/// Digits of `value` before `end`. @return where they start
char* put_number(unsigned long value, char* end) {
  do *--end = static_cast<char>('0' + value % 10);
  while (value /= 10);
  return end;
}

void say(const char* text) {
  std::size_t length = 0;
  while (text[length]) ++length;
  [[maybe_unused]] const ssize_t put = ::write(STDERR_FILENO, text, length);
}

/// The pages this process has mapped, and those of them that hold data; false when nobody says.
bool mapped_pages(unsigned long& all, unsigned long& data) {
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[256];
  const ssize_t length = ::read(file, text, sizeof text);
  ::close(file);
  unsigned long values[7] = {};
  std::size_t field = 0;
  for (ssize_t i = 0; i < length && field < 7; ++i) {
    if (text[i] == ' ')
      ++field;
    else if (text[i] >= '0' && text[i] <= '9')
      values[field] = 10 * values[field] + static_cast<unsigned long>(text[i] - '0');
  }
  all = values[0], data = values[5];
  return length > 0;
}

void require(__rlimit_resource resource, const char* option, unsigned long needed, bool several) {
  struct rlimit limit = {};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  if (limit.rlim_cur >= needed) return;
  char digits[24] = {};
  say("fwsr: the address space is limited to ");
  say(put_number(limit.rlim_cur / mebi, digits + 23));
  say(" MiB (");
  say(option);
  say("), and ");
  say(put_number((needed + mebi - 1) / mebi, digits + 23));
  say(" MiB are needed to begin; raise the limit");
  say(several ? ", or set OMP_NUM_THREADS=1 to need less\n" : "\n");
  ::_exit(1);
}

void check_address_space(int, char**, char** environment) {
  unsigned long all = 0, data = 0;
  if (!mapped_pages(all, data)) return;
  const auto page = static_cast<unsigned long>(::sysconf(_SC_PAGESIZE));
  const unsigned long threads = count_threads(environment), more = threads * buffer + room;
  require(RLIMIT_AS, "ulimit -v", all * page + more, threads > 1);
  require(RLIMIT_DATA, "ulimit -d", data * page + more, threads > 1);
}

[[gnu::used,
  gnu::section(".preinit_array")]] void (*const before_all)(int, char**,
                                                            char**) = check_address_space;

}  // namespace
