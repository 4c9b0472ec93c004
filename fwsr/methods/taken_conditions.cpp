#include "fwsr/methods/taken_conditions.hpp"

#include <fmt/format.h>

#include "fwsr/base/result.hpp"
#include "fwsr/methods/methods.hpp"

namespace fwsr {

namespace {

bool asked(const SelectOptions& o, Condition condition) {
  const Conditions& c = o.conditions;
  switch (condition) {
    case Condition::candidates:
      return !c.candidates.empty();
    case Condition::include:
      return !c.included.empty();
    case Condition::weights:
      return !c.weights.empty();
    case Condition::cost:
      return !c.costs.empty();
    case Condition::groups:
      return !c.groups.empty() || !c.at_least.empty() || !c.at_most.empty();
    case Condition::budget:
      return o.budget.has_value();
    case Condition::until_error:
      return o.until_error.has_value();
    case Condition::time_limit:
      return o.time_limit.has_value();
  }
  return false;
}

std::string methods_that_take(Condition condition) {
  std::vector<std::string> names;
  for (const Method& m : methods())
    if (takes_condition(m, condition)) names.push_back(m.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// With what else people give that asks for the same.
const char* in_words(Condition condition) {
  switch (condition) {
    case Condition::candidates:
      return "candidates (exclude, represent, update)";
    case Condition::weights:
      return "weights (represent)";
    case Condition::include:
      return "include (include_points, update)";
    case Condition::groups:
      return "groups (at_least, at_most)";
    default:
      return name_of(condition);
  }
}

}  // namespace

const char* name_of(Condition v) {
  switch (v) {
    case Condition::candidates:
      return "candidates";
    case Condition::include:
      return "include";
    case Condition::weights:
      return "weights";
    case Condition::cost:
      return "cost";
    case Condition::groups:
      return "groups";
    case Condition::budget:
      return "budget";
    case Condition::until_error:
      return "until_error";
    case Condition::time_limit:
      return "time_limit";
  }
  return "?";
}

std::vector<Condition> all_conditions() {
  const auto all = values_of(Condition{});
  return {all.begin(), all.end()};
}

bool takes_condition(const Method& method, Condition condition) {
  return std::find(method.conditions.begin(), method.conditions.end(), condition) !=
         method.conditions.end();
}

void refuse_conditions(const Method& method, const Settings& settings, const SelectOptions& o) {
  for (const Condition condition : values_of(Condition{}))
    if (asked(o, condition) && !takes_condition(method, condition))
      throw OptionError(
          fmt::format("{} does not choose under the condition {}; methods that do: {}", method.name,
                      in_words(condition), methods_that_take(condition)));
  if (takes_dissimilarities(settings) && !o.conditions.at_least.empty())
    throw OptionError(
        "at_least may have to add points that the method did not choose, the farthest ones, and a "
        "matrix of dissimilarities has no space for that; leave it out");
}

}  // namespace fwsr
