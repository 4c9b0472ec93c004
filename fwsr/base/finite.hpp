// Numbers that must be finite, because all that they are computed from is.
#pragma once

#include <cmath>

namespace fwsr {

/// Throws Error with a sentence: the points were numbers when they were first looked at, and what comes
/// of them is not.
[[noreturn]] void throw_not_finite();

inline void require_finite(double value) {
  if (!std::isfinite(value)) throw_not_finite();
}

}  // namespace fwsr
