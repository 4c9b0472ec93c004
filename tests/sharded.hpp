// Points cut into shards that speak through bytes, and the same points in one place.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "fwsr/base/random.hpp"
#include "fwsr/solver/planner.hpp"
#include "fwsr/solver/prepared_problem.hpp"
#include "fwsr/solver/select_points.hpp"
#include "fwsr/solver/sharded_points.hpp"
#include "problems.hpp"

namespace sharding {

using fwsr::Index;
using problems::Storage;

inline std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

inline problems::Data points_like(Index n, Index d, Storage storage, std::uint64_t seed) {
  fwsr::Rng random(seed);
  const bool sparse = storage != Storage::dense_f32 && storage != Storage::dense_f64;
  std::vector<double> values(at(n * d));
  for (Index i = 0; i < n; ++i)
    for (Index l = 0; l < d; ++l)
      if (!sparse || random.uniform() < 0.4)
        values[at(i * d + l)] = (1 + static_cast<double>(l)) * random.normal() + (sparse ? 0 : 3);
  return {n, d, values, storage};
}

inline fwsr::PointsView slice(const fwsr::PointsView& view, Index first, Index count) {
  return std::visit(
      [&](auto v) -> fwsr::PointsView {
        if constexpr (requires { v.starts; })
          v.starts += first;
        else if constexpr (requires { v.data; })
          v.data += first * v.stride;
        v.rows = count;
        return v;
      },
      view);
}

/// How n points fall apart: whole segments, some shards with more than others, some with none.
inline std::vector<fwsr::Portion> cut(Index n, Index shards, fwsr::Rng& random) {
  const Index segment = fwsr::segment_size(n), segments = fwsr::block_count(n, segment);
  std::vector<Index> borders{0, segments};
  for (Index s = 1; s < shards; ++s)
    borders.push_back(static_cast<Index>(random.uniform() * static_cast<double>(segments)));
  std::sort(borders.begin(), borders.end());
  std::vector<fwsr::Portion> portions;
  for (std::size_t s = 0; s + 1 < borders.size(); ++s) {
    const Index first = borders[s] * segment, last = std::min(n, borders[s + 1] * segment);
    portions.emplace_back(first, last - first, n);
  }
  return portions;
}

inline fwsr::PointsShape shape_of(const fwsr::PointsView& view, Index n) {
  return {.size = n,
          .features = fwsr::cols_of(view),
          .sparse = fwsr::is_sparse(view),
          .single = fwsr::is_single(view)};
}

inline std::shared_ptr<fwsr::RemoteShards> connect(
    std::vector<std::unique_ptr<fwsr::PointShard>> shards) {
  std::vector<std::unique_ptr<fwsr::ByteShard>> in_bytes;
  for (auto& shard : shards) in_bytes.push_back(fwsr::in_bytes(std::move(shard)));
  return std::make_shared<fwsr::RemoteShards>(
      std::make_unique<fwsr::InProcess>(std::move(in_bytes)));
}

/// Every shard sees its own rows alone.
inline std::shared_ptr<fwsr::RemoteShards> shards_of(const fwsr::PointsView& view,
                                                     const fwsr::Preprocessing& prep,
                                                     const std::vector<fwsr::Portion>& portions) {
  std::vector<std::unique_ptr<fwsr::PointShard>> shards;
  for (const fwsr::Portion& p : portions) {
    shards.push_back(std::make_unique<fwsr::PointShard>(1 + static_cast<int>(shards.size()) % 2));
    shards.back()->add(
        0, std::make_unique<fwsr::Points>(slice(view, p.first, p.size), std::span<const Index>{},
                                          prep, p, p.first));
  }
  return connect(std::move(shards));
}
inline std::shared_ptr<fwsr::RemoteShards> shards_of(const fwsr::PointsView& view,
                                                     const fwsr::Preprocessing& prep, Index count,
                                                     std::uint64_t seed) {
  fwsr::Rng random(seed);
  return shards_of(view, prep, cut(fwsr::rows_of(view), count, random));
}

inline constexpr Index counts[] = {1, 2, 3, 7, 64};

inline fwsr::Selection sharded(const problems::Data& data, const fwsr::SelectOptions& options,
                               Index count, std::uint64_t seed) {
  return fwsr::select_sharded(shards_of(data.view(), fwsr::preprocessing_of(options), count, seed),
                              shape_of(data.view(), data.rows()), options);
}

/// The choice with all points in one place, by the form that shards have.
inline fwsr::Selection whole(const fwsr::PointsView& view, std::span<const Index> subset,
                             const fwsr::SelectOptions& options) {
  fwsr::Plan plan = fwsr::make_plan(fwsr::facts_of(view, 2), options);
  plan.form = fwsr::FormKind::covariance;
  plan.kernel_by = fwsr::KernelBy::none;
  return fwsr::select_points(view, subset, options, plan, {});
}

inline fwsr::SelectOptions by_factor(Index k, Index rank) {
  return {.exemplars = k,
          .kernel = {.type = fwsr::KernelType::rbf},
          .rank = rank,
          .codes = true,
          .assignment = true,
          .threads = 2};
}

/// The choice with all points in one place.
inline fwsr::Selection whole_by_factor(const fwsr::PointsView& view,
                                       const fwsr::SelectOptions& options) {
  const fwsr::Plan plan = fwsr::make_plan(fwsr::facts_of(view, 2), options);
  EXPECT_EQ(plan.kernel_by, fwsr::KernelBy::factor);
  return fwsr::select_points(view, {}, options, plan, {});
}

}  // namespace sharding
