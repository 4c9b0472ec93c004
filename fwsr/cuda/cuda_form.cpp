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
      et_(device_, dim_ * dim_),
      ec_(device_, dim_ * dim_),
      ce_(device_, dim_ * dim_),
      ece_(device_, dim_ * dim_),
      a_(device_, dim_),
      w_(device_, dim_),
      cw_(device_, dim_),
      rv_(device_, dim_),
      state_(device_, 1),
      record_(device_, most_ahead) {
  et_.set_to_zero();
  launch_add_identity(device_, dim_, et_.get());
  for (Array<double>* matrix : {&ec_, &ce_, &ece_})
    check(cudaMemcpyAsync(matrix->get(), shard_.covariance(covariance_->id),
                          at(dim_ * dim_) * sizeof(double), cudaMemcpyDeviceToDevice,
                          device_.stream()),
          "beginning a run");
  shard_.answer(BeginRun{.set = points.set(), .covariance = covariance_->id, .run = id_});
  run_ = &shard_.run(id_);
  if (!points.included().empty())
    rest_ = Array<double>(device_, std::span<const double>(beyond(points.included(), dim_)));
  RunState start;
  for (Index l = 0; l < dim_; ++l) start.trace += covariance_->c[at(l * dim_ + l)];
  start.f = start.tr_ec = f_ = start.trace;
  start.drift = drift_double;
  state_.put({&start, 1});
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
  view.et = et_.get();
  view.ec = ec_.get();
  view.ce = ce_.get();
  view.ece = ece_.get();
  view.a = a_.get();
  view.w = w_.get();
  view.cw = cw_.get();
  view.rv = rv_.get();
  return view;
}

RunState CudaForm::read() {
  return state_.get_some(0, 1).front();
}

/// E C, C E^T and E C E^T from E^T.
void CudaForm::multiply_out() {
  const auto whole = [&](const double* data) { return Matrix{data, dim_, dim_, dim_}; };
  const Matrix c = whole(shard_.covariance(covariance_->id)), et = whole(et_.get());
  const Blas& blas = device_.blas();
  blas.multiply(
      {.left = et, .left_transposed = true, .right = c, .out = ec_.get(), .out_stride = dim_});
  blas.multiply({.left = c, .right = et, .out = ce_.get(), .out_stride = dim_});
  blas.multiply({.left = whole(ec_.get()), .right = et, .out = ece_.get(), .out_stride = dim_});
}

/// Scores, f = tr E C E^T and tr E C, from E itself.
void CudaForm::recompute() {
  multiply_out();
  const std::vector<double> et = et_.get_all(), ec = ec_.get_all(), ece = ece_.get_all();
  std::vector<double> e(et.size());
  for (Index k = 0; k < dim_; ++k)
    for (Index l = 0; l < dim_; ++l) e[at(k * dim_ + l)] = et[at(l * dim_ + k)];
  shard_.answer(Rescore{.run = id_, .c = covariance_->c, .e = e});
  RunState state = read();
  state.f = state.tr_ec = 0;
  for (Index l = 0; l < dim_; ++l) {
    state.f += ece[at(l * dim_ + l)];
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
    const double each = seconds_each_ > 0 ? seconds_each_ : run_->seconds_at_most();
    const auto few = static_cast<Index>(std::clamp(seconds_ahead / each, 1.0, 1e6));
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
    if (steps > 0)
      run_->steps(run, steps);
    else
      run_->decide(run, false);
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
