#include "apps/file_fault.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string_view>

#include "apps/progress.hpp"
#include "fwsr/base/file_watch.hpp"
#include "fwsr/base/result.hpp"

namespace fwsr::app {

namespace {

std::atomic<bool> line_is_wiped = false;  // all that the handler reads; lock-free

/// One line for the handler, which may call nothing that allocates. What does not fit is cut off.
class Line {
 public:
  void add(std::string_view text) {
    const std::size_t count = std::min(text.size(), sizeof bytes_ - used_);
    std::memcpy(bytes_ + used_, text.data(), count);
    used_ += count;
  }
  /// A name without characters that a terminal would obey.
  void add_name(std::string_view name) {
    for (const char c : name.substr(0, 1024)) {
      const bool plain = static_cast<unsigned char>(c) >= ' ' && c != 127;
      add({plain ? &c : "?", 1});
    }
  }
  void write() const {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, bytes_, used_);
  }

 private:
  char bytes_[2048];
  std::size_t used_ = 0;
};

/// Nothing is written while points are read, so that no half-written file is left behind.
void handle(int signal_number, siginfo_t* about, void*) {
  const char* const name = mapped_file_at(about->si_addr);
  if (!name) {  // not ours: the same instruction faults again, and the program ends
    ::signal(signal_number, SIG_DFL);
    return;
  }
  Line line;
  if (line_is_wiped) line.add("\r\033[K");
  line.add("fwsr: ");
  line.add_name(name);
  line.add(
      ": was cut off while it was read, or cannot be read any more; leave the file alone and start "
      "again\n");
  line.write();
  ::_exit(1);
}

}  // namespace

void install_fault_handler() {
  line_is_wiped = terminal_can_redraw();
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGBUS, &action, nullptr);
}

void refuse_if_changed(const Dataset& data) {
  if (!data.watch) return;
  if (const auto change = data.watch->find_change()) throw Error(*change);
}

}  // namespace fwsr::app
