// Bytes that come one after the other, nobody knows how many. Internal.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>

#include "fwsr/base/memory_budget.hpp"
#include "fwsr/base/result.hpp"

namespace fwsr {

/// Room for them grows by an eighth at a time, and every growth is counted. Large blocks are not
/// copied when they grow: the system moves their pages.
class GrowingBytes {
 public:
  explicit GrowingBytes(const MemoryBudget& budget = MemoryBudget()) : memory_(budget) {}
  GrowingBytes(GrowingBytes&&) noexcept = default;
  GrowingBytes& operator=(GrowingBytes&&) noexcept = default;

  /// Where the next bytes may be put, not nowhere. `name` begins the message when there is no room.
  Result<std::span<std::byte>> room(const std::string& name);
  /// The same for so many bytes at least, of which it is known that they come.
  Result<std::span<std::byte>> room_for(const std::string& name, std::size_t bytes);
  /// That so many bytes of the room have been filled.
  void filled(std::size_t bytes) { size_ += bytes; }
  /// No more will come: what was not filled is given back.
  void finish();

  std::span<const std::byte> bytes() const { return {start_.get(), size_}; }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(std::byte* start) const { std::free(start); }
  };
  void resize(std::size_t capacity);

  std::unique_ptr<std::byte[], Free> start_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  MemoryShare memory_;
};

}  // namespace fwsr
