#include "fwsr/cuda/cuda_form.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fwsr/base/at.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/cuda/after.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/solver/clock.hpp"
#include "fwsr/solver/covariance.hpp"
#include "fwsr/solver/scores.hpp"

namespace fwsr::cuda {

namespace {

/// As in covariance_form.cpp: scores that differ by more than this from their exact value are computed anew.
constexpr double drift_double = 1e-6;
/// The host looks, and hears an interruption, at least so often.
constexpr double seconds_ahead = 0.05;

std::vector<double> identity(Index dim) {
  std::vector<double> e(at(dim * dim));
  for (Index l = 0; l < dim; ++l) e[at(l * dim + l)] = 1;
  return e;
}

/// I less the projection on orthonormal rows.
std::vector<double> beyond(const std::vector<double>& orthonormal, Index dim) {
  std::vector<double> rest = identity(dim);
  multiply(Product<double>{.op_a = Op::transpose,
                           .m = dim,
                           .n = dim,
                           .k = std::ssize(orthonormal) / dim,
                           .a = -1,
                           .left = orthonormal.data(),
                           .left_stride = dim,
                           .right = orthonormal.data(),
                           .right_stride = dim,
                           .b = 1,
                           .out = rest.data()});
  return rest;
}

}  // namespace

CudaForm::CudaForm(CudaPoints& points)
    : points_(points),
      shard_(points.shards()->shard()),
      device_(shard_.device()),
      dim_(points.facts().dim),
      covariance_(points.covariance(false)),
      id_(CudaPoints::new_id()),
      e_(device_, dim_ * dim_),
      et_(device_, dim_ * dim_),
      a_(device_, dim_),
      w_(device_, dim_),
      cw_(device_, dim_),
      rv_(device_, dim_),
      state_(device_, 1),
      record_(device_, most_ahead) {
  for (Array<double>* matrix : {&e_, &et_}) {
    matrix->set_to_zero();
    launch_add_identity(device_, dim_, matrix->get());
  }
  shard_.answer(BeginRun{.set = points.set(), .covariance = covariance_->id, .run = id_});
  run_ = &shard_.run(id_);
  if (!points.included().empty())
    rest_ = Array<double>(device_, std::span<const double>(beyond(points.included(), dim_)));
  RunState start;
  for (Index l = 0; l < dim_; ++l) start.trace += covariance_->c[at(l * dim_ + l)];
  start.f = start.tr_ec = f_ = start.trace;
  start.tie = tie_double;
  start.drift = drift_double;
  state_.put({&start, 1});
  prepare_decide(device_);
}

CudaForm::~CudaForm() {
  shard_.answer(Forget{.what = Forget::What::run, .id = id_});
}

RunView CudaForm::view() const {
  RunView view = run_->view();
  view.state = state_.get();
  view.record = record_.get();
  view.covariance = shard_.covariance(covariance_->id);
  view.rest = rest_.get();
  view.e = e_.get();
  view.et = et_.get();
  view.a = a_.get();
  view.w = w_.get();
  view.cw = cw_.get();
  view.rv = rv_.get();
  return view;
}

RunState CudaForm::read() {
  return state_.get_some(0, 1).front();
}

/// Scores, f = tr E C E^T and tr E C, from E itself.
void CudaForm::recompute() {
  const std::vector<double> e = e_.get_all();
  shard_.answer(Rescore{.run = id_, .c = covariance_->c, .e = e});
  std::vector<double> ec(e.size());
  multiply(Product<double>{.m = dim_,
                           .n = dim_,
                           .k = dim_,
                           .left = e.data(),
                           .right = covariance_->c.data(),
                           .out = ec.data()});
  RunState state = read();
  state.f = state.tr_ec = 0;
  for (Index l = 0; l < dim_; ++l) {
    state.f += dot(ec.data() + l * dim_, e.data() + l * dim_, dim_);
    state.tr_ec += ec[at(l * dim_ + l)];
  }
  f_ = state.f;
  state_.put({&state, 1});
}

/// Until at least one more step is known.
void CudaForm::go_on() {
  const RunView run = view();
  bool anew = false;
  while (known_.empty()) {
    const auto few = seconds_each_ > 0
                         ? static_cast<Index>(std::clamp(seconds_ahead / seconds_each_, 1.0, 1e6))
                         : Index{4};
    const Index steps = anew ? 0 : std::min({expected_.steps, few, Index{most_ahead}});
    const auto start = Clock::now();
    if (anew) {  // E has spoken: its score is taken as it is
      RunState state = read();
      state.drift = std::numeric_limits<double>::infinity();
      state_.put({&state, 1});
    }
    launch_announce(device_, run,
                    {.beta = expected_.beta,
                     .closed = expected_.closed,
                     .least_f = expected_.least_f,
                     .steps = steps});
    for (Index s = 0; s < steps; ++s) {
      launch_decide(device_, run, true);
      run_->pass(run);
    }
    if (steps == 0) launch_decide(device_, run, false);
    RunState state = read();
    if (anew) {
      state.drift = drift_double;
      state_.put({&state, 1});
    }
    for (const StepRecord& step : record_.get_some(0, state.recorded))
      known_.push_back({.step = step, .taken = true});
    if (state.recorded > 0) seconds_each_ = seconds_since(start) / state.recorded;
    if (state.waits == Waits::gap)
      known_.push_back(
          {.step = {.point = state.point, .probe = state.probe, .f = state.f}, .taken = false});
    if (!known_.empty()) return;
    if (state.waits == Waits::drift && !anew) {
      recompute();
      anew = true;
    } else {
      expected_.steps = 0;  // f is as small as it may be: the loop decides
      if (steps == 0)
        throw Error("the card found no step to take; this is an error of this program");
    }
  }
}

Pick CudaForm::best() {
  if (known_.empty()) go_on();
  const StepRecord& step = known_.front().step;
  return {.point = run_->point(step.point), .score = step.probe.score};
}

Probe CudaForm::probe(const Pick&) {
  return known_.front().step.probe;
}

void CudaForm::step(const Pick&, double gamma, double length) {
  const Known next = known_.front();
  known_.pop_front();
  if (next.taken) {
    if (gamma != next.step.gamma || length != next.step.length)
      throw Error("the card took another step than the loop; this is an error of this program");
    f_ = next.step.f;
    return;
  }
  // The card waits with what it has found for this step.
  launch_announce(device_, view(), {});
  launch_accept(device_, view(), gamma, length);
  run_->pass(view());
  f_ = read().f;
}

}  // namespace fwsr::cuda
