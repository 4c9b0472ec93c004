#include "fwsr/solver/frank_wolfe.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "fwsr/base/finite.hpp"
#include "fwsr/base/result.hpp"

namespace fwsr {

// Departures from the paper's Algorithm 1, all in docs/algorithm.md:
//  - delta may be 0: the gap is closed when gap <= delta, not gap < delta, or when it is no more than rounding;
//  - `grow`: instead of returning r < k exemplars, double beta and go on from the present X when the
//    gap closes, or when patience(k) steps in a row bring no new exemplar;
//  - beta = infinity is the matching-pursuit limit, X <- X + (nu / K_jj) e_j v^T;
//  - under conditions line 9 is over those who may be picked, by ||p_j|| / cost_j, and S = beta / cost_j e_j v^T.

namespace {

/// Nothing is left to represent.
constexpr double exhausted_below = 1e-12;

/// The gap to which <X, K> and <X, K X> tell it, both up to some f(0): a smaller one is noise, and steps along
/// noise lead out of the ball that X is in.
constexpr double gap_rounding = 64 * std::numeric_limits<double>::epsilon();

/// Steps without a new exemplar before beta is doubled; part of the answer.
Index patience(Index k) {
  return std::max<Index>(50, 2 * k);
}

/// Adds j to the non-zero rows of X; true when it is new. A full step (gamma = 1) empties X except
/// for row j.
bool add(std::vector<Index>& rows, Index j, bool full_step) {
  const bool known = std::find(rows.begin(), rows.end(), j) != rows.end();
  if (full_step) rows.clear();
  if (j >= 0 && (full_step || !known)) rows.push_back(j);
  return !known;
}

}  // namespace

FrankWolfe::FrankWolfe(Form& form, const RunOptions& options)
    : form_(form),
      options_(options),
      pursuit_(std::isinf(options.beta)),
      grow_(options.when_converged == WhenConverged::grow && !pursuit_),
      run_{.exemplars = {},
           .trace = {},
           .f_at_zero = form.objective(),
           .beta = options.beta,
           .deadline = options.deadline} {}

std::optional<FrankWolfe::Next> FrankWolfe::end(Status status) {
  run_.status = status;
  ended_ = true;
  return std::nullopt;
}

/// Tells the form who may be picked, where that has changed. Nobody: why.
std::optional<Status> FrankWolfe::ended_by_conditions(bool recalling) {
  if (options_.deadline && !recalling && !run_.trace.empty() && Clock::now() >= *options_.deadline)
    return Status::time_limit;
  if (options_.enough && run_.trace.empty() && options_.enough({})) return Status::error_reached;
  if (options_.open.update(run_.exemplars)) form_.offer(options_.open.prices());
  return options_.open.ended();
}

/// How many steps nothing but the gap and f can keep from being exact ones with the present radius.
void FrankWolfe::tell_form(double closed) {
  Index steps = std::min(options_.exemplars - std::ssize(run_.exemplars),
                         options_.max_iterations - std::ssize(run_.trace));
  if (grow_) steps = std::min(steps, patience(options_.exemplars) - idle_);
  if (!options_.open.steady() || options_.enough || options_.deadline) steps = 0;
  const double least_f = grow_      ? exhausted_below * run_.f_at_zero
                         : pursuit_ ? options_.delta
                                    : -std::numeric_limits<double>::infinity();
  form_.expect({.beta = run_.beta, .closed = closed, .least_f = least_f, .steps = steps});
}

std::optional<FrankWolfe::Next> FrankWolfe::next(const RecordedStep* known) {
  if (ended_) return std::nullopt;
  if (static_cast<Index>(run_.trace.size()) >= options_.max_iterations)
    return end(Status::iteration_limit);
  if (const auto why = ended_by_conditions(known != nullptr)) return end(*why);
  form_.refine();
  const double f = form_.objective();
  require_finite(f);
  if (grow_ && f <= exhausted_below * run_.f_at_zero) return end(Status::exhausted);
  if (pursuit_ && f <= options_.delta) return end(Status::converged);

  const double closed = std::max(options_.delta, gap_rounding * run_.f_at_zero);
  if (known) {
    pick_ = form_.recall(known->pick, known->rescored);
  } else {
    tell_form(closed);
    pick_ = form_.best();  // line 9
  }
  const Probe probe = form_.probe(pick_);  // lines 10-12
  score_ = probe.score;
  for (const double v : {probe.score, probe.self, probe.cross, probe.xp, probe.xkx})
    require_finite(v);
  if (pursuit_ && !(score_ > 0)) return end(Status::exhausted);
  if (grow_ && idle_ >= patience(options_.exemplars)) run_.beta *= 2, idle_ = 0;

  const double cost = options_.open.cost(pick_.point);
  move_ = exact_step(probe, run_.beta / cost);
  while (move_.gap <= closed || !(move_.curvature > 0)) {  // line 13
    if (!grow_) return end(Status::converged);
    if (!(score_ > 0) || run_.beta > 1e150) return end(Status::exhausted);
    run_.beta *= 2, idle_ = 0;
    move_ = exact_step(probe, run_.beta / cost);
  }
  return Next{.pick = pick_, .gamma = move_.gamma, .length = move_.length};
}

Progress FrankWolfe::record_step() {
  const Index picked = score_ > 0 ? pick_.point : -1;  // S = 0 adds no row (X >= 0 only)
  const bool is_new = add(run_.exemplars, picked, move_.gamma == 1) && picked >= 0;
  idle_ = is_new ? 0 : idle_ + 1;
  const auto rows = static_cast<Index>(run_.exemplars.size());
  run_.trace.push_back({.pick = pick_.point,
                        .f = form_.objective(),
                        .gap = move_.gap,
                        .step_size = move_.gamma,
                        .beta = run_.beta,
                        .score = score_,
                        .rows = rows});
  if (rows == options_.exemplars)
    end(Status::exemplars_reached);  // line 6
  else if (is_new && options_.enough && options_.enough(run_.exemplars))
    end(Status::error_reached);
  return {.stage = Progress::Stage::steps,
          .step = static_cast<Index>(run_.trace.size()),
          .exemplars = rows,
          .wanted = options_.exemplars,
          .f = form_.objective(),
          .gap = move_.gap,
          .f_at_zero = run_.f_at_zero};
}

namespace {

[[noreturn]] void refuse_record() {
  throw Error(
      "the checkpoint is of other points, or of another kind of processor: its steps lead "
      "elsewhere here; leave --resume out to begin anew, or name another file");
}

bool same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

/// Takes the steps of an earlier run.
void recall_steps(Form& form, FrankWolfe& loop, const RunRecord& known) {
  if (!same(known.f_at_zero, loop.run().f_at_zero)) refuse_record();
  for (const RecordedStep& step : known.steps) {
    const auto next = loop.next(&step);
    if (!next || !same(next->pick.score, step.score) || form.mark_of_pick() != step.row)
      refuse_record();
    form.step_unseen(next->pick, next->gamma, next->length);
    loop.record_step();
    if (!same(form.objective(), step.f)) refuse_record();
  }
  form.catch_up();
}

}  // namespace

Run frank_wolfe(Form& form, const RunOptions& options, const Observer& observer) {
  FrankWolfe loop(form, options);
  Recorder* const recorder = options.recorder;
  // Forms that cannot recall steps take them again.
  if (recorder && form.can_recall() && !recorder->known().steps.empty())
    recall_steps(form, loop, recorder->known());
  if (recorder) recorder->begin(loop.run().f_at_zero);
  const std::size_t told = recorder ? recorder->known().steps.size() : 0;
  while (const auto next = loop.next()) {
    const std::uint64_t row = recorder ? form.mark_of_pick() : 0;
    form.step(next->pick, next->gamma, next->length);  // lines 7, 15, 16
    const Progress progress = loop.record_step();
    const std::size_t taken = loop.run().trace.size();
    if (recorder && taken <= told && !same(form.objective(), recorder->known().steps[taken - 1].f))
      refuse_record();
    if (recorder && taken > told)
      recorder->step({.pick = next->pick.point,
                      .score = next->pick.score,
                      .f = form.objective(),
                      .row = row,
                      .rescored = form.rescored()});
    if (observer && !observer(progress) && !loop.ended()) loop.interrupt();
  }
  return loop.run();
}

}  // namespace fwsr
