#include "random_conditions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>

#include "compare.hpp"
#include "fwsr/solver/conditions.hpp"
#include "fwsr/solver/select_points.hpp"
#include "oracle/oracle.hpp"

namespace random_conditions {

using oracle::Real;

namespace {

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

bool chance(fwsr::Rng& rng, double p) {
  return rng.uniform() < p;
}

Index below(fwsr::Rng& rng, Index n) {
  return static_cast<Index>(rng.below(static_cast<std::uint64_t>(n)));
}

void add_conditions(problems::Problem& p, double each) {
  fwsr::Rng rng(p.seed + 77777);
  fwsr::SelectOptions& o = p.options;
  fwsr::Conditions& c = o.conditions;
  const Index n = p.data.rows();
  const bool free_two = o.q == fwsr::Norm::two && !o.nonneg;
  if (chance(rng, each)) {
    c.candidates.assign(at(n), false);
    const double share = 0.2 + 0.8 * rng.uniform();
    for (Index i = 0; i < n; ++i) c.candidates[at(i)] = chance(rng, share);
    c.candidates[at(below(rng, n))] = true;
  }
  if (free_two && n > 4 && chance(rng, each))
    for (Index i = 0, many = 1 + below(rng, 3); i < many; ++i) {
      const Index one = below(rng, n);
      if (std::find(c.included.begin(), c.included.end(), one) == c.included.end() &&
          fwsr::candidate_count(c, n) > 1)
        c.included.push_back(one);
      if (fwsr::candidate_count(c, n) == 0) c.included.pop_back();
    }
  if (o.q == fwsr::Norm::two && chance(rng, each)) {
    const bool whole = chance(rng, 0.5);
    for (Index i = 0; i < n; ++i)
      c.weights.push_back(whole ? static_cast<double>(below(rng, 4)) : 0.1 + 2 * rng.uniform());
    c.weights[at(below(rng, n))] = 1;
  }
  if (chance(rng, each))
    for (Index i = 0; i < n; ++i) c.costs.push_back(0.5 + 3 * rng.uniform());
  if (chance(rng, each)) o.budget = (c.costs.empty() ? 1.0 : 3.5) + 10 * rng.uniform();
  if (chance(rng, each)) o.until_error = std::pow(10.0, -2.5 * rng.uniform());
  o.exemplars = std::min(o.exemplars, fwsr::candidate_count(c, n));
  if (chance(rng, each)) {
    const Index groups = 1 + below(rng, 4);
    for (Index i = 0; i < n; ++i)
      c.groups.add(std::string(1, static_cast<char>('a' + below(rng, groups))));
    std::map<std::string, Index> sizes;
    for (const Index i : fwsr::candidates_of(c, n)) ++sizes[c.groups[at(i)]];
    Index floors = 0, room = 0;
    for (const std::string& name : c.groups.names()) {
      const Index size = sizes[name];
      const Index cap = chance(rng, 0.6) ? below(rng, size + 1) : size;
      const Index floor = std::min<Index>({cap, o.exemplars - floors, below(rng, 3)});
      if (cap < size) c.at_most.named[name] = cap;
      if (!o.budget && floor > 0) c.at_least.named[name] = floor, floors += floor;
      room += cap;
    }
    o.exemplars = std::min(o.exemplars, room);
    if (o.exemplars == 0) c.at_most = {}, o.exemplars = std::max<Index>(1, floors);
    if (c.at_least.empty() && c.at_most.empty()) c.groups = {};
  }
}

void expect_kept(const fwsr::Selection& s, const fwsr::SelectOptions& o) {
  const fwsr::Conditions& c = o.conditions;
  std::map<std::string, Index> found;
  double spent = 0;
  for (std::size_t t = 0; t < s.exemplars.size(); ++t) {
    const std::size_t j = at(s.exemplars[t]);
    if (s.included[t]) continue;
    EXPECT_TRUE(c.candidates.empty() || c.candidates[j]) << "exemplar " << j;
    EXPECT_EQ(std::count(c.included.begin(), c.included.end(), s.exemplars[t]), 0);
    spent += c.costs.empty() ? 1.0 : c.costs[j];
    if (!c.groups.empty()) ++found[c.groups[j]];
  }
  if (o.budget) {
    EXPECT_LE(spent, *o.budget * (1 + 1e-9));
  }
  for (const std::string& name : c.groups.names()) {
    EXPECT_LE(found[name], c.at_most.of(name).value_or(found[name])) << name;
    EXPECT_GE(found[name], c.at_least.of(name).value_or(0)) << name;
  }
}

Seeds::Seeds(std::uint64_t first, std::uint64_t last) : from(first), to(last), one(false) {
  if (const char* const seed = std::getenv("FWSR_SEED")) {
    from = std::strtoull(seed, nullptr, 10);
    to = from + 1;
    one = true;
  }
}

void see(const fwsr::Plan& plan, const fwsr::SelectOptions& o, Seen& seen) {
  ++seen[form_of(plan)];
  seen["candidates"] += !o.conditions.candidates.empty();
  seen["included"] += !o.conditions.included.empty();
  seen["weights"] += !o.conditions.weights.empty();
  seen["costs"] += !o.conditions.costs.empty();
  seen["groups"] += !o.conditions.groups.empty();
  seen["budget"] += o.budget.has_value();
  seen["until_error"] += o.until_error.has_value();
}

std::string text_of(const Seen& seen) {
  std::string text;
  for (const auto& [name, count] : seen) text += " " + name + " " + std::to_string(count) + ",";
  return text;
}

void try_problem(const problems::Problem& problem, const fwsr::Plan& plan, Tally& tally) {
  SCOPED_TRACE(form_of(plan));
  compare_with_oracle(
      problem, fwsr::select_points(problem.data.view(), {}, problem.options, plan, {}), tally);
}

void compare_with_oracle(const problems::Problem& problem, const fwsr::Selection& selection,
                         Tally& tally) {
  SCOPED_TRACE(problems::describe(problem));
  const fwsr::SelectOptions& o = problem.options;
  expect_kept(selection, o);
  const auto reference = problems::reference_of(problem.data.exact(), o, selection.gamma);
  const auto run = oracle::select(reference.k, reference.settings);
  const auto shadow = oracle::select(oracle::rounded(reference.k), reference.settings);
  Real whole = 0;
  for (Index i = 0; i < reference.k.rows; ++i)
    whole += (o.conditions.weights.empty() ? 1 : o.conditions.weights[at(i)]) * reference.k(i, i);
  Real given = 0;  // before centring; points of scaled features have norms of about 1
  for (const Real v : problem.data.exact().values) given += v * v;
  if (o.scale != fwsr::Scale::none) given = 1;
  // Where centring leaves nothing, all that there may be is rounding, as it is told.
  if (o.kernel.type == fwsr::KernelType::linear && o.center == fwsr::Center::feature &&
      whole < 1e-25L * given) {
    const fwsr::Certificate& c = *selection.certificate;
    EXPECT_LE(std::abs(c.f), c.f_error);
    EXPECT_TRUE(std::isinf(c.gap) || std::abs(c.gap) <= c.gap_error) << c.gap << ' ' << c.gap_error;
    ++tally.seen["nothing left"];
    return;
  }
  // What is included may leave nothing but rounding.
  if (run.f_at_zero < 1e-4L * whole) return;
  auto tolerance = compare::tolerance_of(problem, selection);
  // Rounding is of the whole, which what is included takes its part of.
  const double taken =
      o.conditions.included.empty() || whole == 0 ? 1 : static_cast<double>(whole / run.f_at_zero);
  tolerance.lead *= taken, tolerance.value *= taken, tolerance.score *= taken;
  tolerance.rounding *= taken * taken;
  tolerance.copies_part = true;
  const auto outcome = compare::expect_same_run(
      selection, run, tolerance, o.when_converged == fwsr::WhenConverged::grow, &shadow);
  if (outcome.whole) compare::expect_same_codes(selection, run, tolerance, o.conditions.weights);
  compare::expect_consistent(selection, o, reference, tolerance);
  ++tally.problems;
  tally.whole += outcome.whole;
  tally.steps += outcome.steps;
  see(selection.plan, o, tally.seen);
  ++tally.seen[fwsr::name_of(selection.status)];
  ++tally.seen["storage " + std::to_string(static_cast<int>(problem.data.storage()))];
}

void print(const char* title, const Tally& tally) {
  std::cout << title << ": " << tally.problems << " problems, " << tally.whole
            << " compared to their end, " << tally.steps << " steps;" << text_of(tally.seen)
            << '\n';
}

Points::Points(Index n, Index d, std::uint64_t seed, problems::Storage storage) {
  fwsr::Rng rng(seed);
  values = problems::make_values(problems::Kind::clustered, n, d, false, rng);
  data = problems::Data(n, d, values, storage);
}

Repeated::Repeated(const Points& points, fwsr::Rng& rng) {
  const Index d = points.data.cols();
  std::vector<double> values;
  for (auto row = points.values.begin(); row != points.values.end(); row += d) {
    const Index times = 1 + below(rng, 3);
    first.push_back(n);
    copies.push_back(static_cast<double>(times));
    for (Index c = 0; c < times; ++c, ++n) values.insert(values.end(), row, row + d);
  }
  data = problems::Data(n, d, values, problems::Storage::dense_f64);
}

}  // namespace random_conditions
