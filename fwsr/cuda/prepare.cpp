// The door of this folder: points made ready on a card for a run (solver/on_card.hpp).
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

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

/// Points that several runs choose from, some at a time; and devices that a run has done with, for the next one: to begin
/// and to end one takes longer than a small class.
struct Shared {
  std::shared_ptr<Device> home;
  std::shared_ptr<const Stored> stored;
  std::mutex mutex;
  std::vector<std::unique_ptr<Device>> idle;

  explicit Shared(int number) : home(std::make_shared<Device>(number)) {}

  /// @pre the devices are given back before all of this ends
  static std::shared_ptr<Device> device(const std::shared_ptr<Shared>& of, int number) {
    std::unique_ptr<Device> found;
    {
      const std::lock_guard lock(of->mutex);
      if (!of->idle.empty()) found = std::move(of->idle.back()), of->idle.pop_back();
    }
    if (found)
      found->enter();
    else
      found = std::make_unique<Device>(number);
    return {found.release(), [of](Device* device) {
              device->leave();
              const std::lock_guard lock(of->mutex);
              of->idle.emplace_back(device);
            }};
  }
};

/// Those that are held now, by where the points stand in the memory of the processor, their shape, and the card.
using HeldPoints = std::tuple<const void*, Index, Index, int>;
std::mutex held_mutex;
std::map<HeldPoints, std::weak_ptr<Shared>> held;

const void* address_of(const PointsView& view) {
  return std::visit(
      [](const auto& v) -> const void* {
        if constexpr (requires { v.data; })
          return v.data;
        else if constexpr (requires { v.numbers; })
          return v.numbers;
        else
          return nullptr;
      },
      view);
}

HeldPoints key_of(const PointsView& view, int card) {
  return {address_of(view), rows_of(view), cols_of(view), card};
}

std::shared_ptr<Shared> shared_of(const PointsView& view, int card) {
  const std::lock_guard lock(held_mutex);
  const auto found = held.find(key_of(view, card));
  return found == held.end() ? nullptr : found->second.lock();
}

std::shared_ptr<OneCard> card_of(std::shared_ptr<Device> device, Index features,
                                 const KeepGoing& keep_going) {
  if (const Index most = most_features(*device); features >= most)
    throw Error(
        fmt::format("the points have {} features, and this card has room for {}; use device cpu",
                    features, most - 1));
  return std::make_shared<OneCard>(std::move(device), keep_going);
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
  set_terms(prepared, o, plan);
  // C is held for the next run on these points.
  prepared.form_of_set = [own = static_cast<CudaPoints*>(prepared.set.get()),
                          held = std::shared_ptr<const Covariance>()]() mutable {
    held = own->covariance(false);
    return std::make_unique<CudaForm>(*own);
  };
  return prepared;
}

}  // namespace

PreparedProblem prepare_on_card(const PointsView& view, std::span<const Index> subset,
                                const SelectOptions& o, const Plan& plan,
                                const KeepGoing& keep_going) {
  const std::shared_ptr<Shared> shared = shared_of(view, o.device.number);
  auto card = card_of(shared ? Shared::device(shared, o.device.number)
                             : std::make_shared<Device>(o.device.number, o.device_memory),
                      cols_of(view), keep_going);
  Device& device = card->shard().device();
  auto points =
      shared || plan.device_reads_host
          ? std::make_unique<DevicePoints>(device, shared ? shared->stored : Stored::in_place(view),
                                           subset, preprocessing_of(o))
          : std::make_unique<DevicePoints>(device, Stored::copy(device, view, subset, plan.threads),
                                           std::span<const Index>{}, preprocessing_of(o));
  return prepared_from(std::move(card), std::move(points), o, plan, keep_going);
}

PreparedProblem prepare_on_card(const DeviceView& view, std::span<const Index> subset,
                                const SelectOptions& o, const Plan& plan,
                                const KeepGoing& keep_going) {
  auto card =
      card_of(std::make_shared<Device>(view.device, o.device_memory), view.cols, keep_going);
  auto points = std::make_unique<DevicePoints>(card->shard().device(), Stored::borrow(view), subset,
                                               preprocessing_of(o));
  return prepared_from(std::move(card), std::move(points), o, plan, keep_going);
}

std::shared_ptr<void> share_on_card(const PointsView& view, const SelectOptions& o, int threads) {
  if (o.device_memory > 0) return nullptr;  // one class at a time takes less
  auto shared = std::make_shared<Shared>(o.device.number);
  const double bytes =
      static_cast<double>(entries_of(view)) * static_cast<double>(number_bytes(view));
  if (bytes > 0.5 * static_cast<double>(shared->home->memory())) return nullptr;  // likewise
  shared->stored = Stored::copy(*shared->home, view, {}, threads);
  const std::lock_guard lock(held_mutex);
  std::erase_if(held, [](const auto& one) { return one.second.expired(); });
  held[key_of(view, o.device.number)] = shared;
  return shared;
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
      cards.memory.push_back(static_cast<Index>(properties.totalGlobalMem)),
          cards.names.push_back(
              fmt::format("{}, {}", properties.name,
                          format_bytes(static_cast<double>(properties.totalGlobalMem))));
  }
  return cards;
}

}  // namespace fwsr
