// Points in the memory of this process, mapped from a file, or streamed from one: the plain PointSet, a single shard that
// is asked directly, and the oracle of others.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/prep/points.hpp"
#include "fwsr/solver/asked_shard.hpp"
#include "fwsr/solver/gathered_points.hpp"
#include "fwsr/solver/point_shard.hpp"

namespace fwsr {

/// A shard in the same process, asked directly.
class OneShard : public AskedShard<PointShard> {
 public:
  using AskedShard::AskedShard;
  /// Some points of a set as points of their own, which need no copies here.
  std::unique_ptr<Points> some(Index set, const std::vector<Index>& points) const {
    return std::make_unique<Points>(shard().points(set), points);
  }
};

class LocalPoints final : public GatheredPoints<OneShard> {
 public:
  /// `points` are the caller's. `keep_going` is asked now and then, and Interrupted is thrown when it says no.
  LocalPoints(const Points& points, int threads, KeepGoing keep_going = {})
      : GatheredPoints(std::make_shared<OneShard>(threads, std::move(keep_going)), new_id(),
                       facts_of(points)) {
    shards()->shard().add(set(), points);
  }
  /// The points of `without`, which has no eta, with one.
  LocalPoints(const Points& points, LocalPoints& without)
      : GatheredPoints(without, new_id(), facts_of(points)) {
    shards()->shard().add(set(), points);
  }
  void whole_row(Index i, double* out) const override {
    shards()->shard().points(set()).row(i, out);
  }

 private:
  static PointFacts facts_of(const Points& points) {
    return {.size = points.size(),
            .dim = points.dim(),
            .features = points.features(),
            .single = points.single(),
            .unit = points.unit(),
            .eta = points.eta(),
            .rms_norm = points.rms_norm()};
  }
};

}  // namespace fwsr
