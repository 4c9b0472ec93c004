// Reading memory as fast as one thread can: the floor under every pass over the points.
#pragma once

#include "fwsr/base/index.hpp"

namespace bench {

/// How a thread walks over its part: in `streams` places at once, asking for what comes `ahead`
/// bytes later (0: leaves that to the processor).
struct Walk {
  int streams = 1;
  int ahead = 0;
};

/// Adds up the floats from p on; n is cut down to whole steps. The sum is returned so that no
/// compiler leaves the reads out.
float read_all(const float* p, fwsr::Index n, Walk walk);

}  // namespace bench
