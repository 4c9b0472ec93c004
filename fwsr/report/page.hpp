// A selection, a comparison or a sweep as one HTML file: to be looked at in any browser, from disk, without a network.
// Pure functions of what was found and of the rows that are shown; the same bytes for the same input.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fwsr/base/keep_going.hpp"
#include "fwsr/methods/compare.hpp"
#include "fwsr/methods/request.hpp"
#include "fwsr/report/rows.hpp"
#include "fwsr/report/run.hpp"

namespace fwsr::report {

/// A page is no larger, with what it shows of points reduced where it would be.
inline constexpr std::size_t most_bytes = 2'000'000;
inline constexpr std::size_t most_bytes_with_images = 5'000'000;
inline constexpr std::size_t most_bytes_of_pictures = 4'200'000;  // out of files

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

/// What a request has chosen, of all points or of `members` of them. The selection and the members are borrowed.
Run run_of(const Request& request, const Selection& selection, std::span<const Index> members = {});

/// What was chosen, of which points.
struct SelectPage {
  Rows rows;
  About about = {};
  std::vector<Run> runs = {};             // one; or one for each class ...
  std::vector<std::string> classes = {};  // ... of this name
  std::span<const double> weights = {};   // of the points; empty: 1 each
  std::vector<Index> axes = {};           // features for the map; empty: principal components
  std::vector<std::string> warnings = {};
};
/// The whole file. For 0 threads: all cores. @throws Error for what contradicts itself: no run, exemplars beyond the points,
/// an image of another size
std::string select_page(const SelectPage& page, int threads = 0, const KeepGoing& keep_going = {});
/// The most that making it takes of memory, beside the points and what was found, in bytes.
Index select_page_bytes(Index points, Index features, Index exemplars, bool images, int threads);

/// One method of a comparison.
struct ComparedMethod {
  std::string name;
  std::string reason = {};            // without an answer: why there is none
  std::vector<Index> exemplars = {};  // of its first run
  std::vector<Spread> spreads = {};   // of measures(), in their order; without an answer none
};
ComparedMethod described(const Comparison& method);

/// Methods side by side.
struct ComparePage {
  Rows rows;
  About about = {};
  Index exemplars = 0;
  std::vector<ComparedMethod> methods = {};
};
std::string compare_page(const ComparePage& page);

/// One setting of a sweep.
struct SweepSetting {
  std::string alpha;
  double eta = 0;
  std::string status;
  Index steps = 0;
  std::vector<Index> exemplars;
  std::optional<double> error = {};  // of classes the largest
  double f = 0, gap = 0;
};
/// Of one run, or of the runs of its classes together.
SweepSetting described(std::string alpha, double eta, Status status,
                       const std::vector<const Selection*>& runs);
/// Settings of alpha and eta side by side.
struct SweepPage {
  Rows rows;
  About about = {};
  std::vector<SweepSetting> settings = {};
  std::optional<std::size_t> best = {};
};
std::string sweep_page(const SweepPage& page);

}  // namespace fwsr::report
