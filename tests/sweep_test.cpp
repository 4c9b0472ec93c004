// Every setting of a sweep is what select answers for it.
#include "fwsr/solver/sweep.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "compare.hpp"
#include "fwsr/base/result.hpp"
#include "oracle/oracle.hpp"
#include "problems.hpp"

namespace {

using fwsr::FormKind;
using fwsr::Index;
using fwsr::KernelType;
using fwsr::NumberOrAuto;
using fwsr::Rng;
using fwsr::Selection;
using fwsr::SelectOptions;
using fwsr::Status;
using fwsr::SweepEntry;
using problems::Data;
using problems::Kind;
using problems::Storage;

SelectOptions setting(const SelectOptions& options, const NumberOrAuto& alpha, double eta) {
  SelectOptions own = options;
  own.alpha = alpha;
  own.eta = eta;
  return own;
}

/// A problem of a seed, without what a sweep sets itself.
problems::Problem problem_of(std::uint64_t seed) {
  problems::Problem problem = problems::make_problem(seed);
  SelectOptions& o = problem.options;
  o.alpha.reset();
  o.beta.reset();
  o.eta = 0;
  o.codes = o.assignment = true;
  return problem;
}

std::vector<NumberOrAuto> alphas_for(const problems::Problem& problem) {
  const SelectOptions& o = problem.options;
  std::vector<NumberOrAuto> alphas = {0.4, {}, 3.0, static_cast<double>(problem.data.rows()) * 1.3};
  if (o.q == fwsr::Norm::two && !o.nonneg) alphas.push_back(0);
  return alphas;
}

/// Numbers that do not depend on the path, and the path as far as the oracle says it was clear.
Index expect_same_answer(const problems::Problem& problem, const SweepEntry& entry) {
  problems::Problem own = problem;
  own.options = setting(problem.options, entry.alpha, entry.eta);
  const Selection alone = fwsr::select(own.data.view(), own.options);
  SCOPED_TRACE(problems::describe(own));
  SCOPED_TRACE(form_of(alone.plan));
  const Selection& s = entry.selection;
  EXPECT_EQ(s.plan.form, alone.plan.form);
  EXPECT_EQ(s.gamma, alone.gamma);
  const auto reference = problems::reference_of(own.data.exact(), own.options, alone.gamma);
  const auto run = oracle::select(reference.k, reference.settings);
  const auto shadow = oracle::select(oracle::rounded(reference.k), reference.settings);
  const auto tolerance = compare::tolerance_of(own, s);
  const bool grow = own.options.when_converged == fwsr::WhenConverged::grow;
  const auto outcome = compare::expect_same_run(s, run, tolerance, grow, &shadow);
  compare::expect_consistent(s, own.options, reference, tolerance);
  if (!outcome.whole) return outcome.steps;

  // The whole path was clear: then select has gone it too.
  const double f0 = alone.f_at_zero;
  EXPECT_EQ(s.exemplars, alone.exemplars);
  EXPECT_EQ(s.status, alone.status);
  EXPECT_EQ(s.warnings, alone.warnings);
  EXPECT_EQ(s.beta, alone.beta);
  EXPECT_NEAR(s.f_at_zero, f0, tolerance.value * f0);
  EXPECT_NEAR(s.eta, alone.eta, 1e-12 * alone.eta);
  EXPECT_NEAR(s.eta_in_rms, alone.eta_in_rms, 1e-12 * alone.eta_in_rms);
  EXPECT_EQ(s.trace.size(), alone.trace.size());
  for (std::size_t t = 0; t < std::min(s.trace.size(), alone.trace.size()); ++t) {
    EXPECT_EQ(s.trace[t].pick, alone.trace[t].pick) << t;
    EXPECT_NEAR(s.trace[t].f, alone.trace[t].f, tolerance.value * f0) << t;
  }
  return outcome.steps;
}

TEST(Sweep, every_setting_is_what_select_answers) {
  std::map<std::string, int> forms, statuses;
  Index steps = 0, settings = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    problems::Problem problem = problem_of(seed);
    // An eta that is large beside points of 1e-50 leaves no digits for them.
    problem.options.eta_relative = seed % 3 == 0 || problem.kind == Kind::scaled;
    const std::vector<NumberOrAuto> alphas = alphas_for(problem);
    const std::vector<double> etas = {0, 0.2, 1.5};
    const auto entries = fwsr::sweep(problem.data.view(), problem.options, alphas, etas);
    ASSERT_EQ(entries.size(), alphas.size() * etas.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
      ASSERT_EQ(entries[i].alpha, alphas[i / etas.size()]);
      ASSERT_EQ(entries[i].eta, etas[i % etas.size()]);
      steps += expect_same_answer(problem, entries[i]);
      ++forms[name_of(entries[i].selection.plan.form)];
      ++statuses[fwsr::name_of(entries[i].selection.status)];
      ++settings;
    }
    if (HasFatalFailure()) return;
  }
  std::cout << settings << " settings, " << steps << " steps compared;";
  for (const auto* group : {&forms, &statuses})
    for (const auto& [name, count] : *group) std::cout << ' ' << name << ' ' << count << ',';
  std::cout << '\n';
  for (const char* form : {"covariance", "representer", "gradient"})
    EXPECT_GT(forms[form], 20) << form;
  for (const Status s : {Status::exemplars_reached, Status::converged, Status::exhausted})
    EXPECT_GT(statuses[fwsr::name_of(s)], 5);
}

