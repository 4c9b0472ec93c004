// A selection, a comparison or a sweep as one HTML file: to be looked at in any browser, from disk, without a network.
// Pure functions of what was found and of the rows that are shown; the same bytes for the same input.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fwsr/methods/compare.hpp"
#include "fwsr/report/measure.hpp"
#include "fwsr/report/rows.hpp"

namespace fwsr::report {

/// A page is no larger, with what it shows of points reduced where it would be.
inline constexpr std::size_t most_bytes = 2'000'000;
inline constexpr std::size_t most_bytes_with_images = 5'000'000;
inline constexpr Index most_points_in_map = 20'000;

/// How it came to be, for people who want to make it again.
struct About {
  std::string command = {};  // that makes it again; empty: it is not known
  /// Words of a command that chooses again, but for the number of exemplars and what is locked and left out: these are
  /// added. Empty: there is none.
  std::vector<std::string> again = {};
  std::string excluded = {};  // the file of points that were left out already
  bool python = false;        // the commands are Python's
  Seconds seconds = {};
  Index peak_bytes = 0;  // 0: not known
  int threads = 1;
  std::string version = {};
};

struct SelectPage {
  Rows rows;
  About about = {};
  std::vector<Run> runs = {};             // one; or one for each class ...
  std::vector<std::string> classes = {};  // ... of this name
  std::span<const double> weights = {};   // of the points; empty: 1 each
  std::vector<Index> axes = {};           // features for the map; empty: principal components
  std::vector<std::string> warnings = {};
};
std::string select_page(const SelectPage& page, int threads, const KeepGoing& keep_going = {});

struct ComparePage {
  Rows rows;
  About about = {};
  Index exemplars = 0;
  std::vector<Comparison> methods = {};
};
std::string compare_page(const ComparePage& page);

/// One setting of a sweep.
struct SweepSetting {
  std::string alpha;
  double eta = 0;
  std::string status;
  Index steps = 0;
  std::vector<Index> exemplars;
  std::optional<double> error = {};
  double f = 0, gap = 0, f_at_zero = 0;
};
struct SweepPage {
  Rows rows;
  About about = {};
  std::vector<SweepSetting> settings = {};
  std::optional<std::size_t> best = {};
};
std::string sweep_page(const SweepPage& page);

}  // namespace fwsr::report
