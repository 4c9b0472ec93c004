#include "fwsr/base/memory_budget.hpp"

#include <limits>
#include <utility>

#include <fmt/format.h>

#include "fwsr/base/memory.hpp"

namespace fwsr {

struct MemoryBudget::State {
  static constexpr Index not_asked = -1;
  const bool given;
  std::atomic<Index> limit;  // of the machine: not asked for before it may matter
  std::atomic<Index> taken = 0;

  explicit State(Index most) : given(most > 0), limit(given ? most : not_asked) {}

  /// Whether `total` bytes may be taken, of which `held` are taken already.
  bool allows(Index total, Index held) {
    constexpr Index small = Index{1} << 24;
    if (limit == not_asked) {
      if (total <= small) return true;
      limit = held + available_memory();
    }
    return total <= limit;
  }
};

namespace {

std::string in_words(Index bytes) {
  return format_bytes(static_cast<double>(bytes));
}

Failure refusal(const std::string& name, Index total, Index limit, bool given) {
  const std::string needed = in_words(total), there = in_words(limit);
  return {
      fmt::format("{}: takes more memory while it is read than the {} {}{}; {}, use a smaller part "
                  "of the data, "
                  "or save it as a npy file, which is read in blocks where memory is short",
                  name, there, given ? "allowed" : "that are free",
                  needed == there ? "" : fmt::format(" ({} or more)", needed),
                  given ? "allow more" : "use a machine with more")};
}

}  // namespace

MemoryBudget::MemoryBudget(Index limit) : state_(std::make_shared<State>(limit)) {}

MemoryShare::MemoryShare(const MemoryBudget& budget) : budget_(budget.state_) {}

// What is moved from keeps its budget, and can take from it again.
MemoryShare::MemoryShare(MemoryShare&& other) noexcept
    // NOLINTNEXTLINE(performance-move-constructor-init)
    : budget_(other.budget_), bytes_(other.bytes_.exchange(0)) {}

MemoryShare& MemoryShare::operator=(MemoryShare&& other) noexcept {
  if (this == &other) return *this;
  budget_->taken -= bytes_;
  budget_ = other.budget_;
  bytes_ = other.bytes_.exchange(0);
  return *this;
}

MemoryShare::~MemoryShare() {
  budget_->taken -= bytes_;
}

std::optional<Failure> MemoryShare::grow(const std::string& name, Index bytes) {
  Index held = budget_->taken;
  Index total = 0;
  do {
    if (__builtin_add_overflow(held, bytes, &total)) total = std::numeric_limits<Index>::max();
    if (!budget_->allows(total, held)) return refusal(name, total, budget_->limit, budget_->given);
  } while (!budget_->taken.compare_exchange_weak(held, total));
  bytes_ += bytes;
  return std::nullopt;
}

std::optional<Failure> MemoryShare::grow(const std::string& name, Index count, std::size_t size) {
  Index bytes = 0;
  if (__builtin_mul_overflow(count, static_cast<Index>(size), &bytes))
    bytes = std::numeric_limits<Index>::max();
  return grow(name, bytes);
}

void MemoryShare::shrink(Index bytes) {
  bytes_ -= bytes;
  budget_->taken -= bytes;
}

}  // namespace fwsr
