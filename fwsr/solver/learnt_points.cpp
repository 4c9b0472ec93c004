#include "fwsr/solver/learnt_points.hpp"

#include <fmt/format.h>

#include "fwsr/base/result.hpp"

namespace fwsr {

void refuse_other_points(const std::vector<WhichPoints::Reply>& told, const PointsShape& shape) {
  Index next = 0;
  for (const WhichPoints::Reply& s : told) {
    if (s.of != shape.size || s.features != shape.features || s.sparse != shape.sparse ||
        s.single != shape.single)
      throw Error(fmt::format(
          "a shard holds some of {} points of {} features, and {} of {} were announced; they must "
          "be of one size and one kind",
          s.of, s.features, shape.size, shape.features));
    if (s.size > 0 && s.first != next)
      throw Error(
          fmt::format("a shard begins with point {} where {} should follow: points are "
                      "missing, or there twice",
                      s.first, next));
    next += s.size;
  }
  if (next != shape.size)
    throw Error(fmt::format("the shards hold {} points, of {}", next, shape.size));
}

}  // namespace fwsr
