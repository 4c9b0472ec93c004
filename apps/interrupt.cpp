#include "apps/interrupt.hpp"

#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string_view>

#include "apps/progress.hpp"
#include "fwsr/base/write_file.hpp"

namespace fwsr::app {

namespace {

// What the handler touches; lock-free, as a signal handler needs. It calls nothing but what POSIX
// lists as safe in one: clock_gettime, poll, write, unlinkat, raise, _exit.
std::atomic<int> received = 0;
std::atomic<long long> received_at = 0;  // milliseconds
// Who is first decides: a signal that ends the program, or the work that must be ended with care.
enum : int { ends_at_once, with_care, ending };
std::atomic<int> state = ends_at_once;
std::atomic<bool> line_is_wiped = false;
std::atomic<bool> finishing = false;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free &&
              std::atomic<long long>::is_always_lock_free);

long long milliseconds() {
  struct timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<long long>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

/// To standard error, unless that would have to wait.
void say(std::string_view text) {
  struct pollfd room = {STDERR_FILENO, POLLOUT, 0};
  if (::poll(&room, 1, 0) != 1) return;
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

void handle(int signal_number) {
  const int saved = errno;
  int now_is = ends_at_once;
  if (state.compare_exchange_strong(now_is, ending)) {
    // The line of a progress bar is wiped first, where there can be one.
    constexpr std::string_view message = "\r\033[Kfwsr: interrupted; nothing was written\n";
    say(line_is_wiped ? message : message.substr(4));
    ::_exit(128 + signal_number);
  }
  if (now_is == ending) return;  // the first signal's handler is at it
  const long long now = milliseconds();
  long long first = 0;
  if (received_at.compare_exchange_strong(first, now)) {
    received = signal_number;
  } else if (now - first > 1000) {
    remove_all_parts();
    struct sigaction plain = {};
    plain.sa_handler = SIG_DFL;
    ::sigaction(signal_number, &plain, nullptr);
    ::raise(signal_number);
  }
  errno = saved;
}

}  // namespace

void install_signal_handlers() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction before = {};
    ::sigaction(number, nullptr, &before);
    if (before.sa_handler == SIG_IGN) continue;  // nohup, or a job in the background
    struct sigaction action = {};
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(number, &action, nullptr);
  }
  line_is_wiped = terminal_can_redraw();
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
}

void interrupt_with_care() {
  int now_is = ends_at_once;
  if (state.compare_exchange_strong(now_is, with_care)) return;
  if (now_is != ending) return;
  for (;;) ::pause();  // another thread ends the program: nothing is begun any more
}
bool interrupted() {
  return received != 0 && !finishing;
}
bool interrupted_at_the_keyboard() {
  return received == SIGINT;
}
void finish_after_interruption() {
  finishing = true;
}
void stop_if_interrupted() {
  if (interrupted()) throw Interrupted{};
}
int interrupt_exit_code() {
  return 128 + received;
}

}  // namespace fwsr::app
