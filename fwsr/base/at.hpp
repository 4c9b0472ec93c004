// An Index as the standard library wants it. For sources, not for headers that other folders include.
#pragma once

#include <cstddef>

#include "fwsr/base/index.hpp"

namespace fwsr {

/// For v[at(i)]. @pre i >= 0
inline std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

}  // namespace fwsr
