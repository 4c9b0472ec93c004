// Structs as bytes and back. What a struct consists of is said once, by a function beside it:
//
//   template <class A> void fields(A& archive, Leader& v) { archive(v.run, v.tie); }
//
// Numbers are written as they stand in memory: both ends run the same program on the same kind of processor. Internal.
#pragma once

#include <array>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/base/result.hpp"

namespace fwsr {

using Bytes = std::vector<std::byte>;

class BytesWriter {
 public:
  template <class... T>
  void operator()(T&... values) {
    (put(values), ...);
  }
  Bytes take() { return std::move(bytes_); }

 private:
  template <class T>
  void put(T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
      append(&value, sizeof value);
    else
      fields(*this, value);
  }
  template <class T>
  void put(std::vector<T>& values) {
    auto count = static_cast<Index>(values.size());
    put(count);
    if constexpr (std::is_arithmetic_v<T>)
      append(values.data(), values.size() * sizeof(T));
    else
      for (T& v : values) put(v);
  }
  void put(std::string& text) {
    auto count = static_cast<Index>(text.size());
    put(count);
    append(text.data(), text.size());
  }
  void append(const void* from, std::size_t count) {
    const auto* begin = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), begin, begin + count);
  }

  Bytes bytes_;
};

/// Throws Error when the bytes end early, or say more than they hold.
class BytesReader {
 public:
  explicit BytesReader(std::span<const std::byte> bytes) : left_(bytes) {}
  template <class... T>
  void operator()(T&... values) {
    (get(values), ...);
  }
  bool at_end() const { return left_.empty(); }
  std::span<const std::byte> rest() const { return left_; }

 private:
  template <class T>
  void get(T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
      take(&value, sizeof value);
    else
      fields(*this, value);
  }
  template <class T>
  void get(std::vector<T>& values) {
    values.assign(count_of(std::is_arithmetic_v<T> ? sizeof(T) : 1), T{});
    if constexpr (std::is_arithmetic_v<T>)
      take(values.data(), values.size() * sizeof(T));
    else
      for (T& v : values) get(v);
  }
  void get(std::string& text) {
    text.assign(count_of(1), '\0');
    take(text.data(), text.size());
  }
  /// How many follow: no more than the bytes that are left can hold.
  std::size_t count_of(std::size_t least_bytes) {
    Index count = 0;
    get(count);
    if (count < 0 || static_cast<std::size_t>(count) > left_.size() / least_bytes) refuse();
    return static_cast<std::size_t>(count);
  }
  void take(void* to, std::size_t count) {
    if (count > left_.size()) refuse();
    if (count > 0) std::memcpy(to, left_.data(), count);
    left_ = left_.subspan(count);
  }
  [[noreturn]] static void refuse() {
    throw Error(
        "a message between parts of the points is cut short; they run different programs, "
        "or the connection is broken");
  }

  std::span<const std::byte> left_;
};

}  // namespace fwsr
