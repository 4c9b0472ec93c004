#include "fwsr/cuda/devices.hpp"

#include <map>

#include "fwsr/solver/on_card.hpp"

namespace fwsr::cuda {

namespace {

std::mutex kept_mutex;
std::map<int, std::weak_ptr<IdleDevices>> kept;

}  // namespace

std::shared_ptr<Device> IdleDevices::lend(const std::shared_ptr<IdleDevices>& from) {
  std::unique_ptr<Device> found;
  {
    const std::lock_guard lock(from->mutex_);
    if (!from->idle_.empty()) found = std::move(from->idle_.back()), from->idle_.pop_back();
  }
  if (found)
    found->enter();
  else
    found = std::make_unique<Device>(from->number_);
  return {found.release(), [from](Device* device) {
            device->leave();
            const std::lock_guard lock(from->mutex_);
            from->idle_.emplace_back(device);
          }};
}

std::shared_ptr<IdleDevices> idle_devices(int number) {
  const std::lock_guard lock(kept_mutex);
  std::shared_ptr<IdleDevices> found = kept[number].lock();
  if (!found) kept[number] = found = std::make_shared<IdleDevices>(number);
  return found;
}

std::shared_ptr<Device> device_for(int number, Index memory) {
  std::shared_ptr<IdleDevices> from;
  if (memory == 0) {
    const std::lock_guard lock(kept_mutex);
    if (const auto found = kept.find(number); found != kept.end()) from = found->second.lock();
  }
  return from ? IdleDevices::lend(from) : std::make_shared<Device>(number, memory);
}

}  // namespace fwsr::cuda

namespace fwsr {

std::shared_ptr<void> keep_devices(int number) {
  return cuda::idle_devices(number);
}

}  // namespace fwsr
