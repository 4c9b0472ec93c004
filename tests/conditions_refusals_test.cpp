// Conditions that are refused, and answers that are short under conditions: what is said.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "fwsr/base/random.hpp"
#include "fwsr/methods/methods.hpp"
#include "fwsr/solver/select.hpp"
#include "problems.hpp"

namespace {

using fwsr::Index;

TEST(Conditions, that_cannot_be_kept_are_refused_with_the_reason) {
  const auto problem = [](const auto& change) {
    fwsr::SelectOptions o;
    o.exemplars = 3;
    change(o, o.conditions);
    return fwsr::find_problem(o, 5, 2).value_or("");
  };
  using O = fwsr::SelectOptions;
  using C = fwsr::Conditions;
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(problem([](O&, C& c) { c.candidates = {true, true}; }), "2 marks of candidates for 5 points");
  has(problem([](O&, C& c) { c.candidates.assign(5, false); }), "no point may be chosen");
  has(problem([](O&, C& c) {
        c.candidates = {true, true, false, false, false};
      }),
      "only 2 of 5 points may be chosen");
  has(problem([](O&, C& c) { c.included = {7}; }), "the points are 0 to 4");
  has(problem([](O&, C& c) { c.included = {1, 1}; }), "twice");
  has(problem([](O& o, C& c) { c.included = {1}, o.nonneg = true; }), "include is for q = 2");
  has(problem([](O&, C& c) { c.weights = {1, 1, -1, 1, 1}; }), "the weight of point 2 is -1");
  has(problem([](O&, C& c) { c.weights.assign(5, 0.0); }), "all weights are zero");
  has(problem([](O& o, C& c) { c.weights.assign(5, 2.0), o.q = fwsr::Norm::one; }),
      "weights are for q = 2");
  has(problem([](O&, C& c) { c.costs = {1, 1, 1, 0, 1}; }), "the cost of point 3 is 0");
  has(problem([](O& o, C&) { o.budget = 0.5; }), "pays for nobody");
  has(problem([](O& o, C&) { o.budget = -1.0; }), "budget must be a positive number");
  has(problem([](O& o, C&) { o.until_error = 1.0; }), "until_error is the share");
  has(problem([](O& o, C&) { o.time_limit = 0.0; }), "time limit must be a positive");
  has(problem([](O&, C& c) { c.at_most.each = 1; }), "give the groups, too");
  const auto groups = fwsr::Labels(std::vector<std::string>{"a", "a", "a", "b", "b"});
  has(problem([&](O&, C& c) { c.groups = groups, c.at_most.each = 1; }), "at_most allows 2");
  has(problem([&](O&, C& c) { c.groups = groups, c.at_least.named["b"] = 3; }),
      "at least 3 exemplars, and has 2 candidates");
  has(problem([&](O&, C& c) { c.groups = groups, c.at_least.each = 2; }),
      "at least 4 exemplars together, and 3 were asked for");
  has(problem([&](O&, C& c) {
        c.groups = groups, c.at_least.named["a"] = 2, c.at_most.named["a"] = 1;
      }),
      "at least 2 exemplars and at most 1");
  has(problem([&](O&, C& c) { c.groups = groups, c.at_most.named["z"] = 1; }),
      "the group 'z', of which there is no point");
  has(problem([&](O& o, C& c) { c.groups = groups, c.at_least.each = 1, o.budget = 3.0; }),
      "cannot be promised within a budget");
  EXPECT_EQ(problem([&](O&, C& c) { c.groups = groups, c.at_least.each = 1; }), "");
  has(problem([](O&, C& c) {
        c.costs = {1, 1e200, 1, 1, 1};
      }),
      "the cost of point 1 is 1e+200; costs are positive numbers between 1e-100 and 1e100");
  has(problem([](O&, C& c) {
        c.costs = {1e-200, 1, 1, 1, 1};
      }),
      "multiply all of them (and the budget) by one number");
  has(problem([](O&, C& c) { c.weights.assign(5, 1e200); }), "the weight of point 0 is 1e+200");
  has(problem([](O& o, C& c) {
        o.kernel.type = fwsr::KernelType::rbf, o.rank = 2, c.included = {0, 1};
      }),
      "rank 2 is used up by 2 exemplars that are included");
}

problems::Data normal_points(Index n, Index d) {
  fwsr::Rng rng(7);
  std::vector<double> values;
  for (Index i = 0; i < n * d; ++i) values.push_back(rng.normal());
  return {n, d, values, problems::Storage::dense_f64};
}

TEST(Conditions, of_included_exemplars_that_span_everything_leave_nothing) {
  const problems::Data data = normal_points(200, 12);
  for (const Index many : {12, 20, 150})
    for (const double eta : {0.0, 0.5}) {
      fwsr::SelectOptions o{.exemplars = 3, .eta = eta, .center = fwsr::Center::none};
      for (Index i = 0; i < many; ++i) o.conditions.included.push_back(i);
      if (eta != 0) o.conditions.included.push_back(many);  // one more dimension
      for (const fwsr::Refine refine : {fwsr::Refine::none, fwsr::Refine::exchange}) {
        SCOPED_TRACE(testing::Message() << many << " included, eta " << eta);
        o.refine = refine;
        const fwsr::Selection s = fwsr::select(data.view(), o);
        EXPECT_EQ(s.status, fwsr::Status::exhausted);
        EXPECT_EQ(s.f_at_zero, 0);
        EXPECT_EQ(s.exemplars.size(), o.conditions.included.size());
        ASSERT_TRUE(s.certificate.has_value());
        EXPECT_GE(s.certificate->f, 0);
        EXPECT_GE(s.certificate->gap, 0);
        EXPECT_LE(s.certificate->reconstruction_error, 1e-12);
      }
    }
}

TEST(Conditions, name_no_number_of_exemplars_that_nobody_gave) {
  const problems::Data data = normal_points(40, 3);
  fwsr::SelectOptions o{.center = fwsr::Center::none};
  o.budget = 1e6;
  const fwsr::Selection s = fwsr::select(data.view(), o);
  ASSERT_FALSE(s.warnings.empty());
  for (const std::string& warning : s.warnings) {
    EXPECT_EQ(warning.find("asked for"), std::string::npos) << warning;
    EXPECT_EQ(warning.find("40"), std::string::npos) << warning;
  }
}

TEST(Conditions, of_many_included_exemplars_have_the_default_method_take_a_larger_factor) {
  const problems::Data data = normal_points(4200, 4);  // more than have an exact kernel
  fwsr::SelectOptions o{.exemplars = 3};
  const auto rank_with = [&](Index included) {
    o.conditions.included.clear();
    for (Index i = 0; i < included; ++i) o.conditions.included.push_back(i);
    return fwsr::Request(o, {.name = "exchange"}).plan(data.view()).rank;
  };
  EXPECT_EQ(rank_with(100), 256);
  EXPECT_EQ(rank_with(500), 500 + 4 * 3);
  EXPECT_EQ(rank_with(1500), 0);  // as large as that, the kernel itself is less work
}

}  // namespace
