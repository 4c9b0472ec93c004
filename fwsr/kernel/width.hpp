// What the width of a kernel is found from, where nobody gives one (default_gamma).
#pragma once

#include "fwsr/base/index.hpp"
#include "fwsr/kernel/kernel.hpp"

namespace fwsr {

/// How many samples of up to 1000 evenly spaced points, of all whose pairs the distances are taken: one for the median;
/// for other quantiles, which few far points decide, more of them where there are more points.
Index width_samples(Index n, const Width& wanted);
/// How many points these are in all. Evenly spaced ones, as many, have the width of all n.
Index width_sample(Index n, const Width& wanted);

}  // namespace fwsr
