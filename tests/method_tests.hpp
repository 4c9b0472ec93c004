// What tests of several methods share.
#pragma once

#include "fwsr/base/random.hpp"
#include "fwsr/solver/options.hpp"
#include "oracle/oracle.hpp"

namespace fwsr {

inline Index between(Rng& rng, Index least, Index most) {
  return least + static_cast<Index>(rng.below(static_cast<std::uint64_t>(most - least + 1)));
}

/// k exemplars of the points as they are.
inline SelectOptions plain(Index k) {
  SelectOptions o;
  o.exemplars = k;
  o.center = Center::none;
  o.threads = 2;
  return o;
}

/// Whether row j of the points or of the kernel is row i.
inline bool same_point(const oracle::Matrix<oracle::Real>& m, Index i, Index j) {
  for (Index l = 0; l < m.cols; ++l)
    if (m(i, l) != m(j, l)) return false;
  return true;
}

}  // namespace fwsr
