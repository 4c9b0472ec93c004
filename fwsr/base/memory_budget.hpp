// A limit on the memory that is taken while files are read, shared by all who take some of it.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "fwsr/base/index.hpp"
#include "fwsr/base/result.hpp"

namespace fwsr {

/// Copies share one limit and one count.
class MemoryBudget {
 public:
  /// `limit` bytes; 0 for what the machine has available.
  explicit MemoryBudget(Index limit = 0);

 private:
  friend class MemoryShare;
  struct State;
  std::shared_ptr<State> state_;
};

/// What one holder has of a budget. Whoever is about to take memory asks first; what was counted goes
/// back when the share ends.
class MemoryShare {
 public:
  explicit MemoryShare(const MemoryBudget& budget = MemoryBudget());
  MemoryShare(MemoryShare&& other) noexcept;
  MemoryShare& operator=(MemoryShare&& other) noexcept;
  ~MemoryShare();

  /// Counts `bytes` more, or says that `name` cannot have them. May be called from many threads.
  [[nodiscard]] std::optional<Failure> grow(const std::string& name, Index bytes);
  /// The same for `count` things of `size` bytes, as many as a file claims.
  [[nodiscard]] std::optional<Failure> grow(const std::string& name, Index count, std::size_t size);
  /// `bytes` less. @pre they were counted
  void shrink(Index bytes);
  Index bytes() const { return bytes_; }

 private:
  std::shared_ptr<MemoryBudget::State> budget_;
  std::atomic<Index> bytes_ = 0;
};

}  // namespace fwsr