// ------------------------------------------------------------------------------------------ same bits

std::uint64_t bits(double v) {
  return std::bit_cast<std::uint64_t>(v);
}

void expect_same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(bits(a[i]), bits(b[i])) << i;
}

void expect_same_bits(const Selection& a, const Selection& b) {
  EXPECT_EQ(a.exemplars, b.exemplars);
  EXPECT_EQ(a.status, b.status);
  EXPECT_EQ(a.warnings, b.warnings);
  EXPECT_EQ(a.assignment, b.assignment);
  EXPECT_EQ(a.filled, b.filled);
  expect_same_bits(a.weights, b.weights);
  expect_same_bits(a.strength, b.strength);
  expect_same_bits(a.codes, b.codes);
  expect_same_bits({a.f_at_zero, a.beta, a.eta, a.eta_in_rms, a.gamma},
                   {b.f_at_zero, b.beta, b.eta, b.eta_in_rms, b.gamma});
  ASSERT_EQ(a.trace.size(), b.trace.size());
  for (std::size_t t = 0; t < a.trace.size(); ++t) {
    ASSERT_EQ(a.trace[t].pick, b.trace[t].pick) << t;
    expect_same_bits({a.trace[t].f, a.trace[t].gap, a.trace[t].step_size, a.trace[t].score},
                     {b.trace[t].f, b.trace[t].gap, b.trace[t].step_size, b.trace[t].score});
  }
  ASSERT_EQ(a.certificate.has_value(), b.certificate.has_value());
  if (a.certificate)
    expect_same_bits({a.certificate->f, a.certificate->gap, a.certificate->reconstruction_error},
                     {b.certificate->f, b.certificate->gap, b.certificate->reconstruction_error});
}

void expect_same_bits(const std::vector<SweepEntry>& a, const std::vector<SweepEntry>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "alpha " << text_of(a[i].alpha) << " eta " << a[i].eta);
    expect_same_bits(a[i].selection, b[i].selection);
  }
}

/// Several blocks of points, a number of features that fills no vector.
Data blobs(Storage storage, Index n = 2600, Index d = 13) {
  Rng rng(5);
  return Data(n, d, problems::make_values(Kind::clustered, n, d, false, rng), storage);
}
SelectOptions eight() {
  SelectOptions o;
  o.exemplars = 8;
  o.codes = o.assignment = true;
  return o;
}
const std::vector<NumberOrAuto> some_alphas = {0.5, 40, 0, 900};
const std::vector<double> some_etas = {0, 0.4, 3};

TEST(Sweep, any_number_of_threads_gives_the_same_bits) {
  for (const Storage storage : {Storage::dense_f32, Storage::dense_f64, Storage::csr_f64_i32}) {
    const Data data = blobs(storage);
    for (const auto kernel : {KernelType::linear, KernelType::cosine}) {
      SelectOptions o = eight();
      o.kernel.type = kernel;
      o.threads = 1;
      const auto one = fwsr::sweep(data.view(), o, some_alphas, some_etas);
      EXPECT_EQ(one[0].selection.plan.form, FormKind::covariance);
      for (const int threads : {2, 3, 8}) {
        SCOPED_TRACE(testing::Message() << threads << " threads");
        o.threads = threads;
        expect_same_bits(one, fwsr::sweep(data.view(), o, some_alphas, some_etas));
      }
    }
  }
}

