// Estimates of time: that there are some, that more work takes more, and what people are told. How good they are is
// measured in bench/plan_seconds.py.
#include <gtest/gtest.h>

#include <cmath>

#include "fwsr/linalg/rates.hpp"
#include "fwsr/methods/methods.hpp"
#include "fwsr/solver/plan_time.hpp"
#include "problems.hpp"

namespace fwsr {
namespace {

constexpr double plenty = 1e18;

PlanFacts dense(Index n, Index d, bool single = true) {
  return {.points = n,
          .features = d,
          .entries = n * d,
          .single = single,
          .data_bytes = n * d * (single ? 4 : 8),
          .threads = 2,
          .limit = plenty};
}

SelectOptions with(Index k, KernelType kernel = KernelType::linear, Index rank = 0) {
  SelectOptions o;
  o.exemplars = k;
  o.kernel.type = kernel;
  o.rank = rank;
  return o;
}

double seconds(const PlanFacts& facts, const SelectOptions& o) {
  return estimated_seconds(make_plan(facts, o));
}

TEST(PlanTime, rates_are_measured_once_and_are_numbers) {
  const Rates& r = rates();
  EXPECT_EQ(&r, &rates());
  for (const double v : {r.products, r.single_products, r.loops, r.bytes, r.fresh_bytes}) {
    EXPECT_TRUE(std::isfinite(v));
    EXPECT_GT(v, 1e6);
  }
}

TEST(PlanTime, more_of_anything_takes_longer) {
  for (const KernelType kernel : {KernelType::linear, KernelType::rbf, KernelType::laplacian})
    for (const Index rank : {Index{0}, Index{64}}) {
      if (rank > 0 && kernel == KernelType::linear) continue;
      const double base = seconds(dense(3000, 40), with(10, kernel, rank));
      EXPECT_GT(base, 0);
      EXPECT_GT(seconds(dense(6000, 40), with(10, kernel, rank)), base);
      EXPECT_GT(seconds(dense(3000, 80), with(10, kernel, rank)), base);
      EXPECT_GT(seconds(dense(3000, 40), with(200, kernel, rank)), base);
    }
  PlanFacts few = dense(3000, 5000), many = few;
  few.sparse = many.sparse = true;
  few.entries = 3000 * 10, many.entries = 3000 * 200;
  EXPECT_LT(seconds(few, with(10)), seconds(many, with(10)));
  EXPECT_LT(seconds(few, with(10, KernelType::rbf)), seconds(many, with(10, KernelType::rbf)));
}

TEST(PlanTime, parts_add_up_and_no_certificate_takes_less) {
  SelectOptions o = with(100, KernelType::rbf);
  const Plan plan = make_plan(dense(3000, 40), o);
  const Seconds s = estimated(plan);
  EXPECT_GT(s.setup, 0);
  EXPECT_GT(s.steps, 0);
  EXPECT_GT(s.certificate, 0);
  EXPECT_DOUBLE_EQ(s.setup + s.steps + s.certificate, estimated_seconds(plan));
  o.certificate = CertificateKind::none;
  EXPECT_LT(seconds(dense(3000, 40), o), estimated_seconds(plan));
}

TEST(PlanTime, every_method_has_an_estimate) {
  problems::Data data(400, 30, std::vector<double>(400 * 30, 1.0), problems::Storage::dense_f64);
  for (const Method& m : methods()) {
    SelectOptions o = with(5);
    const double few = estimated_seconds(plan(data.view(), o, {.name = m.name}));
    o.exemplars = 60;
    EXPECT_GT(few, 0) << m.name;
    EXPECT_TRUE(std::isfinite(few)) << m.name;
    EXPECT_GE(estimated_seconds(plan(data.view(), o, {.name = m.name})), few) << m.name;
  }
}

TEST(PlanTime, words_have_two_digits_and_a_unit) {
  EXPECT_EQ(words_for_seconds(0.01234), "0.012 s");
  EXPECT_EQ(words_for_seconds(3.4567), "3.5 s");
  EXPECT_EQ(words_for_seconds(75), "75 s");
  EXPECT_EQ(words_for_seconds(130), "2 minutes");
  EXPECT_EQ(words_for_seconds(2 * 3600.0), "2 hours");
  EXPECT_EQ(words_for_seconds(9 * 86400.0), "9 days");
  EXPECT_EQ(words_for_seconds(3.2e8), "10 years");
  EXPECT_EQ(words_for_seconds(INFINITY), "more than a thousand years");
}

TEST(PlanTime, long_runs_are_announced_with_a_rank_that_would_do) {
  const PlanFacts facts = dense(2'000'000, 64);
  SelectOptions o = with(20, KernelType::rbf);
  const std::string warning = warning_of_long_run(facts, o, make_plan(facts, o));
  EXPECT_NE(warning.find("this takes about "), std::string::npos) << warning;
  EXPECT_NE(warning.find("; rank 512 approximates the kernel and takes about "), std::string::npos)
      << warning;
  o.exemplars = 1000;
  EXPECT_NE(warning_of_long_run(facts, o, make_plan(facts, o)).find("rank 2000"),
            std::string::npos);
  EXPECT_EQ(warning_of_long_run(dense(500, 10), with(5), make_plan(dense(500, 10), with(5))), "");
}

TEST(PlanTime, products_are_chosen_for_the_reason_that_is_told) {
  const Plan least = make_plan(dense(4000, 1960, false), with(100));
  EXPECT_EQ(least.kernel_by, KernelBy::products);
  EXPECT_EQ(least.why, "products with A are the least work for these points");
  PlanFacts facts = dense(4000, 6000, false);
  const Plan held = make_plan(facts, with(3000));
  EXPECT_EQ(held.kernel_by, KernelBy::held);
  facts.limit = static_cast<double>(held.data_bytes + held.memory_bytes) - 1e6;
  const Plan refused = make_plan(facts, with(3000));
  EXPECT_EQ(refused.kernel_by, KernelBy::products);
  EXPECT_NE(refused.why.find("does not fit the memory"), std::string::npos) << refused.why;
}

}  // namespace
}  // namespace fwsr
