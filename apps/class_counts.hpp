// -k in its three spellings: 50, proportional:50, cat=3,dog=5.
#pragma once

#include <string>
#include <vector>

#include "apps/data_arguments.hpp"
#include "fwsr/solver/select.hpp"

namespace fwsr::app {

/// The number of exemplars of one run. @throws UsageError when `text` is not a number from 1
Index parse_exemplars(const std::string& text);

/// What -k means with --per-class. Names are looked up by check_class_counts.
ClassCounts parse_class_counts(const std::string& text);

/// How many exemplars are wanted of each class, in the order of `classes`. Refuses more than there
/// are, and names that are no class.
std::vector<Index> wanted_per_class(const ClassCounts& counts,
                                    const std::vector<LabelCount>& classes);

}  // namespace fwsr::app