TEST(Sweep, batches_give_the_same_bits_as_all_at_once) {
  const Data data = blobs(Storage::dense_f32);
  SelectOptions o;
  o.exemplars = 8;
  const auto all = fwsr::sweep(data.view(), o, some_alphas, some_etas);
  const auto whole = fwsr::plan_sweep(data.view(), o, some_alphas, some_etas);
  EXPECT_EQ(whole.at_once, 12);
  EXPECT_EQ(whole.rounds, 1);
  const Index data_bytes = whole.each.data_bytes;
  const Index threads = whole.each.threads * whole.each.memory_per_thread;
  std::map<Index, int> seen;
  for (const double part : {0.95, 0.7, 0.5, 0.3}) {
    o.memory = data_bytes + threads +
               static_cast<Index>(part * static_cast<double>(whole.memory_bytes - threads));
    const auto plan = fwsr::plan_sweep(data.view(), o, some_alphas, some_etas);
    SCOPED_TRACE(testing::Message() << plan.at_once << " at once");
    EXPECT_LE(data_bytes + plan.memory_bytes, o.memory);
    EXPECT_GE(plan.at_once * plan.rounds, 12);
    ++seen[plan.at_once];
    if (plan.at_once > 1)
      expect_same_bits(all, fwsr::sweep(data.view(), o, some_alphas, some_etas));
  }
  EXPECT_GE(seen.size(), 3u);
}

TEST(Sweep, without_eta_the_bits_are_those_of_select) {
  for (const Storage storage : {Storage::dense_f32, Storage::dense_f64, Storage::csr_f32_i64}) {
    const Data data = blobs(storage);
    for (const auto center : {fwsr::Center::point, fwsr::Center::feature, fwsr::Center::none}) {
      SelectOptions o = eight();
      o.center = center;
      for (const SweepEntry& e : fwsr::sweep(data.view(), o, some_alphas, {}))
        expect_same_bits(e.selection, fwsr::select(data.view(), setting(o, e.alpha, 0)));
    }
  }
}

/// Settings that begin with the same picks and part later, that end at different steps, and more
/// features than are multiplied at a time.
TEST(Sweep, picks_that_settings_share_change_no_bits) {
  const std::vector<NumberOrAuto> alphas = {0, 0.01, 0.02, 0.5, 1, 2, 5, 10, 20, 40, 90, 200};
  for (const Storage storage : {Storage::dense_f32, Storage::dense_f64}) {
    const Data data = blobs(storage, 1101, 301);
    SelectOptions o = eight();
    o.certificate = fwsr::CertificateKind::none;
    o.when_converged = fwsr::WhenConverged::stop;
    o.delta = 1e-2;
    std::map<Index, int> first, last;
    std::map<std::size_t, int> lengths;
    for (const SweepEntry& e : fwsr::sweep(data.view(), o, alphas, {})) {
      EXPECT_EQ(e.selection.plan.form, FormKind::covariance);
      expect_same_bits(e.selection, fwsr::select(data.view(), setting(o, e.alpha, 0)));
      ASSERT_FALSE(e.selection.trace.empty());
      ++first[e.selection.trace.front().pick];
      ++last[e.selection.trace.back().pick];
      ++lengths[e.selection.trace.size()];
    }
    EXPECT_EQ(first.size(), 1u);
    EXPECT_GT(last.size(), 1u);
    EXPECT_LT(last.size(), alphas.size());
    EXPECT_GT(lengths.size(), 1u);
  }
}

TEST(Sweep, too_little_memory_to_share_runs_one_after_the_other) {
  const Data data = blobs(Storage::dense_f64);
  SelectOptions o = eight();
  o.codes = o.assignment = false;
  const fwsr::Plan one = fwsr::plan(data.view(), o);
  o.memory = one.data_bytes + one.memory_bytes + 20000;
  const auto plan = fwsr::plan_sweep(data.view(), o, some_alphas, some_etas);
  EXPECT_EQ(plan.at_once, 1);
  for (const SweepEntry& e : fwsr::sweep(data.view(), o, some_alphas, some_etas))
    expect_same_bits(e.selection, fwsr::select(data.view(), setting(o, e.alpha, e.eta)));
  o.codes = true;
  o.memory += one.points * 8 * 8;  // for one setting, not for twelve
  EXPECT_THROW(fwsr::sweep(data.view(), o, some_alphas, some_etas), fwsr::MemoryError);
}

// --------------------------------------------------------------------------------------- edge cases

