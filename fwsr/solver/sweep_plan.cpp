// The settings of a sweep, and how many of them run together.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/memory.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/linalg/pass.hpp"
#include "fwsr/prep/points.hpp"
#include "fwsr/solver/planner.hpp"
#include "fwsr/solver/sweep_points.hpp"

namespace fwsr {

// ------------------------------------------------------------------------------------- the settings

namespace {

void refuse_twice(const char* name, std::vector<NumberOrAuto> values) {
  std::sort(values.begin(), values.end());
  const auto twice = std::adjacent_find(values.begin(), values.end());
  if (twice != values.end())
    throw Error(fmt::format("{} {} is listed more than once; list every value once", name,
                            text_of(*twice)));
}

}  // namespace

Grid make_grid(const SelectOptions& options, const std::vector<NumberOrAuto>& alphas,
               const std::vector<double>& etas) {
  if (options.alpha || options.beta || options.eta != 0)
    throw Error("a sweep sets alpha and eta itself; leave alpha, beta and eta out of the options");
  Grid grid;
  grid.alphas = alphas;
  grid.etas = etas;
  if (alphas.empty()) grid.alphas.emplace_back();
  if (etas.empty()) grid.etas.push_back(0);
  // Sizes first, so that the product cannot overflow.
  const auto most = static_cast<std::size_t>(most_settings);
  if (grid.alphas.size() > most || grid.etas.size() > most || grid.size() > most_settings)
    throw Error(fmt::format("{} alphas x {} etas are more than {} settings; list fewer",
                            grid.alphas.size(), grid.etas.size(), most_settings));
  refuse_twice("alpha", alphas);
  refuse_twice("eta", {etas.begin(), etas.end()});
  return grid;
}

SelectOptions options_of(const SelectOptions& options, const NumberOrAuto& alpha, double eta) {
  SelectOptions own = options;
  own.alpha = alpha;
  own.eta = eta;
  return own;
}

void refuse_settings(const SelectOptions& options, const Grid& grid, Index n, Index d) {
  for (const NumberOrAuto& alpha : grid.alphas)
    for (const double eta : grid.etas)
      if (const auto problem = find_problem(options_of(options, alpha, eta), n, d))
        throw OptionError(*problem);
}

// ------------------------------------------------------------------------------------------ the plan

namespace {

/// What the covariance form takes beside the plan of one setting, in bytes.
struct SharedBytes {
  double common, each_eta, each_setting;
};
SharedBytes shared_bytes(const Plan& p) {
  const auto n = static_cast<double>(p.points), d = static_cast<double>(p.features + 1);
  // r and C twice, in float32's precision and in double's; of every eta also the points' numbers.
  // A setting has three products of every row that a thread works on, twice; at most pass_lanes
  // vectors beside theirs fill up their number.
  const double products = 2.0 * Points::SharedPass::most_rows * p.threads;
  return {.common = 8 * (6 * n + 2 * d * d + pass_lanes * (products + d)),
          .each_eta = 8 * (6 * n + 2 * d * d),
          .each_setting = 8 * (2 * n + n / 512 + 2 * d * d + 19 * d + 3 * products)};
}

}  // namespace

SweepPlan plan_settings(const Plan& each, const SelectOptions& options, const Grid& grid,
                        int side_by_side) {
  SweepPlan plan{.each = each,
                 .settings = grid.size(),
                 .at_once = 1,
                 .rounds = grid.size(),
                 .etas = static_cast<Index>(grid.etas.size()),
                 .memory_bytes = each.memory_bytes,
                 .shared = {},
                 .grid = grid};
  const auto n = static_cast<double>(each.points);
  const double answers = static_cast<double>(grid.size() - 1) *
                         (8.0 * 3 * static_cast<double>(options.exemplars) +
                          (options.codes ? 8 * n * static_cast<double>(options.exemplars) : 0.0) +
                          (options.assignment ? 8 * n : 0.0));
  const double limit = memory_limit(each.data_bytes, options);
  const double room = (limit - static_cast<double>(each.data_bytes)) / side_by_side -
                      static_cast<double>(each.memory_bytes) - answers;
  if (room < 0)
    throw MemoryError(
        fmt::format("the answers of {} settings need {} more than the {} that may be used; sweep "
                    "fewer settings, "
                    "or leave out their codes and assignments",
                    grid.size(), format_bytes(-room * side_by_side), format_bytes(limit)));
  plan.memory_bytes += static_cast<Index>(answers);
  if (each.device != "cpu") {
    plan.shared =
        each.form == FormKind::representer
            ? "the settings of an eta share the kernel on the card, and run one after the other"
            : "the points are copied to the card once, and settings run one after the other";
    return plan;
  }
  if (each.form != FormKind::covariance || each.kernel_by != KernelBy::none) {
    plan.shared = fmt::format("the settings of an eta share {}, and run one after the other",
                              each.kernel_by == KernelBy::held     ? "the kernel matrix"
                              : each.kernel_by == KernelBy::factor ? "the factor"
                                                                   : "points and kernel");
    return plan;
  }
  if (!options.conditions.empty() || options.budget) {
    plan.shared = "under conditions the settings of an eta share the points, and run one by one";
    return plan;
  }
  const SharedBytes bytes = shared_bytes(each);
  const auto needs = [&](Index settings) {
    // Where they stand does not matter: as if every batch began in the middle of an eta.
    const auto alphas = static_cast<Index>(grid.alphas.size());
    const auto etas =
        std::min(static_cast<Index>(grid.etas.size()), (settings + alphas - 2) / alphas + 1);
    return bytes.common + static_cast<double>(etas) * bytes.each_eta +
           static_cast<double>(settings) * bytes.each_setting;
  };
  if (grid.size() < 2 || needs(2) > room) {
    plan.shared = grid.size() < 2 ? "one setting has nothing to share"
                                  : "the settings run one after the other: more memory would let "
                                    "them share set-up and passes";
    return plan;
  }
  plan.at_once = grid.size();
  while (needs(plan.at_once) > room) --plan.at_once;
  plan.rounds = block_count(grid.size(), plan.at_once);
  // Batches of nearly equal size: the last one should not run alone.
  plan.at_once = block_count(grid.size(), plan.rounds);
  plan.memory_bytes += static_cast<Index>(needs(plan.at_once));
  plan.shared = "all settings share the set-up, and a pass over the points serves " +
                (plan.rounds == 1 ? "every one that is still running"
                                  : fmt::format("{} of them", plan.at_once));
  return plan;
}

namespace {

Grid checked_grid(const SelectOptions& options, const std::vector<NumberOrAuto>& alphas,
                  const std::vector<double>& etas, Index n, Index d) {
  Grid grid = make_grid(options, alphas, etas);
  if (options.exemplars == 0)
    throw OptionError("a sweep needs the number of exemplars, with a budget too");
  refuse_settings(options, grid, n, d);
  return grid;
}

}  // namespace

SweepPlan plan_sweep(const PointsView& points, const SelectOptions& options,
                     const std::vector<NumberOrAuto>& alphas, const std::vector<double>& etas) {
  const Grid grid = checked_grid(options, alphas, etas, rows_of(points), cols_of(points));
  return plan_settings(plan(points, options), options, grid, 1);
}

SweepPlan plan_sweep(const DeviceView& points, const SelectOptions& options,
                     const std::vector<NumberOrAuto>& alphas, const std::vector<double>& etas) {
  const Grid grid = checked_grid(options, alphas, etas, points.rows, points.cols);
  SweepPlan found = plan_settings(plan(points, options), options, grid, 1);
  if (found.each.form == FormKind::covariance)
    found.shared = "the points are on the card, and settings run one after the other";
  return found;
}

}  // namespace fwsr
