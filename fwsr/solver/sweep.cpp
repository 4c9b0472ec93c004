#include "fwsr/solver/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/memory.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/blas_room.hpp"
#include "fwsr/solver/clock.hpp"
#include "fwsr/solver/covariance_form.hpp"
#include "fwsr/solver/describe_run.hpp"
#include "fwsr/solver/local_points.hpp"
#include "fwsr/solver/on_card.hpp"
#include "fwsr/solver/planner.hpp"
#include "fwsr/solver/refine.hpp"
#include "fwsr/solver/select_points.hpp"
#include "fwsr/solver/sweep_points.hpp"
#include "fwsr/solver/watch.hpp"

namespace fwsr {

namespace {

/// Settings first .. last in the order of work (all alphas of an eta stand together) that are run at
/// the same time.
struct Batch {
  Index first = 0, last = 0;
};

std::vector<Batch> batches_of(const SweepPlan& plan, const Grid& grid) {
  std::vector<Batch> all;
  for (Index first = 0; first < grid.size(); first += plan.at_once)
    all.push_back({first, std::min(grid.size(), first + plan.at_once)});
  return all;
}

/// Several runs to one observer, how far they have come in all: one more step, or none, of a run that had `before`
/// exemplars. False: stop.
bool tell(Watch& watch, const Progress& p, Index before, double unit) {
  return watch.tell([&](Progress& all) {
    const Progress own = in_units(p, unit);
    all = {.step = all.step + 1,
           .exemplars = all.exemplars + p.exemplars - before,
           .wanted = all.wanted,
           .f = own.f,
           .gap = own.gap,
           .f_at_zero = own.f_at_zero};
  });
}

/// All points in this process.
class LocalSetUp final : public SweepSetUp {
 public:
  LocalSetUp(const PointsView& view, std::span<const Index> subset, const SelectOptions& options,
             const Plan& plan, const KeepGoing& keep_going)
      : options_(options),
        plan_(plan),
        keep_going_(keep_going),
        plain_(view, subset, without_eta(options), plan.threads),
        set_(plain_, plan.threads, keep_going) {}
  PointSet& plain() override { return set_; }

  std::unique_ptr<PreparedProblem> prepare(double eta) override {
    const SelectOptions own = options_of(options_, NumberOrAuto{}, eta);
    auto prepared = std::make_unique<PreparedProblem>(
        prepare_problem(std::make_unique<Points>(plain_, eta, options_.eta_relative, plan_.threads),
                        own, plan_, keep_going_));
    prepared->set = std::make_unique<LocalPoints>(*prepared->points, set_);
    return prepared;
  }

 private:
  const SelectOptions& options_;
  const Plan& plan_;
  const KeepGoing& keep_going_;
  Points plain_;
  LocalPoints set_;
};

/// One setting on its way.
struct Runner {
  SelectOptions options;
  const PreparedProblem* prepared = nullptr;
  std::unique_ptr<CovarianceForm> form;  // until the run has ended
  RunProducts products;                  // then
  std::unique_ptr<FrankWolfe> loop;
  std::optional<FrankWolfe::Next> next;
  PointUpdate update;
  Selection* result = nullptr;

