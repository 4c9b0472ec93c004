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
#include "fwsr/solver/transport.hpp"

namespace fwsr {

/// Why the card cannot serve this request, as the end of a sentence that begins with "the card"; nothing: it can.
std::optional<std::string> not_on_card(const PlanFacts& facts, const SelectOptions& o);

/// Whether the card holds K itself, in place of points or a factor: for a kernel that is computed and no rank, one that
/// was given, sparse points, and what is asked of all entries of K. @pre not_on_card has nothing to say
bool holds_kernel_on_card(const PlanFacts& facts, const SelectOptions& o);

/// What a run will take of the card's memory, in bytes: K, or the points unless they are there already, or are read where
/// they are, and what is beside them.
double card_bytes(const PlanFacts& facts, const SelectOptions& o, bool reads_host);
/// Why K does not fit a card with this memory, and what would; nothing: it does, or is not asked for.
std::optional<std::string> too_large_for_card(const PlanFacts& facts, const SelectOptions& o,
                                              Index card_memory);
/// Whether a card with this memory reads the points where they are, in that of this machine: with them it would be full.
bool reads_host(const PlanFacts& facts, const SelectOptions& o, Index card_memory);

/// ... and of that of this machine, beside the points. @pre not of a run with K on the card
double host_bytes_beside_card(const PlanFacts& facts, const SelectOptions& o);

/// How K is held on a card.
struct HoldOnCard {
  const Points* points = nullptr;  // that `source` is computed from; null: it was given
  Kernel type = {};                // and how
  bool single = false;             // entries in float32
  int number = 0;                  // of the card
  Index memory = 0;                // bytes that may be taken of it; 0: all that are free
  int threads = 1;
  KeepGoing keep_going = {};
  /// Where entries in double do not fit: they are computed on the card whenever they are asked for.
  bool or_computed = false;
};
/// All of K in the memory of a card. `source` computes or borrows it, and outlives the answer. Throws MemoryError where it
/// does not fit.
std::unique_ptr<KernelMatrix> hold_on_card(const KernelMatrix& source, const HoldOnCard& how);

/// Which card holds some points, and how much of its memory may be taken; 0: all that is free.
struct CardFor {
  int number = 0;
  Index memory = 0;
};
/// A portion of more points on a card, the others being on other cards (transport.hpp): dense rows, all or those of
/// `subset`. `rows_before`: rows of the data that are in other places, for messages.
std::unique_ptr<ByteShard> shard_on_card(const PointsView& view, std::span<const Index> subset,
                                         const Preprocessing& prep, const Portion& portion,
                                         Index rows_before, const CardFor& card, int threads);

/// Of a plan by points on a card, or by a factor of their kernel. @pre the plan is for the card
PreparedProblem prepare_on_card(const PointsView& view, std::span<const Index> subset,
                                const SelectOptions& o, const Plan& plan,
                                const KeepGoing& keep_going);
/// On the card or by the processor, as the plan says.
PreparedProblem prepare_as_planned(const PointsView& view, std::span<const Index> subset,
                                   const SelectOptions& o, const Plan& plan,
                                   const KeepGoing& keep_going);
/// As long as it is held, runs that end leave what they began on this card to those that begin.
std::shared_ptr<void> keep_devices(int number);
/// As long as it is held, prepare_on_card finds all of these points on the card: they are copied once for all classes, or
/// settings. May be null.
std::shared_ptr<void> share_on_card(const PointsView& view, const SelectOptions& o, int threads);
PreparedProblem prepare_on_card(const DeviceView& view, std::span<const Index> subset,
                                const SelectOptions& o, const Plan& plan,
                                const KeepGoing& keep_going);

}  // namespace fwsr
