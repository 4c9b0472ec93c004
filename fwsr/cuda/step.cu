// What stands between launches of steps: how far the next one may go, and a step of the host's choice.
#include "fwsr/cuda/decide.cuh"

namespace fwsr::cuda {

namespace {

/// The step that was found: its vectors are in the memory of the card. One block.
__global__ void __launch_bounds__(pass_threads)
    accept(const RunView run, double gamma, double length) {
  __shared__ double room[pass_warps * 7];
  const Found found = add_up(run, room, [](Index, const double(&)[3]) {});
  const double score = run.state->probe.score;
  const Ready ready(run.rows, found, score > 0 ? 1 / score : 0.0);
  write_vectors(run, ready);
  if (threadIdx.x == 0) take_step(run, *run.state, found, ready, gamma, length, true);
}

__global__ void __launch_bounds__(pass_threads) lead(const RunView run) {
  if (run.state->waits != Waits::no) return;
  const Index leader = find_leader(run);
  if (threadIdx.x == 0) run.state->point = leader;
}

__global__ void announce(RunState* state, double beta, double closed, double least_f, Index steps) {
  RunState& s = *state;
  s.beta = beta, s.closed = closed, s.least_f = least_f, s.steps = steps;
  s.recorded = 0;
  s.waits = Waits::no;
}

}  // namespace

Index most_features(const Device& device) {
  // Of a pass three to five vectors and its ring.
  return (device.shared_bytes() - (Index{72} << 10)) / 40;
}

void launch_lead(const Device& device, const RunView& run) {
  lead<<<1, pass_threads, 0, device.stream()>>>(run);
  check_launch("looking for the leader");
}

void launch_announce(const Device& device, const RunView& run, const Announced& next) {
  announce<<<1, 1, 0, device.stream()>>>(run.state, next.beta, next.closed, next.least_f,
                                         next.steps);
  check_launch("announcing steps");
}

void launch_accept(const Device& device, const RunView& run, double gamma, double length) {
  accept<<<1, pass_threads, 0, device.stream()>>>(run, gamma, length);
  check_launch("taking a step");
}

}  // namespace fwsr::cuda
