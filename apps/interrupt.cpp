#include "apps/interrupt.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <string_view>

#include "apps/progress.hpp"

namespace fwsr::app {

namespace {

// What the handler touches; lock-free, as a signal handler needs.
std::atomic<int> received = 0;
std::atomic<bool> with_care = false;
std::atomic<bool> line_is_wiped = false;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void handle(int signal_number) {
  received = signal_number;
  if (with_care) return;
  // The line of a progress bar is wiped first, where there can be one.
  constexpr std::string_view message = "\r\033[Kfwsr: interrupted; nothing was written\n";
  const std::string_view text = line_is_wiped ? message : message.substr(4);
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(128 + signal_number);
}

}  // namespace

void install_signal_handlers() {
  for (const int number : {SIGINT, SIGTERM}) {
    struct sigaction before = {};
    ::sigaction(number, nullptr, &before);
    if (before.sa_handler == SIG_IGN) continue;  // nohup, or a job in the background
    struct sigaction action = {};
    action.sa_handler = handle;
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(number, &action, nullptr);
  }
  line_is_wiped = terminal_can_redraw();
  ::signal(SIGPIPE, SIG_IGN);
}

void interrupt_with_care() {
  with_care = true;
}
bool interrupted() {
  return received != 0;
}
void stop_if_interrupted() {
  if (interrupted()) throw Interrupted{};
}
int interrupt_exit_code() {
  return 128 + received;
}

}  // namespace fwsr::app
