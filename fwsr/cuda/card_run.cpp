#include <algorithm>
#include <limits>
#include <numeric>

#include "fwsr/base/at.hpp"
#include "fwsr/cuda/cuda_shard.hpp"

namespace fwsr::cuda {

CardRun::CardRun(Device& device, const DevicePoints& points, const std::vector<Index>& places,
                 const Array<double>& r)
    : c(device, points.size()),
      h(device, points.size()),
      device_(device),
      points_(points),
      places_(places),
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
  if (points.streamed()) {
    constexpr Index at_once = Index{128} << 20;
    const Index each = rows_.stride * bytes_of(rows_.number);
    const Index most = std::max<Index>(1, std::min(at_once, device.memory() / 32) / each);
    block_rows_ = (std::min(most, points.size()) + group_points - 1) / group_points * group_points;
    block_ = Array<unsigned char>(device, block_rows_ * each);
  }
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

void CardRun::pass(const RunView& run) const {
  if (block_.empty()) return launch_pass(device_, run);
  const Index n = rows_.size, each = rows_.stride * bytes_of(rows_.number);
  const auto behind = [](auto* numbers, Index first) {
    return numbers ? numbers + first : numbers;
  };
  for (Index first = 0; first < n; first += block_rows_) {
    const Index count = std::min(block_rows_, n - first);
    // The last row may end with its last feature.
    const Index bytes = (count - 1) * each + rows_.features * bytes_of(rows_.number);
    check(
        cudaMemcpyAsync(block_.get(), static_cast<const unsigned char*>(rows_.data) + first * each,
                        at(bytes), cudaMemcpyDefault, device_.stream()),
        "copying points to the card");
    RunView part = run;
    part.rows.data = block_.get();
    part.rows.size = count;
    part.rows.inner = behind(rows_.inner, first);
    part.rows.mean = behind(rows_.mean, first);
    part.rows.outer = behind(rows_.outer, first);
    part.r = run.r + first, part.c = run.c + first, part.h = run.h + first;
    part.prices = behind(run.prices, first);
    part.group_best = run.group_best + first / group_points;
    part.groups = (count + group_points - 1) / group_points;
    if (first > 0) part.e = part.et = nullptr;  // E has taken the step
    launch_pass(device_, part);
  }
  launch_find_best(device_, run);  // of all blocks
}

void CardRun::find_best() const {
  launch_find_best(device_, view());
}

void CardRun::set_prices(std::span<const double> prices) {
  std::vector<double> own;
  for (Index i = 0; i < points_.size(); ++i) own.push_back(prices[at(point(i))]);
  const bool all = std::all_of(own.begin(), own.end(), [](double p) { return p == 1; });
  prices_ = all ? Array<double>() : Array<double>(device_, std::span<const double>(own));
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
      return {.point = point(begin + static_cast<Index>(i)), .square = squares[i]};
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
  pass(view());
}

}  // namespace fwsr::cuda
