// A request is resolved once, planned once, and its run takes the plan.
#include "fwsr/methods/request.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "fwsr/methods/compare.hpp"
#include "fwsr/methods/methods.hpp"
#include "fwsr/solver/sweep.hpp"
#include "problems.hpp"
#include "same.hpp"

namespace fwsr {
namespace {

using problems::Data;
using problems::Kind;
using problems::Storage;

Data points() {
  Rng rng(3);
  return Data(60, 6, problems::make_values(Kind::clustered, 60, 6, false, rng), Storage::dense_f64);
}

std::vector<std::string> labels() {
  std::vector<std::string> all;
  for (int i = 0; i < 60; ++i) all.push_back(i % 3 == 0 ? "a" : "b");
  return all;
}

TEST(Request, RunsAsSelectDoes) {
  const Data data = points();
  for (const char* name : {"exchange", "fwsr", "k-fwsr", "kmedoids", "random"}) {
    SCOPED_TRACE(name);
    const SelectOptions options{.exemplars = 5, .threads = 2};
    const MethodChoice choice{.name = name, .settings = {}, .seed = 7};
    const Request request(options, choice);
    const Selection planned = request.run(data.view(), request.plan(data.view()));
    EXPECT_EQ(planned.exemplars, select(data.view(), options, choice).exemplars);
    EXPECT_EQ(planned.plan.method, name);
    const ClassCounts two{.number = 2};
    const auto parts =
        request.run_per_class(data.view(), request.plan_per_class(data.view(), labels(), two));
    const auto same = select_per_class(data.view(), labels(), two, options, choice);
    ASSERT_EQ(parts.size(), 2u);
    for (std::size_t c = 0; c < 2; ++c)
      EXPECT_EQ(parts[c].selection.exemplars, same[c].selection.exemplars);
  }
}

TEST(Request, ARunTakesThePlanItIsGiven) {
  const Data data = points();
  const SelectOptions options{.exemplars = 4, .threads = 1};
  const Request request(options, {.name = "rrqr"});
  Plan plan = request.plan(data.view());
  plan.why = "because it was planned so";
  EXPECT_EQ(request.run(data.view(), plan).plan.why, plan.why);
  Plan of_solver = fwsr::plan(data.view(), options);
  of_solver.why = plan.why;
  EXPECT_EQ(select_as_planned(data.view(), options, of_solver).plan.why, plan.why);
  SweepPlan sweep = plan_sweep(data.view(), options, {1.0, 5.0}, {});
  sweep.each.why = plan.why;
  const auto entries = sweep_as_planned(data.view(), options, sweep);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[1].selection.plan.why, plan.why);
  EXPECT_EQ(entries[1].alpha, NumberOrAuto(5.0));
}

TEST(Request, IsResolvedWithTheMethodsOwnKernelAndCentring) {
  EXPECT_EQ(Request({.exemplars = 3}, {.name = "k-fwsr"}).options.kernel.type, KernelType::rbf);
  EXPECT_FALSE(Request({.exemplars = 3}, {.name = "fwsr"}).options.center.has_value());
  const Request rrqr({.exemplars = 3}, {.name = "rrqr"});
  EXPECT_EQ(rrqr.options.center, Center::none);
  EXPECT_EQ(rrqr.method, &find_method("rrqr"));
}

/// The exchange of a selection by hand: k-fwsr, or fwsr, with what the default found.
Selection by_hand(const Data& data, const SelectOptions& o, const Selection& found) {
  SelectOptions own = o;
  own.refine = found.plan.refine;
  own.kernel.type = found.plan.kernel;
  if (found.gamma > 0) own.kernel.gamma = found.gamma;
  own.rank = found.plan.rank;
  return select(data.view(), own);
}

TEST(Request, ExchangePlansAndRunsWhatSuitsThePoints) {
  Rng rng(5);
  struct Expected {
    Index n = 0, k = 0;
    Storage storage = Storage::dense_f64;
    KernelType kernel = KernelType::rbf;
    Index rank = 0;
  };
  const std::vector<Expected> all{
      {.n = 60, .k = 5},
      {.n = 60, .k = 5, .storage = Storage::dense_f32},
      {.n = 60, .k = 5, .storage = Storage::csr_f64_i32, .kernel = KernelType::linear},
      {.n = 4100, .k = 5, .rank = 256},
      {.n = 4100, .k = 70, .rank = 280}};
  for (const Expected& e : all) {
    SCOPED_TRACE(testing::Message() << e.n << " points, k = " << e.k);
    const Data data(e.n, 6, problems::make_values(Kind::clustered, e.n, 6, false, rng), e.storage);
    const SelectOptions options{.exemplars = e.k, .threads = 2};
    const Request request(options, {.name = default_method});
    const Plan plan = request.plan(data.view());
    EXPECT_EQ(plan.method, default_method);
    EXPECT_EQ(plan.kernel, e.kernel);
    EXPECT_EQ(plan.rank, e.rank);
    EXPECT_EQ(plan.refine, e.kernel == KernelType::rbf ? Refine::middle : Refine::exchange);
    const Selection found = request.run(data.view(), plan);
    EXPECT_EQ(found.plan.why, plan.why);
    ASSERT_TRUE(found.refinement);
    EXPECT_TRUE(found.refinement->local_optimum);
    EXPECT_EQ(found.refinement->middle_rounds > 0, plan.refine == Refine::middle);
    EXPECT_EQ(found.exemplars, by_hand(data, options, found).exemplars);
    for (const Refine refine : {Refine::exchange, Refine::middle}) {  // who names one gets that
      SelectOptions named = options;
      named.refine = refine;
      const Request own(named, {.name = default_method});
      const Selection other = own.run(data.view(), own.plan(data.view()));
      EXPECT_EQ(other.plan.refine, refine);
      EXPECT_EQ(other.refinement->middle_rounds > 0, refine == Refine::middle);
      EXPECT_EQ(other.exemplars, by_hand(data, named, other).exemplars);
    }
  }
}

TEST(Request, ExchangeDecidesClassByClass) {
  constexpr Index n = 4200;
  Rng rng(6);
  const Data data(n, 4, problems::make_values(Kind::clustered, n, 4, false, rng),
                  Storage::dense_f64);
  std::vector<std::string> names;
  for (Index i = 0; i < n; ++i) names.push_back(i % 50 == 0 ? "small" : "large");
  const Request request({.exemplars = 3, .threads = 2}, {.name = default_method});
  const auto plans = request.plan_per_class(data.view(), names, {.number = 3});
  const auto parts = request.run_per_class(data.view(), plans);
  ASSERT_EQ(parts.size(), 2u);
  for (std::size_t c = 0; c < 2; ++c) {
    SCOPED_TRACE(parts[c].name);
    EXPECT_EQ(plans[c].plan.method, default_method);
    EXPECT_EQ(plans[c].plan.kernel, KernelType::rbf);
    EXPECT_EQ(plans[c].plan.rank, parts[c].name == "large" ? 256 : 0);
    EXPECT_EQ(parts[c].selection.plan.rank, plans[c].plan.rank);
    EXPECT_EQ(parts[c].selection.kernel_rank > 0, parts[c].name == "large");
    EXPECT_EQ(parts[c].selection.exemplars.size(), 3u);
    EXPECT_TRUE(parts[c].selection.refinement && parts[c].selection.refinement->local_optimum);
  }
}

TEST(Request, ExchangeIsCompletedAndRefusesWhatIsNotItsOwn) {
  const Request plain({.exemplars = 3}, {.name = default_method});
  EXPECT_EQ(plain.options.refine, Refine::exchange);
  EXPECT_EQ(plain.options.kernel.type, KernelType::linear);  // until there are points
  EXPECT_EQ(plain.options.kernel.width.times, 2);
  EXPECT_EQ(plain.options.kernel.width.quantile, 0.9);
  const Request width({.exemplars = 3, .kernel = {.gamma = 0.5}}, {.name = default_method});
  EXPECT_EQ(width.options.kernel.type, KernelType::rbf);
  SelectOptions low{.exemplars = 3};
  low.rank = 20;
  EXPECT_EQ(Request(low, {.name = default_method}).options.kernel.type, KernelType::rbf);
  const Request own({.exemplars = 3, .kernel = {.type = KernelType::laplacian}},
                    {.name = default_method});
  EXPECT_EQ(own.options.kernel.type, KernelType::laplacian);
  EXPECT_THROW(Request({.exemplars = 3, .alpha = 5}, {.name = default_method}), Error);
  EXPECT_THROW(Request({.exemplars = 3, .q = Norm::one}, {.name = default_method}), Error);
  EXPECT_THROW(Request({.exemplars = 3, .precise = true}, {.name = default_method}), Error);
}

TEST(Request, OptionsThatDoNotSuitTheDataAreToldApartFromOtherErrors) {
  const Data data = points();
  EXPECT_THROW(Request({.exemplars = 61}).plan(data.view()), OptionError);
  EXPECT_THROW(plan(data.view(), {.exemplars = 61}), OptionError);
  EXPECT_THROW(plan_sweep(data.view(), {.exemplars = 61}, {}, {}), OptionError);
  const SelectOptions square{.exemplars = 1, .kernel = {.type = KernelType::precomputed}};
  EXPECT_THROW(Request(square).plan_per_class(data.view(), labels(), {.number = 1}), OptionError);
  EXPECT_THROW(Request({.exemplars = 3, .alpha = 5}, {.name = "rrqr"}), Error);
  EXPECT_THROW(Request({.exemplars = 3}, {.name = "no such method"}), Error);
}

TEST(Request, WhichOptionsAMethodTakesIsSaidByItsEntry) {
  const SelectOptions any;
  describe(any, [&](const char* name, const auto&, const char*) {
    EXPECT_TRUE(takes_option(find_method("fwsr"), name)) << name;
    EXPECT_TRUE(takes_option(find_method("k-fwsr"), name)) << name;
  });
  for (const Method& m : methods()) {
    EXPECT_EQ(is_solver(m), m.all_options || m.name == default_method) << m.name;
    for (const char* common : common_options) EXPECT_TRUE(takes_option(m, common)) << common;
    EXPECT_EQ(takes_option(m, "alpha"), m.all_options) << m.name;
  }
  EXPECT_TRUE(takes_option(find_method(default_method), "rank"));
  EXPECT_TRUE(is_compare_option("center"));
  for (const char* other : {"exemplars", "certificate", "alpha"})
    EXPECT_FALSE(is_compare_option(other)) << other;
}

TEST(Request, AComparisonTellsWhyThereIsNone) {
  const Data data = points();
  const SelectOptions options{.exemplars = 3, .center = Center::none, .threads = 1};
  const std::vector<Contestant> all = {
      {.name = "rrqr", .request = Request(options, {.name = "rrqr"})},
      {.name = "other", .request = std::nullopt, .refusal = "it has no such option"}};
  const auto rows = compare(data.view(), {}, all, options, {.repeats = 1});
  EXPECT_EQ(rows[0].outcome, Comparison::Outcome::done);
  EXPECT_EQ(rows[1].outcome, Comparison::Outcome::refused);
  EXPECT_EQ(rows[1].reason, "it has no such option");
}

}  // namespace
}  // namespace fwsr