TEST(Sweep, settings_end_when_they_end) {
  const Data data = blobs(Storage::dense_f64, 300, 6);
  SelectOptions o;
  o.exemplars = 6;
  o.when_converged = fwsr::WhenConverged::stop;
  o.max_iterations = 40;
  o.delta = 1e-3;
  std::map<Status, int> seen;
  std::map<std::size_t, int> lengths;
  const std::vector<NumberOrAuto> alphas = {0, 0.1, 1, 10, 100, 300, 400, 4000};
  for (const SweepEntry& e : fwsr::sweep(data.view(), o, alphas, {0, 2})) {
    const Selection alone = fwsr::select(data.view(), setting(o, e.alpha, e.eta));
    EXPECT_EQ(e.selection.exemplars, alone.exemplars) << text_of(e.alpha) << ' ' << e.eta;
    EXPECT_EQ(e.selection.status, alone.status);
    ++seen[e.selection.status];
    ++lengths[e.selection.trace.size()];
  }
  EXPECT_GE(seen.size(), 2u);
  EXPECT_GE(lengths.size(), 4u);
}

TEST(Sweep, copies_zeros_and_k_equal_to_n) {
  const std::vector<double> values = {1, 2, 0, 1, 2, 0, 0, 0, 0, 3, 1, 4, 1, 5, 9, 0, 0, 0};
  for (const Storage storage : {Storage::dense_f32, Storage::dense_f64, Storage::csr_f64_i64}) {
    const Data data(6, 3, values, storage);
    for (const Index k : {1, 3, 6}) {
      SelectOptions o;
      o.exemplars = k;
      o.fill = true;
      for (const SweepEntry& e : fwsr::sweep(data.view(), o, {0.5, 3, 0, 9}, {0, 1})) {
        SCOPED_TRACE(testing::Message() << k << ' ' << text_of(e.alpha) << ' ' << e.eta);
        const Selection alone = fwsr::select(data.view(), setting(o, e.alpha, e.eta));
        EXPECT_EQ(e.selection.exemplars, alone.exemplars);
        EXPECT_EQ(e.selection.filled, alone.filled);
        EXPECT_EQ(e.selection.status, alone.status);
      }
    }
  }
}

TEST(Sweep, etas_of_very_different_size) {
  const Data data = blobs(Storage::dense_f64, 200, 5);
  SelectOptions o;
  o.exemplars = 4;
  for (const SweepEntry& e : fwsr::sweep(data.view(), o, {1, 20}, {1e-30, 1e3, 1e30, 1e140})) {
    SCOPED_TRACE(testing::Message() << text_of(e.alpha) << ' ' << e.eta);
    const Selection alone = fwsr::select(data.view(), setting(o, e.alpha, e.eta));
    EXPECT_NEAR(e.selection.f_at_zero, alone.f_at_zero, 1e-9 * alone.f_at_zero);
    EXPECT_EQ(e.selection.eta, alone.eta);
    if (e.eta < 1e6) {
      EXPECT_EQ(e.selection.exemplars, alone.exemplars);
    }
  }
}

TEST(Sweep, float32_that_fits_exactly_goes_on_in_double) {
  Rng rng(3);
  const Data data(400, 6, problems::make_values(Kind::gaussian, 400, 6, true, rng),
                  Storage::dense_f32);
  SelectOptions o;
  o.center = fwsr::Center::none;
  o.max_iterations = 3000;
  o.exemplars = 30;  // more than dimensions: f falls by many orders of magnitude
  for (const SweepEntry& e : fwsr::sweep(data.view(), o, {0.2, 2, 0}, {0, 0.001})) {
    SCOPED_TRACE(testing::Message() << text_of(e.alpha) << ' ' << e.eta);
    const Selection alone = fwsr::select(data.view(), setting(o, e.alpha, e.eta));
    EXPECT_LT(alone.trace.back().f, 1e-5 * alone.f_at_zero);
    EXPECT_LT(e.selection.trace.back().f, 1e-5 * alone.f_at_zero);
    for (std::size_t t = 0; t < 5; ++t)
      EXPECT_EQ(e.selection.trace[t].pick, alone.trace[t].pick) << t;
  }
}

TEST(Sweep, an_observer_is_told_of_all_and_may_stop_them) {
  const Data data = blobs(Storage::dense_f64);
  SelectOptions o = eight();
  Index calls = 0;
  fwsr::Progress last;
  fwsr::sweep(data.view(), o, some_alphas, some_etas, [&](const fwsr::Progress& p) {
    EXPECT_GE(p.step, last.step);
    EXPECT_EQ(p.wanted, 12 * 8);
    last = p;
    ++calls;
    return true;
  });
  EXPECT_GT(calls, 90);
  EXPECT_GE(last.step, 12 * 8);
  EXPECT_EQ(last.exemplars, 12 * 8);

  for (const auto kernel : {KernelType::linear, KernelType::rbf})
    for (const Index at : {0, 1, 30}) {
      o.kernel.type = kernel;
      const auto entries = fwsr::sweep(data.view(), o, {0.5, 1, 2}, {0, 1},
                                       [&](const fwsr::Progress& p) { return p.step < at; });
      ASSERT_EQ(entries.size(), 6u);
      for (const SweepEntry& e : entries) {
        const bool ended = e.selection.status != Status::interrupted;
        EXPECT_EQ(e.selection.certificate.has_value(), ended);
        EXPECT_EQ(e.selection.weights.size(), ended ? e.selection.exemplars.size() : 0);
      }
      EXPECT_EQ(entries.back().selection.status, Status::interrupted);
    }
}

