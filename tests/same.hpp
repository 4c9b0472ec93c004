// Two selections, bit for bit.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <vector>

#include "fwsr/solver/selection.hpp"

namespace same {

inline std::uint64_t bits(double v) {
  return std::bit_cast<std::uint64_t>(v);
}

inline void expect_same_bits(const std::vector<double>& a, const std::vector<double>& b,
                             const char* what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_EQ(bits(a[i]), bits(b[i])) << what << ' ' << i << ": " << a[i] << " and " << b[i];
}

inline void expect_same_trace(const std::vector<fwsr::Step>& a, const std::vector<fwsr::Step>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t t = 0; t < a.size(); ++t) {
    SCOPED_TRACE(testing::Message() << "step " << t);
    ASSERT_EQ(a[t].pick, b[t].pick);
    ASSERT_EQ(a[t].rows, b[t].rows);
    expect_same_bits({a[t].f, a[t].gap, a[t].step_size, a[t].beta, a[t].score},
                     {b[t].f, b[t].gap, b[t].step_size, b[t].beta, b[t].score}, "step");
  }
}

inline void expect_same_certificate(const fwsr::Certificate& a, const fwsr::Certificate& b) {
  expect_same_bits({a.f, a.f_at_zero, a.gap, a.beta, a.radius_used, a.reconstruction_error,
                    a.boolean_objective.value_or(-1)},
                   {b.f, b.f_at_zero, b.gap, b.beta, b.radius_used, b.reconstruction_error,
                    b.boolean_objective.value_or(-1)},
                   "certificate");
  EXPECT_EQ(a.feasible, b.feasible);
}

/// Everything but the seconds, and what the plan says about threads and memory.
inline void expect_same(const fwsr::Selection& a, const fwsr::Selection& b) {
  EXPECT_EQ(a.plan.form, b.plan.form);
  EXPECT_EQ(a.plan.kernel_by, b.plan.kernel_by);
  EXPECT_EQ(a.exemplars, b.exemplars);
  EXPECT_EQ(a.filled, b.filled);
  EXPECT_EQ(a.included, b.included);
  EXPECT_EQ(a.status, b.status);
  EXPECT_EQ(a.assignment, b.assignment);
  EXPECT_EQ(a.warnings, b.warnings);
  expect_same_bits(a.weights, b.weights, "weights");
  expect_same_bits(a.strength, b.strength, "strength");
  expect_same_bits(a.codes, b.codes, "codes");
  expect_same_bits({a.f_at_zero, a.beta, a.eta, a.eta_in_rms, a.gamma, a.kernel_error.value_or(-1)},
                   {b.f_at_zero, b.beta, b.eta, b.eta_in_rms, b.gamma, b.kernel_error.value_or(-1)},
                   "numbers");
  expect_same_trace(a.trace, b.trace);
  ASSERT_EQ(a.coefficients.has_value(), b.coefficients.has_value());
  if (a.coefficients) {
    EXPECT_EQ(a.coefficients->basis, b.coefficients->basis);
    expect_same_bits(a.coefficients->theta, b.coefficients->theta, "theta");
    expect_same_bits(a.coefficients->offset, b.coefficients->offset, "offset");
  }
  ASSERT_TRUE(a.certificate && b.certificate);
  expect_same_certificate(*a.certificate, *b.certificate);
}

}  // namespace same
