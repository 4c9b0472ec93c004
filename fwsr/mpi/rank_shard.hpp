// A rank's portion of the points, on its processor or on a card of its own.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "fwsr/mpi/communicator.hpp"
#include "fwsr/prep/points.hpp"
#include "fwsr/solver/on_card.hpp"
#include "fwsr/solver/transport.hpp"

namespace fwsr::mpi {

/// Where ranks hold their points. Of the cards of a machine each rank takes one: the first rank there that of this number,
/// the next the next, and after the last card the first again.
struct RankDevice {
  bool card = false;
  int number = 0;
  Index memory = 0;  // of a card that may be taken; 0: all that is free
};
template <class A>
void fields(A& a, RankDevice& v) {
  a(v.card, v.number, v.memory);
}
RankDevice device_of(const SelectOptions& o);

/// Why cards of ranks cannot serve this request, and what to do instead; nothing: they can, or are not asked for. `facts`
/// are of the points of a rank.
std::optional<std::string> not_on_cards(const PlanFacts& facts, const SelectOptions& o);

/// `rows_before` and `subset` as those of Points. Throws Error where this rank has no card and needs one.
std::unique_ptr<ByteShard> shard_of(const Communicator& communicator, const RankDevice& device,
                                    const PointsView& view, std::span<const Index> subset,
                                    const Preprocessing& prep, const Portion& portion,
                                    Index rows_before, int threads);

}  // namespace fwsr::mpi
