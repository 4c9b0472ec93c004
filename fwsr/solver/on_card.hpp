// What the solver asks of fwsr/cuda: points made ready on a card.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "fwsr/solver/device.hpp"
#include "fwsr/solver/options.hpp"
#include "fwsr/solver/planner.hpp"
#include "fwsr/solver/prepared_problem.hpp"

namespace fwsr {

/// Why the card cannot serve this request, as the end of a sentence that begins with "the card"; nothing: it can.
std::optional<std::string> not_on_card(const PlanFacts& facts, const SelectOptions& o);

/// What a run will take of the card's memory, in bytes: the points unless they are there already, or are read where they
/// are, and what is beside them.
double card_bytes(const PlanFacts& facts, const SelectOptions& o, bool reads_host);
/// Whether a card with this memory reads the points where they are, in that of this machine: with them it would be full.
bool reads_host(const PlanFacts& facts, const SelectOptions& o, Index card_memory);

/// ... and of that of this machine, beside the points.
double host_bytes_beside_card(const PlanFacts& facts, const SelectOptions& o);

/// @pre the plan is for the card
PreparedProblem prepare_on_card(const PointsView& view, std::span<const Index> subset,
                                const SelectOptions& o, const Plan& plan,
                                const KeepGoing& keep_going);
/// As long as it is held, prepare_on_card finds all of these points on the card: they are copied once for all classes, or
/// settings. May be null.
std::shared_ptr<void> share_on_card(const PointsView& view, const SelectOptions& o, int threads);
PreparedProblem prepare_on_card(const DeviceView& view, std::span<const Index> subset,
                                const SelectOptions& o, const Plan& plan,
                                const KeepGoing& keep_going);

}  // namespace fwsr
