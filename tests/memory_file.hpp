// Files that exist only in memory, and a way to break them systematically.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "fwsr/base/files.hpp"
#include "fwsr/base/result.hpp"

namespace fwsr::testing {

inline FileBytes memory_file(std::string_view text, std::string name = "data.txt") {
  const auto* start = reinterpret_cast<const std::byte*>(text.data());
  return FileBytes::from_memory(std::move(name), {start, start + text.size()});
}

/// `result` failed, and its message starts with `start` and holds each of `parts`.
template <class T>
void expect_failure(const Result<T>& result, std::string_view start,
                    const std::vector<std::string>& parts = {}) {
  ASSERT_FALSE(result) << "expected a failure that starts with " << start;
  const std::string& message = result.error().message;
  EXPECT_TRUE(message.starts_with(start)) << message;
  for (const std::string& part : parts)
    EXPECT_NE(message.find(part), std::string::npos) << "no '" << part << "' in: " << message;
}

/// Calls read(text) for every truncation of `text` and for every byte replaced by each of some
/// nasty ones. It may fail, with a message that starts with `name`; it must not crash.
template <class Read>
void expect_survives_damage(std::string_view text, std::string_view name, Read&& read) {
  const auto check = [&](const std::string& broken, const std::string& how) {
    const auto result = read(broken);
    if (!result) {
      ASSERT_TRUE(result.error().message.starts_with(name))
          << how << ": " << result.error().message;
    }
  };
  for (std::size_t size = 0; size < text.size(); ++size)
    check(std::string(text.substr(0, size)), "cut at " + std::to_string(size));
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string broken(text);
      broken[at] = static_cast<char>(broken[at] ^ (1 << bit));
      check(broken, "bit " + std::to_string(bit) + " of byte " + std::to_string(at));
    }
    for (const char c : std::string_view("\0\xFF\",;\n\r:#+-", 11)) {
      std::string broken(text);
      broken[at] = c;
      check(broken, "byte " + std::to_string(at));
    }
  }
}

}  // namespace fwsr::testing
