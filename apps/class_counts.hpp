// -k in its three spellings: 50, proportional:50, cat=3,dog=5.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/data_arguments.hpp"
#include "apps/json.hpp"
#include "fwsr/solver/select.hpp"

namespace fwsr::app {

/// -k as given, and what it means.
struct ExemplarCount {
  std::string text;
  Index number = 0;                      // of all points; 0: per class
  std::optional<ClassCounts> per_class;  // with --per-class
};
/// @throws UsageError for what is no number from 1, and for other spellings without --per-class. Names of classes are
/// looked up by wanted_per_class.
ExemplarCount parse_exemplars(const std::string& text, bool per_class);
/// "2", or "a=2,b=1": numbers from `least` on; `option` begins every message. @throws UsageError
ClassCounts parse_counts(const std::string& text, const std::string& option, Index least);
/// The number, or the text where that says more.
Json json_of(const ExemplarCount& count);

/// How many exemplars are wanted of each class, in the order of `classes`. Refuses more than there
/// are, and names that are no class.
std::vector<Index> wanted_per_class(const ClassCounts& counts,
                                    const std::vector<LabelCount>& classes);

}  // namespace fwsr::app
