// The two synthetic sets of the paper. The same seed gives the same numbers for any number of
// threads: every row has a stream of random numbers of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/data/dataset.hpp"

namespace fwsr {

struct Synthetic {
  DenseMatrix<double> points;
  std::vector<Index> labels{};     // one per point, see each function
  std::vector<Index> exemplars{};  // rows of the points to be found again, ascending; may be empty
};

struct ConvexOptions {
  Index exemplars = 30;    // generating points
  Index points = 120;      // further points, each a mixture of some exemplars
  Index dimensions = 200;  //
  Index mixed = 3;         // exemplars in each mixture, all different
  double noise = 0;        // standard deviation of the Gaussian noise on each number of a mixture
  std::uint64_t seed = 0;
};

/// Experiment 1. The exemplars have independent standard normal entries. Every other point is
/// sum w_i e_i over `mixed` exemplars e_i drawn at random, with weights w uniform on the simplex,
/// plus noise; the exemplars themselves have none. The paper does not say how exemplars and
/// weights are drawn; these are the plainest choices. Exemplars stand at random rows, so that a
/// method that prefers early points gains nothing. Labels: 1 for the exemplars, 0 for the others.
/// @throws Error when an option makes no sense
Synthetic convex_combinations(const ConvexOptions& options = {});

struct BlobOptions {
  Index points = 1000;
  Index clusters = 10;  // the paper's k, which it varies
  Index dimensions = 1500;
  double deviation = 20;   // standard deviation of each coordinate around its centre
  double center_box = 10;  // centres are uniform in [-center_box, center_box] per coordinate
  std::uint64_t seed = 0;
};

/// Experiment 2: what scikit-learn's make_blobs draws (other numbers, the same distribution).
/// Clusters have sizes that differ by at most one, and stand in random order. Labels: the number
/// of the cluster, from 0. @throws Error when an option makes no sense
Synthetic blobs(const BlobOptions& options = {});

}  // namespace fwsr
