#include "apps/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "apps/summary.hpp"
#include "apps/text.hpp"

namespace fwsr::app {

namespace {

/// A variable that is set to something.
bool environment_has(const char* name) {
  const char* value = std::getenv(name);
  return value && *value;
}

std::size_t terminal_width() {
  struct winsize size = {};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

std::string clock_text(double seconds) {
  const Index whole = static_cast<Index>(std::clamp(seconds, 0.0, 3.6e8));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

bool terminal_can_redraw() {
  const char* kind = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) && kind && *kind && std::string_view(kind) != "dumb";
}

bool terminal_has_colour() {
  return terminal_can_redraw() && !environment_has("NO_COLOR");
}

std::string progress_line(const Progress& p, double seconds, std::size_t width) {
  if (p.stage == Progress::Stage::exchange)
    return fmt::format("{} exemplars chosen; exchanging, {} so far  {}", p.exemplars, p.exchanges,
                       clock_text(seconds));
  if (p.stage == Progress::Stage::certificate)
    return fmt::format("{} exemplars chosen; weights and certificate  {}", p.exemplars,
                       clock_text(seconds));
  if (p.step == 0) return fmt::format("setting up  {}", clock_text(seconds));
  const double done =
      p.wanted > 0
          ? std::clamp(static_cast<double>(p.exemplars) / static_cast<double>(p.wanted), 0.0, 1.0)
          : 0;
  const double rate = seconds > 0 ? static_cast<double>(p.step) / seconds : 0;
  std::string facts = fmt::format("{}/{} exemplars  {:.{}f} steps/s", p.exemplars, p.wanted, rate,
                                  rate < 10 ? 1 : 0);
  if (done > 0)
    facts += fmt::format("  {} left, then certificate", clock_text(seconds * (1 - done) / done));
  const std::size_t cells =
      width > facts.size() + 14 ? std::min<std::size_t>(30, width - facts.size() - 4) : 0;
  if (cells == 0) return facts.substr(0, width);
  const auto full = static_cast<std::size_t>(done * static_cast<double>(cells));
  std::string bar(full, '=');
  if (full < cells) bar += '>';
  bar.resize(cells, ' ');
  return fmt::format("[{}] {}", bar, facts);
}

ProgressBar::ProgressBar(bool quiet)
    : active_(!quiet && terminal_can_redraw()), colour_(terminal_has_colour()) {}

ProgressBar::~ProgressBar() {
  clear();
}

void ProgressBar::say(std::string_view phase) {
  if (!active_) return;
  const std::lock_guard lock(mutex_);
  draw(shown(phase));
}

bool ProgressBar::is_due() {
  if (calls_++ == 0) start_ = Clock::now();
  if (drawn_ && seconds_since(last_) < 0.1) return false;
  last_ = Clock::now();
  return true;
}

void ProgressBar::show_phase(std::string_view phase, const Progress& progress) {
  if (!active_) return;
  const std::lock_guard lock(mutex_);
  if (!is_due()) return;
  std::string line = fmt::format("{}  {}", shown(phase), clock_text(seconds_since(start_)));
  if (progress.exemplars > 0)
    line += fmt::format("  {}/{} exemplars", progress.exemplars, progress.wanted);
  draw(line.substr(0, terminal_width() - 1));
}

void ProgressBar::show(const Progress& progress) {
  if (!active_) return;
  const std::lock_guard lock(mutex_);
  if (!is_due()) return;
  draw(progress_line(progress, seconds_since(start_), terminal_width() - 1));
}

void ProgressBar::clear() {
  const std::lock_guard lock(mutex_);
  if (!drawn_) return;
  write_stderr("\r\033[K");
  drawn_ = false;
}

void ProgressBar::draw(const std::string& line) {
  const std::string_view on = colour_ ? "\033[36m" : "", off = colour_ ? "\033[0m" : "";
  write_stderr(fmt::format("\r\033[K{}{}{}", on, line, off));
  drawn_ = true;
}

}  // namespace fwsr::app
