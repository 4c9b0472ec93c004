// Devices that a run has done with, for the next one: to begin and to end one takes longer than a small class.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "fwsr/cuda/device.hpp"

namespace fwsr::cuda {

class IdleDevices {
 public:
  explicit IdleDevices(int number) : number_(number) {}

  /// One that nobody works with; it comes back when it is dropped.
  static std::shared_ptr<Device> lend(const std::shared_ptr<IdleDevices>& from);

 private:
  int number_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Device>> idle_;
};

/// As long as this is held by anybody, device_for lends devices of the card from it.
std::shared_ptr<IdleDevices> idle_devices(int number);
/// A device for one run, of which so many bytes may be taken; 0: all that are free.
std::shared_ptr<Device> device_for(int number, Index memory);

}  // namespace fwsr::cuda
