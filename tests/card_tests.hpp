// What tests of cards share: points, and a selection on a card beside that of the processor.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "fwsr/solver/device.hpp"
#include "fwsr/solver/select.hpp"

namespace card_tests {

using fwsr::Index;
using fwsr::Selection;
using fwsr::SelectOptions;

/// Skipped without a card.
class CardTest : public testing::Test {
 protected:
  void SetUp() override {
    const fwsr::Cards cards = fwsr::find_cards();
    if (cards.names.empty()) GTEST_SKIP() << cards.why_none;
  }
};

template <class T>
std::vector<T> random_points(Index n, Index d, unsigned seed, double offset = 0) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<T> x(static_cast<std::size_t>(n * d));
  for (Index i = 0; i < n; ++i)
    for (Index l = 0; l < d; ++l)
      x[static_cast<std::size_t>(i * d + l)] =
          static_cast<T>(offset + normal(random) * std::pow(0.97, static_cast<double>(l)));
  return x;
}

inline SelectOptions on_card(SelectOptions o) {
  o.device = {.kind = fwsr::DeviceChoice::Kind::cuda};
  return o;
}

/// Of gaps, which are large where the radius is: to within a part of themselves, too. That of a pursuit is infinite.
inline void expect_near(double one, double other, double tolerance) {
  if (std::isinf(one) || std::isinf(other))
    EXPECT_EQ(one, other);
  else
    EXPECT_NEAR(one, other, std::max(tolerance, 1e-9 * std::abs(other)));
}

/// All steps, and all that is said at the end.
inline void expect_same(const Selection& card, const Selection& cpu, double tolerance) {
  ASSERT_EQ(card.status, cpu.status);
  ASSERT_EQ(card.trace.size(), cpu.trace.size());
  for (std::size_t t = 0; t < cpu.trace.size(); ++t) {
    ASSERT_EQ(card.trace[t].pick, cpu.trace[t].pick) << "step " << t;
    ASSERT_NEAR(card.trace[t].f, cpu.trace[t].f, tolerance * cpu.f_at_zero) << "step " << t;
    expect_near(card.trace[t].gap, cpu.trace[t].gap, tolerance * cpu.f_at_zero);
  }
  EXPECT_EQ(card.exemplars, cpu.exemplars);
  EXPECT_EQ(card.weights, cpu.weights);
  EXPECT_EQ(card.assignment, cpu.assignment);
  for (std::size_t t = 0; t < cpu.strength.size(); ++t)
    EXPECT_NEAR(card.strength[t], cpu.strength[t], 10 * tolerance * (1 + cpu.strength[t]));
  ASSERT_EQ(card.certificate.has_value(), cpu.certificate.has_value());
  if (!cpu.certificate) return;
  EXPECT_NEAR(card.certificate->f, cpu.certificate->f, tolerance * cpu.f_at_zero);
  expect_near(card.certificate->gap, cpu.certificate->gap, tolerance * cpu.f_at_zero);
  EXPECT_NEAR(card.certificate->reconstruction_error, cpu.certificate->reconstruction_error,
              tolerance);
  EXPECT_EQ(card.certificate->feasible, cpu.certificate->feasible);
  EXPECT_EQ(card.certificate->trusted, cpu.certificate->trusted);
}

/// Where two runs part: the step, or nothing where all picks are the same.
struct Parting {
  bool same = true;
  bool by_rounding = false;  // the scores of both picks are equal to within `rounding`
  std::size_t step = 0;
};
inline Parting parting(const Selection& card, const Selection& cpu, double rounding) {
  const std::size_t steps = std::min(card.trace.size(), cpu.trace.size());
  for (std::size_t t = 0; t < steps; ++t) {
    const fwsr::Step &one = card.trace[t], &other = cpu.trace[t];
    if (one.pick == other.pick) continue;
    const double apart = std::abs(one.score - other.score);
    return {.same = false, .by_rounding = apart <= rounding * std::abs(other.score), .step = t};
  }
  const bool same = card.trace.size() == cpu.trace.size() && card.exemplars == cpu.exemplars;
  return {.same = same, .by_rounding = false, .step = steps};
}

}  // namespace card_tests
