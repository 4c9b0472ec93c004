// The door of this folder: points made ready on a card for a run (solver/on_card.hpp).
#include <fmt/format.h>

#include "fwsr/base/memory.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/cuda/cuda_form.hpp"
#include "fwsr/cuda/cuda_points.hpp"
#include "fwsr/solver/far_factor.hpp"
#include "fwsr/solver/on_card.hpp"

namespace fwsr {

namespace {

using namespace cuda;

std::shared_ptr<OneCard> card_for(int number, Index features, const SelectOptions& o,
                                  const KeepGoing& keep_going) {
  auto card =
      std::make_shared<OneCard>(std::make_unique<Device>(number, o.device_memory), keep_going);
  if (const Index most = most_features(card->shard().device()); features >= most)
    throw Error(
        fmt::format("the points have {} features, and this card has room for {}; use device cpu",
                    features, most - 1));
  return card;
}

PreparedProblem prepared_from(std::shared_ptr<OneCard> card, std::unique_ptr<DevicePoints> points,
                              const SelectOptions& o, const Plan& plan,
                              const KeepGoing& keep_going) {
  const PointsShape shape = points->shape();
  card->shard().add(0, std::move(points));
  auto set = std::make_unique<CudaPoints>(std::move(card), shape, preprocessing_of(o));
  PreparedProblem prepared;
  if (plan.kernel_by == KernelBy::factor) {
    prepared = prepare_far_factor(std::move(set), o, plan, keep_going);
  } else {
    prepared.source = set->kernel();
    prepared.warning = set->warning();
    prepared.type = {.type = KernelType::linear};
    prepared.set = std::move(set);
  }
  prepared.form_of_set = [own = static_cast<CudaPoints*>(prepared.set.get())] {
    return std::make_unique<CudaForm>(*own);
  };
  return prepared;
}

}  // namespace

PreparedProblem prepare_on_card(const PointsView& view, std::span<const Index> subset,
                                const SelectOptions& o, const Plan& plan,
                                const KeepGoing& keep_going) {
  auto card = card_for(o.device.number, cols_of(view), o, keep_going);
  Device& device = card->shard().device();
  auto stored = Stored::copy(device, view, subset, plan.threads);
  auto points = std::make_unique<DevicePoints>(device, std::move(stored), std::span<const Index>{},
                                               preprocessing_of(o));
  return prepared_from(std::move(card), std::move(points), o, plan, keep_going);
}

PreparedProblem prepare_on_card(const DeviceView& view, std::span<const Index> subset,
                                const SelectOptions& o, const Plan& plan,
                                const KeepGoing& keep_going) {
  auto card = card_for(view.device, view.cols, o, keep_going);
  auto points = std::make_unique<DevicePoints>(card->shard().device(), Stored::borrow(view), subset,
                                               preprocessing_of(o));
  return prepared_from(std::move(card), std::move(points), o, plan, keep_going);
}

void wait_for_card(int number) {
  int before = 0;
  check(cudaGetDevice(&before), "asking which card is in use");
  check(cudaSetDevice(number), "choosing the card");
  check(cudaDeviceSynchronize(), "waiting for the card");
  check(cudaSetDevice(before), "choosing the card");
}

Cards find_cards() {
  Cards cards;
  cards.why_none = why_no_card();
  if (!cards.why_none.empty()) return cards;
  int count = 0;
  check(cudaGetDeviceCount(&count), "counting the cards");
  for (int c = 0; c < count; ++c) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, c) == cudaSuccess)
      cards.names.push_back(fmt::format(
          "{}, {}", properties.name, format_bytes(static_cast<double>(properties.totalGlobalMem))));
  }
  return cards;
}

}  // namespace fwsr
