// A selection from points that live in several places (transport.hpp), led from here: the same bits as from all points in
// one place. Linear and cosine kernels, q = 2.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fwsr/kernel/kernel_matrix.hpp"
#include "fwsr/solver/gathered_points.hpp"
#include "fwsr/solver/select.hpp"
#include "fwsr/solver/sweep.hpp"
#include "fwsr/solver/transport.hpp"

namespace fwsr {

class ShardedPoints final : public GatheredPoints<RemoteShards> {
 public:
  /// The set that the shards hold as number 0, which has not been asked anything yet: learns what the points share.
  ShardedPoints(std::shared_ptr<RemoteShards> shards, const PointsShape& shape,
                const Preprocessing& prep);
  /// The points of `without`, which has no eta, with one.
  ShardedPoints(ShardedPoints& without, double eta, bool eta_relative);

  const PointsShape& shape() const { return learnt_.shape; }
  const std::optional<std::string>& warning() const { return learnt_.warning; }
  /// a_i into `out`; returns ||a_i||^2 without eta.
  double fetch(Index i, double* out) const;

 private:
  /// What all points share, as far as it is needed here.
  struct Learnt {
    PointsShape shape;
    Preprocessing prep;
    PointFacts facts{};
    double scale = 1;
    std::optional<std::string> warning{};
  };
  static Learnt learn_all(RemoteShards& shards, const PointsShape& shape,
                          const Preprocessing& prep);
  static Learnt learn_eta(ShardedPoints& without, Index set, double eta, bool eta_relative);
  ShardedPoints(std::shared_ptr<RemoteShards> shards, Learnt learnt);
  ShardedPoints(ShardedPoints& without, Index set, double eta, bool eta_relative);
  ShardedPoints(ShardedPoints& without, Index set, Learnt learnt);

  Learnt learnt_;
};

/// Inner products of sharded points, for the few that a run has picked.
std::unique_ptr<KernelMatrix> make_sharded_kernel(const ShardedPoints& points);

/// `threads` for what is small and done here. @pre the shards hold their points as set 0, unlearnt, with the
/// preprocessing of the options (preprocessing_of)
Selection select_sharded(std::shared_ptr<RemoteShards> shards, const PointsShape& shape,
                         const SelectOptions& options, const Observer& observer = {});
/// @pre the same, without eta
std::vector<SweepEntry> sweep_sharded(std::shared_ptr<RemoteShards> shards,
                                      const PointsShape& shape, const SelectOptions& options,
                                      const std::vector<NumberOrAuto>& alphas,
                                      const std::vector<double>& etas,
                                      const Observer& observer = {});

}  // namespace fwsr
