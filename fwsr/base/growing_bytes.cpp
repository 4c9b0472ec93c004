#include "fwsr/base/growing_bytes.hpp"

#include <algorithm>
#include <new>

namespace fwsr {

namespace {

constexpr std::size_t least = std::size_t{1} << 16;

}  // namespace

Result<std::span<std::byte>> GrowingBytes::room(const std::string& name) {
  if (size_ == capacity_) {
    const std::size_t more = std::max(least, capacity_ / 8);
    if (const auto refusal = memory_.grow(name, static_cast<Index>(more))) return *refusal;
    resize(capacity_ + more);
  }
  return std::span(start_.get() + size_, capacity_ - size_);
}

Result<std::span<std::byte>> GrowingBytes::room_for(const std::string& name, std::size_t bytes) {
  if (const std::size_t there = capacity_ - size_; there < bytes) {
    if (const auto refusal = memory_.grow(name, static_cast<Index>(bytes - there))) return *refusal;
    resize(size_ + bytes);
  }
  return std::span(start_.get() + size_, capacity_ - size_);
}

void GrowingBytes::finish() {
  const std::size_t spare = capacity_ - size_;
  resize(std::max<std::size_t>(1, size_));
  memory_.shrink(static_cast<Index>(spare));
}

void GrowingBytes::resize(std::size_t capacity) {
  void* const moved = std::realloc(start_.get(), capacity);
  if (!moved) throw std::bad_alloc{};
  static_cast<void>(start_.release());
  start_.reset(static_cast<std::byte*>(moved));
  capacity_ = capacity;
}

}  // namespace fwsr
