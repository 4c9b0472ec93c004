// The unit that the entries of a kernel are computed in.
#pragma once

#include <algorithm>
#include <cmath>

namespace fwsr {

/// A kernel's entries times unit^2, so that neither they nor their sums leave the range of numbers.
struct KernelScale {
  double unit = 1;      // a power of two: sqrt(max K_ii + eta^2) is between 1 and 2 in it
  double eta = 0;       // in this unit
  double rms_norm = 0;  // in this unit: sqrt(mean K_ii)
};

/// `largest` and `rms` are max K_ii and sqrt(mean K_ii); a relative eta is in units of `rms`.
inline KernelScale scale_of_kernel(double largest, double rms, double eta, bool eta_relative) {
  const double absolute = eta_relative ? eta * rms : eta;
  const double top = std::sqrt(largest + absolute * absolute);
  const double unit = top > 0 ? std::ldexp(1.0, std::clamp(-std::ilogb(top), -500, 500)) : 1.0;
  return {.unit = unit, .eta = absolute * unit, .rms_norm = rms * unit};
}

}  // namespace fwsr
