#include <algorithm>
#include <limits>
#include <numeric>

#include "fwsr/base/at.hpp"
#include "fwsr/cuda/cuda_shard.hpp"
#include "fwsr/solver/scores.hpp"

namespace fwsr::cuda {

CardRun::CardRun(Device& device, const DevicePoints& points, const std::vector<Index>& places,
                 Index before, const Array<double>& r)
    : c(device, points.size()),
      h(device, points.size()),
      device_(device),
      points_(points),
      places_(places),
      before_(before),
      r_(r),
      rows_(points.rows()),
      padded_(padded_features(rows_)),
      groups_((points.size() + group_points - 1) / group_points),
      blocks_(pass_blocks(device, rows_)),
      vectors_(device, 3 * padded_),
      group_best_(device, groups_),
      block_best_(device, blocks_),
      block_point_(device, blocks_),
      state_(device, 1),
      record_(device, most_ahead) {
  if (points.size() == 0) return;
  if (!points.readable()) given_ = Array<double>(device, points.dim() + own_numbers);
  for (double* to : {c.get(), h.get()})
    check(cudaMemcpyAsync(to, r.get(), at(points.size()) * sizeof(double), cudaMemcpyDeviceToDevice,
                          device.stream()),
          "beginning a run");
  find_best();
}

RunView CardRun::view() const {
  return {.rows = rows_,
          .tie = tie_double,
          .state = state_.get(),
          .record = record_.get(),
          .vectors = vectors_.get(),
          .padded = padded_,
          .r = r_.get(),
          .c = c.get(),
          .h = h.get(),
          .prices = prices_.get(),
          .group_best = group_best_.get(),
          .block_best = block_best_.get(),
          .block_point = block_point_.get(),
          .groups = groups_,
          .blocks = blocks_};
}

void CardRun::pass(const RunView& run) const {
  if (rows_.size == 0) return;
  if (points_.brought() == 0) return launch_pass(device_, run);
  points_.for_parts(device_.stream(), [&](const Rows& rows, Index first) {
    RunView part = run;
    part.rows = rows;
    part.r = run.r + first, part.c = run.c + first, part.h = run.h + first;
    if (run.prices) part.prices = run.prices + first;
    part.group_best = run.group_best + first / group_points;
    part.groups = (rows.size + group_points - 1) / group_points;
    if (first > 0) part.et = nullptr;  // E has taken the step
    launch_pass(device_, part);
  });
  launch_find_best(device_, run);  // of all parts
}

void CardRun::decide(const RunView& run, bool take) const {
  if (given_.empty()) return launch_decide(device_, run, take);
  launch_lead(device_, run);
  const RunState state = Array<RunState>::read(device_, run.state);
  if (state.waits != Waits::no) return;
  points_.gather({&state.point, 1}, given_.get());
  RunView with = run;
  with.given = given_.get();
  launch_decide(device_, with, take);
}

void CardRun::steps(const RunView& run, Index most) const {
  if (points_.brought() == 0) return launch_steps(device_, run);
  for (Index s = 0; s < most; ++s) {
    decide(run, true);
    pass(run);
  }
}

double CardRun::seconds_at_most() const {
  const double bytes_a_second = points_.brought() > 0 ? 5e9 : 1e12;
  constexpr double apart = 1e-4;  // of a step without points
  return apart +
         static_cast<double>(rows_.size * rows_.stride * bytes_of(rows_.number)) / bytes_a_second;
}

void CardRun::find_best() const {
  if (rows_.size > 0) launch_find_best(device_, view());
}

void CardRun::set_prices(std::span<const double> prices) {
  std::vector<double> own;
  for (Index i = 0; i < points_.size(); ++i) own.push_back(prices[at(point(i))]);
  const bool all = std::all_of(own.begin(), own.end(), [](double p) { return p == 1; });
  prices_ = all ? Array<double>() : Array<double>(device_, std::span<const double>(own));
  find_best();
}

double CardRun::largest() const {
  double most = -std::numeric_limits<double>::infinity();
  if (rows_.size == 0) return most;
  for (const double best : block_best_.get_all()) most = std::max(most, best);
  return most;
}

CardRun::First CardRun::first(double enough) const {
  if (rows_.size == 0) return {};
  const std::vector<double> groups = group_best_.get_all();
  const auto found =
      std::find_if(groups.begin(), groups.end(), [&](double best) { return best >= enough; });
  if (found == groups.end()) return {};
  const Index begin = (found - groups.begin()) * group_points;
  const Index count = std::min<Index>(group_points, points_.size() - begin);
  const std::vector<double> squares = c.get_some(begin, count);
  const std::vector<double> prices =
      prices_.empty() ? std::vector<double>(squares.size(), 1.0) : prices_.get_some(begin, count);
  for (std::size_t i = 0; i < squares.size(); ++i)
    if (prices[i] > 0 && squares[i] * prices[i] >= enough)
      return {.candidate = begin + static_cast<Index>(i), .square = squares[i], .price = prices[i]};
  return {};
}

std::vector<double> CardRun::row(Index candidate) const {
  return points_.few(std::span(&candidate, 1)).rows;
}

void CardRun::advance(const Advance::Step& step) {
  RunState state;
  state.gamma = step.step.gamma;
  state.length = step.step.length;
  std::vector<double> vectors(at(3 * padded_));
  const PointCopies shared = points_.copies({});  // means and weights, as all points have them
  const auto features = at(rows_.features);
  int which = 0;
  for (const Numbers* z : {&step.a, &step.av, &step.rv}) {
    const auto to = vectors.begin() + which * padded_;
    std::copy_n(z->data(), features, to);
    if (!rows_.centred_first()) {
      if (!shared.common.means.empty())
        state.offset[which] =
            std::inner_product(to, to + rows_.features, shared.common.means.begin(), 0.0);
      if (rows_.mean) {
        const double mean =
            std::accumulate(to, to + rows_.features, 0.0) / static_cast<double>(features);
        std::for_each(to, to + rows_.features, [&](double& v) { v -= mean; });
      }
      if (!shared.common.weights.empty())
        std::transform(to, to + rows_.features, shared.common.weights.begin(), to,
                       std::multiplies<>());
    }
    state.last[which] = rows_.eta != 0 ? rows_.eta * z->all()[features] : 0.0;
    ++which;
  }
  vectors_.put(vectors);
  state_.put({&state, 1});
  pass(view());
}

}  // namespace fwsr::cuda