TEST(Sweep, refuses_what_makes_no_sense) {
  const Data data = blobs(Storage::dense_f64, 50, 4);
  const SelectOptions o = eight();
  const auto refused = [&](const SelectOptions& options, const std::vector<NumberOrAuto>& alphas,
                           const std::vector<double>& etas) {
    EXPECT_THROW(fwsr::sweep(data.view(), options, alphas, etas), fwsr::Error);
    EXPECT_THROW(fwsr::plan_sweep(data.view(), options, alphas, etas), fwsr::Error);
  };
  refused(o, {-1}, {});
  refused(o, {1, std::numeric_limits<double>::quiet_NaN()}, {});
  refused(o, {1}, {0.5, -0.5});
  refused(o, {1, 2, 1}, {});
  refused(o, {NumberOrAuto{}, 2, NumberOrAuto{}}, {});
  refused(o, {1}, {0.5, 0.5});
  refused(o, std::vector<NumberOrAuto>(5000, 1.0), {});
  SelectOptions own = o;
  own.alpha = 1;
  refused(own, {1}, {});
  own = o;
  own.beta = 1;
  refused(own, {1}, {});
  own = o;
  own.eta = 1;
  refused(own, {1}, {0});
  own = o;
  own.exemplars = 51;
  refused(own, {1}, {0});
  own = o;
  own.q = fwsr::Norm::one;
  refused(own, {1, 0}, {0});
}

TEST(Sweep, no_lists_are_the_defaults) {
  const Data data = blobs(Storage::dense_f64, 200, 5);
  const auto entries = fwsr::sweep(data.view(), eight(), {}, {});
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_FALSE(entries[0].alpha);
  EXPECT_EQ(entries[0].eta, 0);
  expect_same_bits(entries[0].selection, fwsr::select(data.view(), eight()));
}

// ---------------------------------------------------------------------------------------- per class

TEST(Sweep, per_class_every_setting_is_what_select_per_class_answers) {
  const Index n = 700;
  std::vector<std::string> labels;
  for (Index i = 0; i < n; ++i)
    labels.push_back(i == 17 ? "rare" : i % 7 == 0 ? "seven" : i % 2 == 0 ? "even" : "odd");
  const fwsr::ClassCounts counts{.kind = fwsr::ClassCounts::Kind::each, .number = 5, .named = {}};
  for (const auto kernel : {KernelType::linear, KernelType::rbf}) {
    const Data data = blobs(Storage::dense_f64, n, 7);
    SelectOptions o;
    o.kernel.type = kernel;
    std::vector<fwsr::ClassSweepEntry> one;
    for (const int threads : {1, 3, 8}) {
      o.threads = threads;
      const auto entries =
          fwsr::sweep_per_class(data.view(), labels, counts, o, {0.5, 5}, {0, 0.7});
      ASSERT_EQ(entries.size(), 4u);
      for (const auto& e : entries) {
        SCOPED_TRACE(testing::Message() << text_of(e.alpha) << ' ' << e.eta);
        const auto alone =
            fwsr::select_per_class(data.view(), labels, counts, setting(o, e.alpha, e.eta));
        ASSERT_EQ(e.classes.size(), alone.size());
        for (std::size_t c = 0; c < alone.size(); ++c) {
          EXPECT_EQ(e.classes[c].name, alone[c].name);
          EXPECT_EQ(e.classes[c].members, alone[c].members);
          EXPECT_EQ(e.classes[c].wanted, alone[c].wanted);
          EXPECT_EQ(e.classes[c].selection.exemplars, alone[c].selection.exemplars);
          EXPECT_EQ(e.classes[c].selection.status, alone[c].selection.status);
          EXPECT_EQ(e.classes[c].selection.warnings, alone[c].selection.warnings);
        }
      }
      if (threads == 1) one = entries;
      for (std::size_t s = 0; s < entries.size(); ++s)
        for (std::size_t c = 0; c < entries[s].classes.size(); ++c)
          expect_same_bits(entries[s].classes[c].selection, one[s].classes[c].selection);
    }
  }
}

}  // namespace
