// A comparison as a table to read, the same on the command line and in Python.
#pragma once

#include <string>
#include <vector>

#include "fwsr/methods/compare.hpp"

namespace fwsr {

/// One line: a method with its spreads of measures(), in their order.
struct TableLine {
  std::string name;
  Comparison::Outcome outcome = Comparison::Outcome::done;
  std::vector<Spread> spreads = {};
};

/// The best of every column is marked by a star, and so are those that equal it but for rounding: to a part 1e-9, or
/// both 0 to Measure::rounding, which are shown as 0. No star where all are equal. Measures that nobody could take are left out.
std::string comparison_table(const std::vector<TableLine>& lines);

/// One entry of it: "0.1234 +-0.005", "12.3 MiB", or "-" where nothing could be measured.
std::string measured_text(const Spread& spread, const Measure& measure);

/// Which of some means are the best of a measure; none where all are equal, or all but one are no numbers.
std::vector<bool> best_of(const std::vector<double>& means, const Measure& measure);

}  // namespace fwsr
