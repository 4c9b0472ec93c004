// A selection from points that live in several places (transport.hpp), led from here: the same bits as from all points in
// one place. Linear and cosine kernels, and those of distances by a factor; q = 2.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fwsr/solver/learnt_points.hpp"
#include "fwsr/solver/select.hpp"
#include "fwsr/solver/sweep.hpp"
#include "fwsr/solver/transport.hpp"

namespace fwsr {

using ShardedPoints = LearntPoints<RemoteShards>;

/// Why points that live in several places cannot serve this request, and what to do instead, as the end of a sentence that
/// begins with them; nothing: they can.
std::optional<std::string> not_by_shards(const PointsShape& shape, const SelectOptions& options);
/// What select_sharded would do. Throws OptionError for what shards do not serve, with what to do instead.
Plan plan_sharded(const PointsShape& shape, const SelectOptions& options);

/// `threads` for what is small and done here. @pre the shards hold their points as set 0, unlearnt, with the
/// preprocessing of the options (preprocessing_of)
Selection select_sharded(std::shared_ptr<RemoteShards> shards, const PointsShape& shape,
                         const SelectOptions& given, const Observer& observer = {});
/// @pre the same, without eta
std::vector<SweepEntry> sweep_sharded(std::shared_ptr<RemoteShards> shards,
                                      const PointsShape& shape, const SelectOptions& options,
                                      const std::vector<NumberOrAuto>& alphas,
                                      const std::vector<double>& etas,
                                      const Observer& observer = {});

}  // namespace fwsr
