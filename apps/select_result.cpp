#include "apps/select_result.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "apps/text.hpp"
#include "fwsr/base/at.hpp"

namespace fwsr::app {

std::vector<Pick> picks_of(const SelectResult& result) {
  std::vector<Pick> picks;
  for (std::size_t p = 0; p < result.parts.size(); ++p) {
    const Selection& s = result.parts[p].selection;
    for (std::size_t t = 0; t < s.exemplars.size(); ++t)
      picks.push_back({.index = s.exemplars[t],
                       .rank = static_cast<Index>(t),
                       .part = p,
                       .weight = t < s.weights.size() ? s.weights[t] : 0,
                       .strength = t < s.strength.size() ? s.strength[t] : 0,
                       .filled = t < s.filled.size() && s.filled[t],
                       .included = t < s.included.size() && s.included[t]});
  }
  return picks;
}

std::vector<Index> exemplars_of(const SelectResult& result) {
  std::vector<Index> all;
  for (const Pick& pick : picks_of(result)) all.push_back(pick.index);
  return all;
}

bool shows_filled(const SelectResult& result) {
  const std::vector<Pick> picks = picks_of(result);
  return result.request.options.fill ||
         std::any_of(picks.begin(), picks.end(), [](const Pick& pick) { return pick.filled; });
}

bool shows_included(const SelectResult& result) {
  return !result.request.options.conditions.included.empty();
}

std::vector<Index> assignment_of(const SelectResult& result) {
  if (!result.per_class) return result.parts.front().selection.assignment;
  std::vector<Index> all(result.data.labels.size(), -1);
  Index first = 0;
  for (const ClassSelection& part : result.parts) {
    const std::vector<Index>& own = part.selection.assignment;
    const std::vector<Index>& members = part.members;
    for (std::size_t i = 0; i < own.size() && i < members.size(); ++i)
      if (own[i] >= 0) all[at(members[i])] = first + own[i];
    first += static_cast<Index>(part.selection.exemplars.size());
  }
  return all;
}

std::vector<double> class_codes_of(const SelectResult& result) {
  const std::size_t columns = picks_of(result).size();
  std::vector<double> codes(result.data.labels.size() * columns, 0.0);
  std::size_t first = 0;
  for (const ClassSelection& part : result.parts) {
    const std::size_t own = part.selection.exemplars.size();
    const std::vector<Index>& members = part.members;
    for (std::size_t i = 0; i < members.size(); ++i)
      std::copy_n(part.selection.codes.begin() + static_cast<Index>(i * own), own,
                  codes.begin() + static_cast<Index>(at(members[i]) * columns + first));
    first += own;
  }
  return codes;
}

Status status_of(const SelectResult& result) {
  for (const ClassSelection& part : result.parts)
    if (part.selection.status != Status::exemplars_reached) return part.selection.status;
  return Status::exemplars_reached;
}

std::vector<std::string> warnings_of(const SelectResult& result) {
  std::vector<std::string> all;
  for (const ClassSelection& part : result.parts)
    for (const std::string& warning : part.selection.warnings)
      all.push_back(result.per_class && !warning.starts_with("class ")
                        ? fmt::format("class {}: {}", in_quotes(part.name), warning)
                        : warning);
  return all;
}

}  // namespace fwsr::app
