// In place of this folder where the library is built without CUDA.
#include "fwsr/base/result.hpp"
#include "fwsr/solver/on_card.hpp"

namespace fwsr {

namespace {

constexpr const char* without =
    "this fwsr was built without CUDA (the package fwsr-cuda13 has it, or -D FWSR_CUDA=ON)";

}  // namespace

PreparedProblem prepare_on_card(const PointsView&, std::span<const Index>, const SelectOptions&,
                                const Plan&, const KeepGoing&) {
  throw Error(without);
}

PreparedProblem prepare_on_card(const DeviceView&, std::span<const Index>, const SelectOptions&,
                                const Plan&, const KeepGoing&) {
  throw Error(without);
}

std::unique_ptr<KernelMatrix> hold_on_card(const KernelMatrix&, const HoldOnCard&) {
  throw Error(without);
}

std::unique_ptr<ByteShard> shard_on_card(const PointsView&, std::span<const Index>,
                                         const Preprocessing&, const Portion&, Index,
                                         const CardFor&, int) {
  throw Error(without);
}

std::shared_ptr<void> share_on_card(const PointsView&, const SelectOptions&, int) {
  throw Error(without);
}

std::shared_ptr<void> keep_devices(int) {
  throw Error(without);
}

void wait_for_card(int) {
  throw Error(without);
}

Cards find_cards() {
  return {.names = {}, .memory = {}, .why_none = without};
}

}  // namespace fwsr
