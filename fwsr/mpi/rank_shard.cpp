#include "fwsr/mpi/rank_shard.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "fwsr/base/result.hpp"
#include "fwsr/kernel/formula.hpp"

namespace fwsr::mpi {

RankDevice device_of(const SelectOptions& o) {
  return {.card = o.device.kind == DeviceChoice::Kind::cuda,
          .number = o.device.number,
          .memory = o.device_memory};
}

std::optional<std::string> not_on_cards(const PlanFacts& facts, const SelectOptions& o) {
  if (o.device.kind != DeviceChoice::Kind::cuda) return std::nullopt;
  const auto instead = [](const std::string& why) {
    return "cards of several ranks " + why + ", or leave the device out";
  };
  if (facts.sparse) return instead("take dense points; give a dense matrix");
  if (holds_kernel_on_card(facts, o))
    return instead("hold points or rows of a factor, no kernel; use rbf with a rank, or linear");
  if (formula_of(o.kernel.type).linear) return std::nullopt;
  if (o.kernel.type != KernelType::rbf)
    return instead("have factors of the rbf kernel alone; use rbf");
  if (!o.conditions.weights.empty() || !o.conditions.included.empty())
    return instead("keep weights and included exemplars with the linear and cosine kernels");
  return std::nullopt;
}

std::unique_ptr<ByteShard> shard_of(const Communicator& communicator, const RankDevice& device,
                                    const PointsView& view, std::span<const Index> subset,
                                    const Preprocessing& prep, const Portion& portion,
                                    Index rows_before, int threads) {
  if (!device.card) {
    auto shard = std::make_unique<PointShard>(threads);
    shard->add(0, std::make_unique<Points>(view, subset, prep, portion, rows_before));
    return in_bytes(std::move(shard));
  }
  const Cards cards = find_cards();
  if (cards.names.empty())
    throw Error(fmt::format("rank {} cannot work on a card: {}; leave the device out",
                            communicator.rank(), cards.why_none));
  const int count = static_cast<int>(cards.names.size());
  const int number = (device.number + communicator.place_on_this_machine()) % count;
  return shard_on_card(view, subset, prep, portion, rows_before,
                       {.number = number, .memory = device.memory}, threads);
}

}  // namespace fwsr::mpi