  double unit() const { return prepared->kernel().unit(); }
};

/// Steps all runners together until each has ended.
void run_together(std::vector<Runner>& runners, PointSet& plain, int threads, Watch& watch) {
  const auto d = static_cast<double>(plain.facts().dim + 1);
  std::vector<Runner*> live;
  for (Runner& r : runners) live.push_back(&r);
  const auto drop_ended = [&] {
    std::erase_if(live, [](Runner* r) {
      if (r->loop->ended()) r->products = r->form->take_products(), r->form.reset();
      return r->loop->ended();
    });
  };
  while (!live.empty()) {
    const auto start = Clock::now();
    const auto count = static_cast<double>(live.size());
    for (Runner* r : live) r->form->refine();  // all threads on one
    for_tasks(threads_for(threads, 10 * count * d * d), static_cast<Index>(live.size()),
              [&](Index t) {
                Runner& r = *live[static_cast<std::size_t>(t)];
                r.next = r.loop->next();
                if (r.next)
                  r.update = r.form->before_pass(r.next->pick, r.next->gamma, r.next->length);
              });
    const std::vector<Runner*> together = live;
    drop_ended();

    std::vector<PointUpdate> updates;
    for (const Runner* r : live) updates.push_back(r->update);
    plain.advance(updates);
    for_tasks(threads_for(threads, 10 * count * d * d), static_cast<Index>(live.size()),
              [&](Index t) {
                Runner& r = *live[static_cast<std::size_t>(t)];
                r.form->after_pass(r.next->pick, r.next->gamma, r.next->length);
              });
    for (Runner* r : live) {
      const auto before = static_cast<Index>(r->loop->run().exemplars.size());
      const Progress progress = r->loop->record_step();
      tell(watch, progress, before, r->unit());
    }
    const double share = seconds_since(start) / static_cast<double>(together.size());
    for (Runner* r : together) r->result->seconds.steps += share;
    if (watch.stopped())
      for (Runner* r : live)
        if (!r->loop->ended()) r->loop->interrupt();
    drop_ended();
  }
}

/// All settings of a request, in the order of work.
struct Work {
  struct Setting {
    NumberOrAuto alpha;
    double eta = 0;
    Selection* result = nullptr;
  };
  std::vector<Setting> settings;
  const SelectOptions& options;
  const Plan& plan;
  Watch& watch;
  const KeepGoing& keep_going;
};

void interrupted(Selection& result) {
  result.status = Status::interrupted;
  result.certificate.reset();
}

/// Settings that share the passes.
void run_batch(SweepSetUp& shared, const Work& work, const Batch& batch) {
  const auto start = Clock::now();
  std::vector<std::unique_ptr<PreparedProblem>> problems;
  std::vector<Runner> runners;
  double eta = std::numeric_limits<double>::quiet_NaN();
  for (Index t = batch.first; t < batch.last; ++t) {
    const Work::Setting& setting = work.settings[static_cast<std::size_t>(t)];
    if (setting.eta != eta) {
      problems.push_back(shared.prepare(setting.eta));
      eta = setting.eta;
    }
    Runner r;
    r.options = options_of(work.options, setting.alpha, setting.eta);
    r.prepared = problems.back().get();
    PointSet& set = *problems.back()->set;
    r.form = std::make_unique<CovarianceForm>(set, set.facts().single && !work.options.precise,
                                              work.plan.threads);
    r.loop = std::make_unique<FrankWolfe>(
        *r.form,
        run_options(r.options, *r.prepared, r.form->objective(), work.plan.threads, start));
    r.result = setting.result;
    runners.push_back(std::move(r));
  }
  const double share = seconds_since(start) / static_cast<double>(runners.size());
  for (const Runner& r : runners) r.result->seconds.setup += share;
  run_together(runners, shared.plain(), work.plan.threads, work.watch);
  for (Runner& r : runners) {
    try {
      const auto exchanging = Clock::now();
      Run run = r.loop->run();
      const std::optional<Exchanged> refined =
          refine_run(run, r.products, *r.prepared, r.options, work.plan.threads, work.keep_going);
      r.result->seconds.exchange = refined ? seconds_since(exchanging) : 0;
      describe_run(std::move(run), refined, r.products, *r.prepared, r.options, work.keep_going,
                   *r.result);
    } catch (const Interrupted&) {
      interrupted(*r.result);
    }
  }
}

/// Settings of one eta that share points and kernel and nothing else.
void run_one_by_one(const PrepareFor& prepare, const Work& work, const Batch& batch) {
  auto start = Clock::now();
  const double eta = work.settings[static_cast<std::size_t>(batch.first)].eta;
  PreparedProblem prepared =
      prepare(options_of(work.options, NumberOrAuto{}, eta), work.plan, work.keep_going);
  for (Index t = batch.first; t < batch.last && !work.watch.stopped(); ++t) {
    const Work::Setting& setting = work.settings[static_cast<std::size_t>(t)];
    const SelectOptions own = options_of(work.options, setting.alpha, eta);
    Selection& result = *setting.result;
    try {
      if (prepared.single && !prepared.kernel().single())  // a long run went on in double
        prepared.make_kernel(own, work.plan, true, work.plan.kernel_by == KernelBy::held,
                             work.keep_going);
      std::unique_ptr<Form> form = make_form(prepared, own, work.plan, work.keep_going);
      result.seconds.setup = seconds_since(start);
      start = Clock::now();
      const double unit = prepared.kernel().unit();
      Index before = 0;
      Run run = frank_wolfe(*form,
                            run_options(own, prepared, form->objective(), work.plan.threads, start),
                            [&](const Progress& p) {
                              return tell(work.watch, p, std::exchange(before, p.exemplars), unit);
                            });
      result.seconds.steps = seconds_since(start);
      RunProducts products = form->take_products();
      form.reset();
      const auto exchanging = Clock::now();
      const std::optional<Exchanged> refined =
          refine_run(run, products, prepared, own, work.plan.threads, work.keep_going);
      result.seconds.exchange = refined ? seconds_since(exchanging) : 0;
      describe_run(std::move(run), refined, products, prepared, own, work.keep_going, result);
    } catch (const Interrupted&) {
      interrupted(result);
    }
    start = Clock::now();
  }
}

/// Calls run(work), which runs all settings of it.
template <class RunAll>
std::vector<SweepEntry> run_settings(const SelectOptions& options, const SweepPlan& plan,
                                     const Grid& grid, const Observer& observer, RunAll&& run) {
  const SerialBlas serial;
  make_room_for_products(threads_of(options));
  std::vector<SweepEntry> entries;
  for (const NumberOrAuto& alpha : grid.alphas)
    for (const double eta : grid.etas) {
      entries.push_back({.alpha = alpha, .eta = eta, .selection = {}});
      entries.back().selection.plan = plan.each;
    }
  Watch watch(observer, grid.size() * options.exemplars);
  const KeepGoing keep_going = watch.keep_going();
  Work work{.settings = {},
            .options = options,
            .plan = plan.each,
            .watch = watch,
            .keep_going = keep_going};
  for (std::size_t e = 0; e < grid.etas.size(); ++e)
    for (std::size_t a = 0; a < grid.alphas.size(); ++a)
      work.settings.push_back({.alpha = grid.alphas[a],
                               .eta = grid.etas[e],
                               .result = &entries[a * grid.etas.size() + e].selection});
  try {
    run(work);
  } catch (const Interrupted&) {  // what has not ended says so already
  }
  return entries;
}

}  // namespace

Preprocessing without_eta(const SelectOptions& options) {
  Preprocessing prep = preprocessing_of(options);
  prep.eta = 0;
  return prep;
}

std::vector<SweepEntry> sweep_together(const MakeSetUp& make, const SelectOptions& options,
                                       const SweepPlan& plan, const Grid& grid,
                                       const Observer& observer) {
  return run_settings(options, plan, grid, observer, [&](const Work& work) {
    const auto start = Clock::now();
    const std::unique_ptr<SweepSetUp> shared = make(work.keep_going);
    const double share = seconds_since(start) / static_cast<double>(work.settings.size());
    for (const Work::Setting& s : work.settings) s.result->seconds.setup = share;
    for (const Batch& batch : batches_of(plan, grid)) {
      if (work.watch.stopped()) break;
      run_batch(*shared, work, batch);
    }
  });
}

std::vector<SweepEntry> sweep_one_by_one(const PrepareFor& prepare, const SelectOptions& options,
                                         const SweepPlan& plan, const Grid& grid,
                                         const Observer& observer) {
  return run_settings(options, plan, grid, observer, [&](const Work& work) {
    const auto alphas = static_cast<Index>(grid.alphas.size());
    for (Index first = 0; first < grid.size() && !work.watch.stopped(); first += alphas)
      run_one_by_one(prepare, work, {first, first + alphas});
  });
}

std::vector<SweepEntry> sweep_points(const PointsView& view, std::span<const Index> subset,
                                     const SelectOptions& options, const SweepPlan& plan,
                                     const Observer& observer) {
  const Grid& grid = plan.grid;
  const bool card = plan.each.device != "cpu";
  const std::shared_ptr<void> devices = card ? keep_devices(options.device.number) : nullptr;
  const std::shared_ptr<void> there =
      card && plan.each.form == FormKind::covariance && subset.empty()
          ? share_on_card(view, options, plan.each.threads)
          : nullptr;
  std::vector<SweepEntry> entries =
      plan.at_once > 1
          ? sweep_together(
                [&](const KeepGoing& keep_going) {
                  return std::make_unique<LocalSetUp>(view, subset, options, plan.each, keep_going);
                },
                options, plan, grid, observer)
          : sweep_one_by_one(
                [&](const SelectOptions& own, const Plan& each, const KeepGoing& keep_going) {
                  return prepare_as_planned(view, subset, own, each, keep_going);
                },
                options, plan, grid, observer);
  for (SweepEntry& e : entries) to_global_indices(subset, e.selection);
  return entries;
}

std::vector<SweepEntry> sweep(const PointsView& points, const SelectOptions& options,
                              const std::vector<NumberOrAuto>& alphas,
                              const std::vector<double>& etas, const Observer& observer) {
  return sweep_as_planned(points, options, plan_sweep(points, options, alphas, etas), observer);
}

std::vector<SweepEntry> sweep(const DeviceView& points, const SelectOptions& options,
                              const std::vector<NumberOrAuto>& alphas,
                              const std::vector<double>& etas, const Observer& observer) {
  return sweep_as_planned(points, options, plan_sweep(points, options, alphas, etas), observer);
}

std::vector<SweepEntry> sweep_as_planned(const DeviceView& points, const SelectOptions& options,
                                         const SweepPlan& plan, const Observer& observer) {
  return sweep_one_by_one(
      [&](const SelectOptions& own, const Plan& each, const KeepGoing& keep_going) {
        return prepare_on_card(points, {}, on_card_of(points, own), each, keep_going);
      },
      on_card_of(points, options), plan, plan.grid, observer);
}

std::vector<SweepEntry> sweep_as_planned(const PointsView& points, const SelectOptions& options,
                                         const SweepPlan& plan, const Observer& observer) {
  refuse_other_plan(points, options, plan.each);
  return sweep_points(points, {}, options, plan, observer);
}

}  // namespace fwsr
