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
  for (const char* name : {"fwsr", "k-fwsr", "kmedoids", "random"}) {
    SCOPED_TRACE(name);
    const SelectOptions options{.exemplars = 5, .threads = 2};
    const MethodChoice choice{.name = name, .settings = {}, .seed = 7};
    const Request request(options, choice);
    const Selection planned = request.run(data.view(), request.plan(data.view()));
    EXPECT_EQ(planned.exemplars, select(data.view(), options, choice).exemplars);
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
    EXPECT_EQ(is_solver(m), m.all_options) << m.name;
    for (const char* common : common_options) EXPECT_TRUE(takes_option(m, common)) << common;
    EXPECT_EQ(takes_option(m, "alpha"), is_solver(m)) << m.name;
  }
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
