#include <algorithm>
#include <limits>
#include <numeric>

#include "fwsr/base/at.hpp"
#include "fwsr/cuda/cuda_shard.hpp"

namespace fwsr::cuda {

CardRun::CardRun(Device& device, const DevicePoints& points, const Array<double>& r)
    : c(device, points.size()),
      h(device, points.size()),
      device_(device),
      points_(points),
      r_(r),
      rows_(points.rows()),
      padded_(padded_features(rows_)),
      groups_((points.size() + group_points - 1) / group_points),
      blocks_(pass_blocks(device, rows_)),
      vectors_(device, 3 * padded_),
      group_best_(device, groups_),
      block_best_(device, blocks_),
      state_(device, 1),
      record_(device, most_ahead) {
  for (double* to : {c.get(), h.get()})
    check(cudaMemcpyAsync(to, r.get(), at(points.size()) * sizeof(double), cudaMemcpyDeviceToDevice,
                          device.stream()),
          "beginning a run");
  find_best();
}

RunView CardRun::view() const {
  return {.rows = rows_,
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
          .groups = groups_,
          .blocks = blocks_};
}

void CardRun::find_best() const {
  launch_find_best(device_, view());
}

void CardRun::set_prices(std::span<const double> prices) {
  const bool all = std::all_of(prices.begin(), prices.end(), [](double p) { return p == 1; });
  prices_ = all ? Array<double>() : Array<double>(device_, prices);
  find_best();
}

double CardRun::largest() const {
  const std::vector<double> best = block_best_.get_all();
  return *std::max_element(best.begin(), best.end());
}

FirstScore::Reply CardRun::first(double enough) const {
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
      return {.point = begin + static_cast<Index>(i), .square = squares[i]};
  return {};
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
  launch_pass(device_, view());
}

}  // namespace fwsr::cuda
