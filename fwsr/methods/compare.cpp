#include "fwsr/methods/compare.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "fwsr/base/allocations.hpp"
#include "fwsr/base/memory.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/base/system_memory.hpp"
#include "fwsr/methods/settings.hpp"
#include "fwsr/solver/clock.hpp"
#include "fwsr/solver/prepared_problem.hpp"
#include "fwsr/solver/select_points.hpp"
#include "fwsr/solver/watch.hpp"

namespace fwsr {

namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

/// The run was stopped because it took too long, not because the user said so.
struct OutOfTime {};

/// What a contestant is to do, planned once for all its runs.
struct Planned {
  Request request;
  std::vector<ClassPlan> classes = {};  // per class, else ...
  Plan plan = {};                       // ... of all points
  std::string why_processor = {};       // where a card was asked for, and does not serve this

  /// Throws MemoryError, and Error when it cannot run.
  Planned(const PointsView& points, const Labels& labels, const Request& asked,
          const CompareOptions& options)
      : request(asked) {
    request.options.certificate = CertificateKind::none;
    if (request.options.device.kind == DeviceChoice::Kind::cpu) {
      make(points, labels, options);
    } else if (is_solver(*request.method)) {
      try {
        make(points, labels, options);
      } catch (const Error& e) {  // of the card, or of the request: then it is said again
        on_processor(e.what());
        make(points, labels, options);
      }
    } else {
      on_processor("");
      make(points, labels, options);
    }
  }

  std::string device() const {
    if (classes.empty()) return plan.device;
    for (const ClassPlan& c : classes)
      if (c.plan.device != "cpu") return c.plan.device;
    return "cpu";
  }

  double seconds(const CompareOptions& options) const {
    return options.per_class ? estimated_seconds(classes, threads_of(request.options))
                             : estimated_seconds(plan);
  }

 private:
  void make(const PointsView& points, const Labels& labels, const CompareOptions& options) {
    if (options.per_class)
      classes = request.plan_per_class(points, labels, *options.per_class);
    else
      plan = request.plan(points);
  }
  void on_processor(std::string why) {
    request.options.device = {};
    request.options.device_memory = 0;
    why_processor = std::move(why);
  }
};

/// A card that was asked for by name, and is not there, is no matter of one method.
void refuse_missing_card(const std::vector<Contestant>& contestants) {
  for (const Contestant& c : contestants)
    if (c.request && c.request->options.device.kind == DeviceChoice::Kind::cuda) {
      const Cards cards = find_cards();
      if (cards.names.empty()) throw Error(cards.why_none + "; use device cpu");
      return;
    }
}

Trial run_once(const PointsView& points, const Planned& planned, const CompareOptions& options,
               const Observer& observer, std::vector<std::string>& warnings) {
  std::vector<ClassSelection> parts;
  release_free_memory();  // of the one before, so that it slows nobody down
  const AllocationPeak peak;
  const auto start = Clock::now();
  if (options.per_class)
    parts = planned.request.run_per_class(points, planned.classes, observer);
  else
    parts.push_back({.name = "", .selection = planned.request.run(points, planned.plan, observer)});
  Trial trial{.exemplars = {}, .quality = {}, .seconds = seconds_since(start)};
  trial.peak_bytes = peak.bytes();
  for (const ClassSelection& part : parts) {
    if (part.selection.status == Status::interrupted) throw Interrupted{};
    trial.exemplars.insert(trial.exemplars.end(), part.selection.exemplars.begin(),
                           part.selection.exemplars.end());
    for (const std::string& w : part.selection.warnings)
      if (std::find(warnings.begin(), warnings.end(), w) == warnings.end()) warnings.push_back(w);
  }
  return trial;
}

}  // namespace

bool is_compare_option(std::string_view name) {
  return name != "exemplars" && name != "certificate" &&
         std::find(std::begin(common_options), std::end(common_options), name) !=
             std::end(common_options);
}

const char* name_of(Comparison::Outcome v) {
  switch (v) {
    case Comparison::Outcome::done:
      return "done";
    case Comparison::Outcome::too_large:
      return "too_large";
    case Comparison::Outcome::too_slow:
      return "too_slow";
    case Comparison::Outcome::refused:
      return "refused";
  }
  return "?";
}

