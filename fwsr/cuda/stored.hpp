// Rows of numbers in the memory of a card, or where it reads them, as they were given.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "fwsr/base/index.hpp"
#include "fwsr/cuda/device.hpp"
#include "fwsr/cuda/rows.hpp"
#include "fwsr/solver/device.hpp"

namespace fwsr::cuda {

/// Stored rows on the card: copied there, or somebody else's who had them there.
struct Stored {
  const void* data = nullptr;
  Number number = Number::float32;
  Index rows = 0, features = 0, stride = 0;
  bool whole_pieces = false;
  Array<unsigned char> own = {};
  bool on_host = false;                   // in the memory of this machine, which the card reads ...
  std::shared_ptr<void> registered = {};  // ... as long as this is held
  /// Rows first .. last, one after the other, `features` numbers each, for the processor to hand on: those that are in no
  /// memory that the card reads. May be asked from several threads.
  std::function<void(Index first, Index last, std::byte* out)> read = {};

  /// A copy of dense rows, all or those of `subset`, each filled up with zeros to pieces of 16 bytes.
  /// Throws Error for sparse points.
  static std::shared_ptr<const Stored> copy(Device& device, const PointsView& points,
                                            std::span<const Index> subset, int threads);
  /// Rows that will be written, each filled up to pieces of 16 bytes.
  static Stored room(Device& device, Number number, Index rows, Index features);
  /// Dense rows where they are: in the memory of this machine, which the card reads by itself, or, where that cannot be
  /// held in place, or they are in a file, fetched by the processor.
  static std::shared_ptr<const Stored> in_place(const PointsView& points);
  /// Rows that are on the card already.
  static std::shared_ptr<const Stored> borrow(const DeviceView& points);
};

}  // namespace fwsr::cuda
