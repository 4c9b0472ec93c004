// "1 point", "2 points": for messages.
#pragma once

#include <string>

#include <fmt/format.h>

#include "fwsr/base/index.hpp"

namespace fwsr {

inline std::string point_count(Index count) {
  return fmt::format("{} point{}", count, count == 1 ? "" : "s");
}

}  // namespace fwsr