const std::vector<Measure>& measures() {
  using Unit = Measure::Unit;
  static const std::vector<Measure> all = {
      {"reconstruction_error", "rec. error",
       "share of the data outside the span of the chosen points", true, Unit::none, 1e-15,
       [](const Trial& t) { return t.quality.reconstruction_error; }},
      {"boolean_objective", "Eq. (1)", "the paper's Eq. (1), where lambda and rho are given", true,
       Unit::none, 0, [](const Trial& t) { return t.quality.boolean_objective.value_or(nothing); }},
      {"medoid_cost", "medoid cost",
       "sum of the distances from every point to the nearest chosen one", true, Unit::none, 0,
       [](const Trial& t) { return t.quality.medoid_cost; }},
      {"coverage_radius", "radius", "the largest of these distances", true, Unit::none, 0,
       [](const Trial& t) { return t.quality.coverage_radius; }},
      {"mmd", "MMD",
       "maximum mean discrepancy between the chosen points and all (rbf kernel, gamma 1 / median "
       "squared distance; beyond 2,000 points, 2,000 evenly spaced ones)",
       true, Unit::none, 1e-7, [](const Trial& t) { return t.quality.mmd; }},
      {"class_coverage", "classes", "share of the classes that have a chosen point (with labels)",
       false, Unit::none, 0,
       [](const Trial& t) { return t.quality.class_coverage.value_or(nothing); }},
      {"nearest_accuracy", "1-NN",
       "share of the points not chosen whose nearest chosen point is of their class (with labels)",
       false, Unit::none, 0,
       [](const Trial& t) { return t.quality.nearest_accuracy.value_or(nothing); }},
      {"seconds", "seconds", "from the data to the picks, without a certificate", true,
       Unit::seconds, 0, [](const Trial& t) { return t.seconds; }},
      {"peak_bytes", "memory",
       "the most that the method asked for at one time, in addition to the points; not the buffers "
       "of BLAS, which serve all methods",
       true, Unit::bytes, 0,
       [](const Trial& t) {
         return t.peak_bytes >= 0 ? static_cast<double>(t.peak_bytes) : nothing;
       }},
  };
  return all;
}

Spread spread_of(const Comparison& comparison, const Measure& measure) {
  const auto count = static_cast<double>(comparison.trials.size());
  if (count == 0) return {.mean = nothing, .deviation = nothing};
  double sum = 0, squares = 0;
  for (const Trial& t : comparison.trials) sum += measure.of(t);
  const double mean = sum / count;
  for (const Trial& t : comparison.trials)
    squares += (measure.of(t) - mean) * (measure.of(t) - mean);
  return {.mean = mean, .deviation = std::sqrt(squares / std::max(1.0, count - 1))};
}

std::vector<Comparison> compare(const PointsView& points, const Labels& labels,
                                const std::vector<Contestant>& contestants,
                                const SelectOptions& judged_by, const CompareOptions& options,
                                const CompareObserver& observer) {
  CompareProgress latest;
  Watch watch(observer ? Observer([&](const Progress& run) {
                latest.run = run;
                return observer(latest);
              })
                       : Observer{},
              0);
  const auto carry_on = [&](const Progress& run) {
    return watch.tell([&](Progress& told) { told = run; });
  };
  refuse_missing_card(contestants);
  const Judge judge(points, labels, judged_by, [&] { return carry_on({}); });
  std::vector<Comparison> result;
  for (std::size_t m = 0; m < contestants.size(); ++m) {
    const Contestant& c = contestants[m];
    Comparison own{.name = c.name, .reason = {}, .trials = {}};
    try {
      if (!c.request) throw Error(c.refusal);
      if (takes_dissimilarities(c.request->settings))
        throw Error(
            "the data is to be points here, to judge all methods by; leave metric = "
            "precomputed out");
      Planned planned(points, labels, *c.request, options);
      own.planned_seconds = planned.seconds(options);
      own.device = planned.device();
      if (!planned.why_processor.empty())
        own.warnings.push_back("on the processor: " + planned.why_processor);
      if (options.time_limit && own.planned_seconds > *options.time_limit) throw OutOfTime{};
      const bool random = draws_at_random(*c.request->method, c.request->settings);
      const Index repeats = random ? options.repeats : 1;
      for (Index r = 0; r < repeats; ++r) {
        latest = {.method = m, .trial = r, .run = {}};
        const auto start = Clock::now();
        bool late = false;
        const Observer in_time = [&](const Progress& p) {
          late = options.time_limit && seconds_since(start) > *options.time_limit;
          return !late && carry_on(p);
        };
        try {
          planned.request.seed = c.request->seed + static_cast<std::uint64_t>(r);
          Trial trial = run_once(points, planned, options, in_time, own.warnings);
          trial.quality = judge.of(trial.exemplars);
          own.trials.push_back(std::move(trial));
        } catch (const Interrupted&) {
          if (!late) throw;
          own.reason = fmt::format("stopped after {:.3g} s, the time limit", seconds_since(start));
          throw OutOfTime{};
        }
      }
    } catch (const OutOfTime&) {
      own.outcome = Comparison::Outcome::too_slow;
      own.trials.clear();
      if (own.reason.empty())
        own.reason = fmt::format("not run: it would take about {:.3g} s", own.planned_seconds);
    } catch (const MemoryError& e) {
      if (watch.stopped()) throw;  // it is the observer's
      own.outcome = Comparison::Outcome::too_large;
      own.reason = e.what();
    } catch (const Error& e) {
      if (watch.stopped()) throw;
      own.outcome = Comparison::Outcome::refused;
      own.reason = e.what();
    }
    result.push_back(std::move(own));
  }
  return result;
}

}  // namespace fwsr
