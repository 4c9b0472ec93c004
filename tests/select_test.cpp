// fwsr::select against the oracle on hundreds of random problems, in every form.
#include "fwsr/solver/select.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compare.hpp"
#include "fwsr/solver/select_points.hpp"
#include "oracle/oracle.hpp"
#include "problems.hpp"

namespace {

using fwsr::Index;
using fwsr::KernelBy;
using fwsr::KernelType;

struct Tally {
  Index problems = 0;
  Index whole = 0;
  Index steps = 0;
  std::map<std::string, Index> forms, statuses, kernels, storages;
};

/// What the oracle says about a problem.
struct Truth {
  Truth(const problems::Problem& problem, double gamma)
      : reference(problems::reference_of(problem.data.exact(), problem.options, gamma)),
        run(oracle::select(reference.k, reference.settings)),
        shadow(oracle::select(oracle::rounded(reference.k), reference.settings)) {}

  problems::Reference reference;
  oracle::Run<oracle::Real> run;
  oracle::Run<double> shadow;
};

void expect_truth(const problems::Problem& problem, const fwsr::Selection& selection,
                  const Truth& truth, Tally& tally) {
  SCOPED_TRACE(problems::describe(problem));
  SCOPED_TRACE(form_of(selection.plan));
  const auto tolerance = compare::tolerance_of(problem, selection);
  const bool grow = problem.options.when_converged == fwsr::WhenConverged::grow;
  const auto outcome =
      compare::expect_same_run(selection, truth.run, tolerance, grow, &truth.shadow);
  if (outcome.whole) compare::expect_same_codes(selection, truth.run, tolerance);
  compare::expect_consistent(selection, problem.options, truth.reference, tolerance);

  ++tally.problems;
  tally.whole += outcome.whole ? 1 : 0;
  tally.steps += outcome.steps;
  ++tally.forms[name_of(selection.plan.form)];
  if (selection.plan.kernel_by != KernelBy::none) ++tally.forms[form_of(selection.plan)];
  ++tally.statuses[fwsr::name_of(selection.status)];
  ++tally.kernels[fwsr::name_of(problem.options.kernel.type)];
  ++tally.storages[std::to_string(static_cast<int>(problem.data.storage()))];
}

void print(const char* title, const Tally& tally) {
  std::cout << title << ": " << tally.problems << " problems, " << tally.whole
            << " compared to their end, " << tally.steps << " steps;";
  for (const auto* group : {&tally.forms, &tally.statuses, &tally.kernels, &tally.storages}) {
    for (const auto& [name, count] : *group) std::cout << ' ' << name << ' ' << count << ',';
    std::cout << ';';
  }
  std::cout << '\n';
}

void try_problem(const problems::Problem& problem, Tally& tally) {
  const fwsr::Selection selection = fwsr::select(problem.data.view(), problem.options);
  expect_truth(problem, selection, Truth(problem, selection.gamma), tally);
}

TEST(Select, agrees_with_the_oracle_on_random_problems) {
  // One seed alone, to look into a failure: FWSR_SEED=17.
  const char* one = std::getenv("FWSR_SEED");
  Tally tally;
  if (one) {
    try_problem(problems::make_problem(std::strtoull(one, nullptr, 10)), tally);
    return;
  }
  for (std::uint64_t seed = 0; seed < 1000; ++seed)
    try_problem(problems::make_problem(seed), tally);
  print("select", tally);
  // Where a run meets a decision within rounding depends on the processor.
  EXPECT_GE(10 * tally.whole, 8 * tally.problems);
  for (const char* form : {"covariance", "representer", "gradient", "representer held",
                           "representer given", "gradient held", "gradient given"})
    EXPECT_GE(tally.forms[form], 20) << form;
  for (const auto& [name, count] : tally.storages) EXPECT_GE(count, 20) << name;
  EXPECT_EQ(tally.storages.size(), 6u);
  EXPECT_EQ(tally.kernels.size(), 6u);
  EXPECT_EQ(tally.statuses.size(), 4u);
}

TEST(Select, every_form_agrees_with_the_oracle) {
  Tally tally;
  for (std::uint64_t seed = 5000; seed < 5400; ++seed) {
    auto problem = problems::make_problem(seed);
    problem.options.q = fwsr::Norm::two;
    problem.options.nonneg = false;
    fwsr::Plan plan = fwsr::plan(problem.data.view(), problem.options);
    std::optional<Truth> truth;
    for (const auto& [form, kernel_by] : compare::forms_for(problem.options.kernel.type)) {
      plan.form = form;
      plan.kernel_by = kernel_by;
      const fwsr::Selection selection =
          fwsr::select_points(problem.data.view(), {}, problem.options, plan, {});
      if (!truth) truth.emplace(problem, selection.gamma);
      expect_truth(problem, selection, *truth, tally);
    }
  }
  print("every form", tally);
  EXPECT_GE(10 * tally.whole, 9 * tally.problems);
  for (const char* form :
       {"covariance", "representer held", "representer tiles", "representer products",
        "representer given", "gradient held", "gradient given"})
    EXPECT_GE(tally.forms[form], 20) << form;
}

TEST(Select, the_planner_chooses_tiles_when_k_does_not_fit) {
  Tally tally;
  for (std::uint64_t seed = 0; tally.problems < 25; ++seed) {
    auto problem = problems::make_problem(seed);
    if (problem.data.rows() < 40) continue;
    problem.options.q = fwsr::Norm::two;
    problem.options.nonneg = false;
    problem.options.kernel = {.type = seed % 2 ? KernelType::rbf : KernelType::laplacian};
    const auto plan = fwsr::plan(problem.data.view(), problem.options);
    ASSERT_EQ(plan.kernel_by, KernelBy::held);
    problem.options.memory = plan.data_bytes + plan.memory_bytes - 1;
    try_problem(problem, tally);
  }
  EXPECT_EQ(tally.forms["representer tiles"], tally.problems);
}

TEST(Select, new_points_are_encoded_as_the_old_ones_are) {
  Index compared = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    auto problem = problems::make_problem(seed);
    if (problem.options.kernel.type == KernelType::precomputed) continue;
    problem.options.q = fwsr::Norm::two;
    problem.options.nonneg = false;
    SCOPED_TRACE(problems::describe(problem));
    const auto view = problem.data.view();
    const auto selection = fwsr::select(view, problem.options);
    const auto codes = fwsr::encode(view, problem.options, selection, view);
    ASSERT_EQ(codes.size(), selection.codes.size());
    double apart = 0, largest = 1;
    for (std::size_t i = 0; i < codes.size(); ++i) {
      apart = std::max(apart, std::abs(codes[i] - selection.codes[i]));
      largest = std::max(largest, std::abs(codes[i]));
    }
    EXPECT_LE(apart, compare::tolerance_of(problem, selection).value * largest);
    ++compared;
  }
  EXPECT_GE(compared, 100);
}

}  // namespace
