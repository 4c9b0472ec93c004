// The arguments that say under which conditions to choose: candidates, included exemplars, weights, costs, groups.
#pragma once

#include <exception>
#include <optional>
#include <string>

#include "apps/data_arguments.hpp"
#include "fwsr/data/dataset.hpp"
#include "fwsr/solver/conditions.hpp"

namespace CLI {
class App;
}

namespace fwsr::app {

struct ConditionsArguments {
  std::string candidates, exclude, include;              // files that list points
  std::string include_points, represent;                 // other data sets
  std::string weights, cost, groups;                     // files with one entry per point ...
  std::string weight_column, cost_column, group_column;  // ... or columns of DATA
  std::string at_least, at_most;                         // "2", or "a=2,b=1"
};

/// Visits every argument that was given, as (name, text); names are those of the options, with underscores.
template <class Visit>
void describe_given(const ConditionsArguments& a, Visit&& visit) {
  const auto see = [&](const char* name, const std::string& text) {
    if (!text.empty()) visit(name, text);
  };
  see("candidates", a.candidates);
  see("exclude", a.exclude);
  see("include", a.include);
  see("include_points", a.include_points);
  see("represent", a.represent);
  see("weights", a.weights);
  see("weight_column", a.weight_column);
  see("cost", a.cost);
  see("cost_column", a.cost_column);
  see("groups", a.groups);
  see("group_column", a.group_column);
  see("at_least", a.at_least);
  see("at_most", a.at_most);
}

/// `other_sets`: also --include-points and --represent.
void add_conditions_arguments(CLI::App& app, ConditionsArguments& a, bool other_sets = true);

/// Refuses what contradicts itself, and has columns of `data` that are conditions left out of the features. Call after
/// parsing. @throws UsageError
void check_conditions_arguments(const CLI::App& app, const ConditionsArguments& a,
                                DataArguments& data);

/// Whether points of other data sets come behind those of DATA.
bool has_more_points(const ConditionsArguments& a);

/// The points of DATA, then those to be represented in their place, then those that are included. @throws Error
struct MorePoints {
  Dataset data;
  Index own = 0, represented = 0, included = 0;  // how many of each
};
MorePoints with_more_points(const ConditionsArguments& a, const DataArguments& from, Dataset data);

/// Reads the files, for the points of `data` alone. @throws Error with the file and the line
Conditions read_conditions(const ConditionsArguments& a, const DataArguments& from,
                           const Dataset& data);
/// The same, read when they are first asked for and never again: a list may come through a pipe.
class ConditionsOnce {
 public:
  /// @throws Error, the same every time
  const Conditions& of(const ConditionsArguments& a, const DataArguments& from,
                       const Dataset& data);

 private:
  std::optional<Conditions> found_;
  std::exception_ptr problem_;
};
/// The same for all of `more`: only those of DATA may be chosen, and where others are represented they count nothing.
Conditions for_more_points(Conditions conditions, const MorePoints& more);

}  // namespace fwsr::app
