// Comparisons: the memory of a method whoever came before it, and which numbers get a star.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fwsr/base/allocations.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/methods/compare.hpp"
#include "fwsr/methods/compare_table.hpp"
#include "problems.hpp"

namespace fwsr {
namespace {

using problems::Data;
using problems::Kind;
using problems::Storage;

const Measure& measure(const std::string& name) {
  for (const Measure& m : measures())
    if (name == m.name) return m;
  throw Error("no such measure");
}

using Marks = std::vector<bool>;

TEST(CompareTable, the_best_has_a_star_and_so_has_what_equals_it) {
  const Measure &error = measure("reconstruction_error"), &accuracy = measure("nearest_accuracy");
  EXPECT_EQ(best_of({0.2, 0.1, 0.3}, error), (Marks{false, true, false}));
  EXPECT_EQ(best_of({0.2, 0.1, 0.3}, accuracy), (Marks{false, false, true}));
  EXPECT_EQ(best_of({0.2, 0.1 * (1 + 1e-12), 0.1}, error), (Marks{false, true, true}));
  EXPECT_EQ(best_of({0.1, 0.1, 0.1}, error), (Marks{false, false, false}));
  EXPECT_EQ(best_of({0.1, std::nan(""), 0.2}, error), (Marks{true, false, false}));
  EXPECT_EQ(best_of({}, error), Marks{});
}

TEST(CompareTable, rounding_is_zero_and_wins_nothing) {
  const Measure& error = measure("reconstruction_error");
  EXPECT_EQ(best_of({3e-60, 1e-31, 0}, error), (Marks{false, false, false}));
  EXPECT_EQ(best_of({3e-60, 1e-31, 1e-3}, error), (Marks{true, true, false}));
  EXPECT_EQ(best_of({1e-9, 3e-8}, measure("mmd")), (Marks{false, false}));
  std::vector<Spread> spreads(measures().size(), {.mean = std::nan(""), .deviation = 0});
  std::vector<Spread> zero = spreads, some = spreads;
  zero[0] = {.mean = 3e-60, .deviation = 1e-60};
  some[0] = {.mean = 0.125, .deviation = 0.01};
  const std::string table =
      comparison_table({{.name = "a", .spreads = zero}, {.name = "b", .spreads = some}});
  EXPECT_EQ(table, "method    rec. error\na                  0 *\nb       0.125 +-0.01\n");
}

TEST(CompareTable, memory_has_a_unit_and_methods_without_an_answer_a_word) {
  std::vector<Spread> spreads(measures().size(), {.mean = 1, .deviation = 0});
  spreads.back() = {.mean = 3 << 20, .deviation = 1 << 20};
  const std::string table =
      comparison_table({{.name = "a", .spreads = spreads},
                        {.name = "b", .outcome = Comparison::Outcome::too_slow},
                        {.name = "c", .outcome = Comparison::Outcome::too_large},
                        {.name = "d", .outcome = Comparison::Outcome::refused}});
  for (const char* text : {"3.0 MiB", "no time", "no memory", "refused"})
    EXPECT_NE(table.find(text), std::string::npos) << table;
}

bool is_counted() {
  const AllocationPeak peak;
  return peak.bytes() >= 0;
}

TEST(Allocations, the_most_at_one_time_is_told) {
  if (!is_counted()) GTEST_SKIP() << "this build has an operator new of its own";
  const AllocationPeak peak;
  { const std::vector<double> a(1 << 17); }
  { const std::vector<double> b(1 << 16); }
  EXPECT_GE(peak.bytes(), 8 << 17);
  EXPECT_LT(peak.bytes(), (8 << 17) + (1 << 16));
}

TEST(Allocations, two_that_count_at_once_know_nothing) {
  if (!is_counted()) GTEST_SKIP() << "this build has an operator new of its own";
  const AllocationPeak first;
  EXPECT_GE(first.bytes(), 0);
  { EXPECT_EQ(AllocationPeak().bytes(), -1); }
  EXPECT_EQ(first.bytes(), -1);
}

TEST(Compare, memory_does_not_depend_on_who_came_before) {
  if (!is_counted()) GTEST_SKIP() << "this build has an operator new of its own";
  Rng rng(1);
  const Data data(400, 12, problems::make_values(Kind::clustered, 400, 12, false, rng),
                  Storage::dense_f64);
  std::vector<Contestant> all;
  for (const Method& m : methods()) {
    if (m.name == "ds3" || m.name == "kernel-smrs") continue;  // slow
    const SelectOptions options{.exemplars = 5, .center = Center::none, .threads = 1};
    all.push_back({.name = m.name, .request = Request(options, {.name = m.name})});
  }
  SelectOptions judged_by = all[0].request->options;
  const auto forwards = compare(data.view(), {}, all, judged_by, {.repeats = 1});
  std::reverse(all.begin(), all.end());
  const auto backwards = compare(data.view(), {}, all, judged_by, {.repeats = 1});
  for (std::size_t i = 0; i < forwards.size(); ++i) {
    const Comparison &a = forwards[i], &b = backwards[forwards.size() - 1 - i];
    ASSERT_EQ(a.name, b.name);
    ASSERT_EQ(a.outcome, Comparison::Outcome::done) << a.reason;
    const auto first = static_cast<double>(a.trials[0].peak_bytes),
               second = static_cast<double>(b.trials[0].peak_bytes);
    EXPECT_GT(first, 0) << a.name;
    EXPECT_NEAR(first, second, 0.01 * first + 4096) << a.name;
  }
}

}  // namespace
}  // namespace fwsr
