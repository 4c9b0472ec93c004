// What tests of several methods share.
#pragma once

#include <vector>

#include "fwsr/base/at.hpp"
#include "fwsr/base/random.hpp"
#include "fwsr/solver/options.hpp"
#include "oracle/oracle.hpp"
#include "problems.hpp"

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

/// Points of a kind, stored in any way that holds them.
inline problems::Data data_of(problems::Kind kind, Index n, Index d, Rng& rng) {
  const auto storage = static_cast<problems::Storage>(rng.below(6));
  return problems::Data(n, d, problems::make_values(kind, n, d, false, rng), storage);
}
/// Points of any kind, in numbers that a storage of float32 holds as they are.
inline problems::Data random_data(Rng& rng, Index n, Index d) {
  const auto kind = static_cast<problems::Kind>(rng.below(problems::kinds));
  const auto storage = static_cast<problems::Storage>(rng.below(6));
  const bool single = static_cast<int>(storage) % 2 == 0 || kind == problems::Kind::offset;
  return problems::Data(n, d, problems::make_values(kind, n, d, single, rng), storage);
}
inline problems::Data gaussian_data(Index n, Index d, Rng& rng) {
  return problems::Data(n, d, problems::make_values(problems::Kind::gaussian, n, d, false, rng),
                        problems::Storage::dense_f64);
}
/// The n x n inner products of points of d numbers, as a kernel that somebody gives.
inline problems::Data kernel_data(const std::vector<double>& points, Index n, Index d) {
  std::vector<double> k(at(n * n));
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j)
      for (Index l = 0; l < d; ++l)
        k[at(i * n + j)] += points[at(i * d + l)] * points[at(j * d + l)];
  return problems::Data(n, n, k, problems::Storage::dense_f64);
}

/// Whether row j of the points or of the kernel is row i.
inline bool same_point(const oracle::Matrix<oracle::Real>& m, Index i, Index j) {
  for (Index l = 0; l < m.cols; ++l)
    if (m(i, l) != m(j, l)) return false;
  return true;
}

}  // namespace fwsr
