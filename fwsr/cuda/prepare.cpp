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
#include "fwsr/cuda/devices.hpp"
#include "fwsr/solver/far_factor.hpp"
#include "fwsr/solver/on_card.hpp"

namespace fwsr {

namespace {

using namespace cuda;

/// Points that several runs choose from, some at a time.
struct Shared {
  std::shared_ptr<IdleDevices> devices;
  std::shared_ptr<Device> home;
  std::shared_ptr<const Stored> stored;

  explicit Shared(int number) : devices(idle_devices(number)), home(IdleDevices::lend(devices)) {}

  /// For one run on these points, which stay as long as it.
  static std::shared_ptr<Device> device(const std::shared_ptr<Shared>& of) {
    std::shared_ptr<Device> lent = IdleDevices::lend(of->devices);
    Device* const device = lent.get();
    return {device, [of, lent = std::move(lent)](Device*) mutable { lent.reset(); }};
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
        else if constexpr (requires { v.source; })
          return v.source;
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
  refuse_many_features(*device, features);
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

/// Points that were on a card, in the memory of this machine.
struct HostCopy {
  std::shared_ptr<std::vector<double>> bytes;  // as many as are needed, where any number may begin
  PointsView view;
};

HostCopy copy_to_host(const DeviceView& from) {
  const auto narrow = [](DeviceNumber number) {
    switch (number) {
      case DeviceNumber::float16:
        return NarrowNumber::float16;
      case DeviceNumber::bfloat16:
        return NarrowNumber::bfloat16;
      case DeviceNumber::uint8:
        return NarrowNumber::uint8;
      case DeviceNumber::int8:
        return NarrowNumber::int8;
      case DeviceNumber::uint16:
        return NarrowNumber::uint16;
      default:
        return NarrowNumber::int16;
    }
  };
  const bool single = from.number == DeviceNumber::float32,
             wide = from.number == DeviceNumber::float64;
  const Index size = single ? 4 : wide ? 8 : fwsr::bytes_of(narrow(from.number));
  const auto row = static_cast<std::size_t>(from.cols * size);
  HostCopy copy{.bytes = std::make_shared<std::vector<double>>(
                    (static_cast<std::size_t>(from.rows) * row + 7) / 8),
                .view = {}};
  void* const to = copy.bytes->data();
  const Device device(from.device);
  check(cudaMemcpy2DAsync(to, row, from.data, static_cast<std::size_t>(from.stride * size), row,
                          static_cast<std::size_t>(from.rows), cudaMemcpyDeviceToHost,
                          device.stream()),
        "copying points from the card");
  device.wait();
  if (single)
    copy.view = MatrixView<const float>{static_cast<const float*>(to), from.rows, from.cols};
  else if (wide)
    copy.view = MatrixView<const double>{static_cast<const double*>(to), from.rows, from.cols};
  else
    copy.view = NarrowView{to, narrow(from.number), from.rows, from.cols, from.cols};
  return copy;
}

}  // namespace

PreparedProblem prepare_on_card(const PointsView& view, std::span<const Index> subset,
                                const SelectOptions& o, const Plan& plan,
                                const KeepGoing& keep_going) {
  const std::shared_ptr<Shared> shared = shared_of(view, o.device.number);
  auto card =
      card_of(shared ? Shared::device(shared) : device_for(o.device.number, o.device_memory),
              cols_of(view), keep_going);
  Device& device = card->shard().device();
  auto points =
      shared || plan.device_reads_host
          ? std::make_unique<DevicePoints>(device, shared ? shared->stored : Stored::in_place(view),
                                           subset, preprocessing_of(o), plan.threads)
          : std::make_unique<DevicePoints>(device, Stored::copy(device, view, subset, plan.threads),
                                           std::span<const Index>{}, preprocessing_of(o));
  return prepared_from(std::move(card), std::move(points), o, plan, keep_going);
}

PreparedProblem prepare_on_card(const DeviceView& view, std::span<const Index> subset,
                                const SelectOptions& o, const Plan& plan,
                                const KeepGoing& keep_going) {
  if (plan.form == FormKind::representer) {
    HostCopy copy = copy_to_host(view);
    PreparedProblem prepared = prepare_problem(copy.view, subset, o, plan, keep_going);
    prepared.copy = std::move(copy.bytes);
    return prepared;
  }
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
    const cudaDeviceProp& card = properties_of(c);
    const auto memory = static_cast<Index>(card.totalGlobalMem);
    cards.memory.push_back(memory);
    cards.names.push_back(
        fmt::format("{}, {}", card.name, format_bytes(static_cast<double>(memory))));
  }
  return cards;
}

}  // namespace fwsr
