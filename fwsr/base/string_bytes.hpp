// What text takes of memory, for who counts it. Internal.
#pragma once

#include <string>

#include "fwsr/base/index.hpp"

namespace fwsr {

/// What `text` takes beside itself: short texts stand within the string.
inline Index heap_bytes(const std::string& text) {
  return text.capacity() < sizeof(std::string) / 2 ? 0 : static_cast<Index>(text.capacity()) + 17;
}
/// What `text` takes as one more of a list that doubles when it is full: for a moment the list is
/// there twice, the new one half empty.
inline Index growing_string_bytes(const std::string& text) {
  return 3 * Index{sizeof(std::string)} + heap_bytes(text);
}

}  // namespace fwsr
