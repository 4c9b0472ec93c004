// The answer of `fwsr select` as its writers see it: one selection, or one per class, laid end to
// end.
#pragma once

#include <string>
#include <vector>

#include "apps/class_counts.hpp"
#include "apps/conditions_arguments.hpp"
#include "fwsr/data/dataset.hpp"
#include "fwsr/methods/methods.hpp"
#include "fwsr/solver/select.hpp"

namespace fwsr::app {

struct SelectResult {
  const Dataset& data;
  const Request& request;
  ExemplarCount count;        // -k
  bool method_named = false;  // by --method
  bool per_class = false;
  /// The classes in their order; without --per-class one part that has no name and all points.
  std::vector<ClassSelection> parts;
  Seconds seconds;
  int threads = 1;
  bool interrupted = false;             // while exemplars were exchanged: they are the best so far
  ConditionsArguments conditions = {};  // as they were given
  DataArguments source = {};            // how DATA was read
  std::vector<std::string> checksums = {};  // of the exemplars, for JSON
  Index own = 0, represented = 0;           // points of DATA, and behind them those of --represent
};

/// What is to be run: of all points, or of every class.
struct SelectPlan {
  Plan all = {};
  std::vector<ClassPlan> classes = {};
};

/// One chosen point.
struct Pick {
  Index index = 0;       // row of the data, from 0
  Index rank = 0;        // order of choosing within its part, from 0
  std::size_t part = 0;  // which of SelectResult::parts
  double weight = 0;
  double strength = 0;
  bool filled = false;
  bool included = false;
};

/// All picks, part by part, each in the order of choosing.
std::vector<Pick> picks_of(const SelectResult& result);

/// Their rows of the data.
std::vector<Index> exemplars_of(const SelectResult& result);

/// True when the user must be told which picks the algorithm did not choose: `fill` was asked for,
/// or a class no larger than asked gave all it has.
bool shows_filled(const SelectResult& result);

/// True when some were there already.
bool shows_included(const SelectResult& result);

/// For every point of the data the position of its exemplar in picks_of; -1 for points of classes
/// that gave none.
std::vector<Index> assignment_of(const SelectResult& result);

/// The codes of every point over all picks, n x picks row by row: zero for exemplars of other
/// classes.
std::vector<double> class_codes_of(const SelectResult& result);

/// exemplars_reached when every part reached its number, else the way the first other one ended.
Status status_of(const SelectResult& result);

/// What the reader, the planner and the solver want the user to know; those of a class name it.
std::vector<std::string> warnings_of(const SelectResult& result);

}  // namespace fwsr::app
