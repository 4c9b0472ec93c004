// What a person at the terminal sees while a selection runs.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <string_view>

#include "fwsr/solver/selection.hpp"

namespace fwsr::app {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start);

/// True when standard error is a terminal that can redraw a line.
bool terminal_can_redraw();
/// True when standard error also takes colours (NO_COLOR is not set).
bool terminal_has_colour();

/// One line on standard error, redrawn in place: how far, how fast, how long still. Draws nothing
/// when standard error is no terminal or the user wants quiet. May be called from many threads.
class ProgressBar {
 public:
  explicit ProgressBar(bool quiet);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// A phase without steps: "reading set.csv".
  void say(std::string_view phase);
  /// One step of the algorithm; redraws at most ten times a second.
  void show(const Progress& progress);
  /// One of several pieces of work, without a guess of how long it will take: "smrs (3 of 6) ...".
  void show_phase(std::string_view phase, const Progress& progress);
  /// Wipes the line.
  void clear();

 private:
  bool is_due();
  void draw(const std::string& line);

  const bool active_;
  const bool colour_;
  std::mutex mutex_;
  bool drawn_ = false;
  Index calls_ = 0;
  Clock::time_point start_;  // of the selection, at the first call of show
  Clock::time_point last_;
};

/// The line itself: "[=====>    ] 12/50 exemplars  830 steps/s  0:04 left, then certificate"; before the steps and
/// after them what is done, and how long it has been.
std::string progress_line(const Progress& progress, double seconds, std::size_t width);

}  // namespace fwsr::app
