// The same bits for any number of threads, in every form.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fwsr/solver/select.hpp"
#include "problems.hpp"

namespace {

using fwsr::Index;
using fwsr::KernelType;
using fwsr::Norm;
using fwsr::Rng;
using fwsr::Selection;
using fwsr::SelectOptions;
using problems::Data;
using problems::Kind;
using problems::Storage;

std::uint64_t bits(double v) {
  return std::bit_cast<std::uint64_t>(v);
}

void expect_same_bits(const std::vector<double>& a, const std::vector<double>& b,
                      const char* what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_EQ(bits(a[i]), bits(b[i])) << what << ' ' << i << ": " << a[i] << " and " << b[i];
}

void expect_same_trace(const std::vector<fwsr::Step>& a, const std::vector<fwsr::Step>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t t = 0; t < a.size(); ++t) {
    SCOPED_TRACE(testing::Message() << "step " << t);
    ASSERT_EQ(a[t].pick, b[t].pick);
    ASSERT_EQ(a[t].rows, b[t].rows);
    expect_same_bits({a[t].f, a[t].gap, a[t].gamma, a[t].beta, a[t].score},
                     {b[t].f, b[t].gap, b[t].gamma, b[t].beta, b[t].score}, "step");
  }
}

void expect_same_certificate(const fwsr::Certificate& a, const fwsr::Certificate& b) {
  expect_same_bits({a.f, a.f_at_zero, a.gap, a.beta, a.radius_used, a.reconstruction_error,
                    a.boolean_objective.value_or(-1)},
                   {b.f, b.f_at_zero, b.gap, b.beta, b.radius_used, b.reconstruction_error,
                    b.boolean_objective.value_or(-1)},
                   "certificate");
  EXPECT_EQ(a.feasible, b.feasible);
}

/// Everything but the seconds, and what the plan says about threads and memory.
void expect_same(const Selection& a, const Selection& b) {
  EXPECT_EQ(a.plan.form, b.plan.form);
  EXPECT_EQ(a.plan.kernel_by, b.plan.kernel_by);
  EXPECT_EQ(a.exemplars, b.exemplars);
  EXPECT_EQ(a.filled, b.filled);
  EXPECT_EQ(a.status, b.status);
  EXPECT_EQ(a.assignment, b.assignment);
  EXPECT_EQ(a.warnings, b.warnings);
  expect_same_bits(a.weights, b.weights, "weights");
  expect_same_bits(a.strength, b.strength, "strength");
  expect_same_bits(a.codes, b.codes, "codes");
  expect_same_bits(
      {a.f_at_zero, a.beta, a.eta, a.eta_relative, a.gamma, a.kernel_error.value_or(-1)},
      {b.f_at_zero, b.beta, b.eta, b.eta_relative, b.gamma, b.kernel_error.value_or(-1)},
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

struct Way {
  std::string name;  // form, and how it comes by K
  Index n, d;
  Storage storage;
  std::function<void(SelectOptions&)> set;
  bool in_tiles = false;  // leave one byte less than holding K takes
};

/// Enough points for several blocks of 1024, a number that no block divides.
const std::vector<Way> every_form = {
    {"covariance", 2600, 12, Storage::dense_f64, [](SelectOptions&) {}},
    {"covariance", 2600, 12, Storage::dense_f32, [](SelectOptions&) {}},
    {"covariance", 2600, 12, Storage::dense_f64,
     [](SelectOptions& o) {
       o.alpha = 0;
       o.scale = fwsr::Scale::standard;
       o.center = fwsr::Center::feature;
       o.eta = 0.5;
       o.eta_relative = true;
     }},
    {"covariance factor", 2600, 12, Storage::dense_f32,
     [](SelectOptions& o) {
       o.kernel.type = KernelType::rbf;
       o.rank = 100;
       o.eta = 0.5;
     }},
    {"covariance factor", 2600, 12, Storage::csr_f64_i32,
     [](SelectOptions& o) {
       o.kernel.type = KernelType::laplacian;
       o.rank = 40;
     }},
    {"representer products", 2100, 700, Storage::csr_f32_i32, [](SelectOptions&) {}},
    {"representer held", 1500, 9, Storage::dense_f64,
     [](SelectOptions& o) { o.kernel.type = KernelType::rbf; }},
    {"representer tiles", 1500, 9, Storage::dense_f64,
     [](SelectOptions& o) { o.kernel.type = KernelType::rbf; }, true},
    {"representer tiles", 1300, 9, Storage::dense_f32,
     [](SelectOptions& o) { o.kernel.type = KernelType::laplacian; }, true},
    {"representer given", 1100, 1100, Storage::dense_f64,
     [](SelectOptions& o) { o.kernel.type = KernelType::precomputed; }},
    {"gradient held", 1300, 9, Storage::dense_f64, [](SelectOptions& o) { o.q = Norm::one; }},
    {"gradient held", 1300, 9, Storage::dense_f64, [](SelectOptions& o) { o.q = Norm::infinity; }},
    {"gradient held", 1300, 9, Storage::csr_f64_i64, [](SelectOptions& o) { o.nonneg = true; }},
    {"gradient given", 1100, 1100, Storage::dense_f32,
     [](SelectOptions& o) {
       o.kernel.type = KernelType::precomputed;
       o.nonneg = true;
     }},
};

std::vector<double> values_of(const Way& way) {
  Rng rng(17);
  if (way.n != way.d) {
    const bool sparse = way.storage >= Storage::csr_f32_i32;
    auto v = problems::make_values(sparse ? Kind::nonnegative : Kind::clustered, way.n, way.d,
                                   false, rng);
    if (way.d > 100)
      for (double& x : v)
        if (rng.uniform() > 0.05) x = 0;
    return v;
  }
  // a kernel matrix: linear, of few features, and a ridge
  const auto a = problems::make_values(Kind::gaussian, way.n, 5, false, rng);
  std::vector<double> k(static_cast<std::size_t>(way.n * way.n));
  for (Index i = 0; i < way.n; ++i)
    for (Index l = 0; l < way.n; ++l) {
      double sum = i == l ? 0.5 : 0.0;
      for (Index j = 0; j < 5; ++j)
        sum += a[static_cast<std::size_t>(i * 5 + j)] * a[static_cast<std::size_t>(l * 5 + j)];
      k[static_cast<std::size_t>(i * way.n + l)] = sum;
    }
  return k;
}

TEST(Determinism, any_number_of_threads_gives_the_same_bits) {
  for (const Way& way : every_form) {
    SCOPED_TRACE(way.name);
    const Data data(way.n, way.d, values_of(way), way.storage);
    SelectOptions o;
    o.exemplars = 8;
    o.codes = o.assignment = true;
    o.lambda = 0.1;
    o.rho = 0.2;
    o.threads = 1;
    way.set(o);
    if (way.in_tiles) o.memory = fwsr::plan(data.view(), o).memory_bytes - 1;
    const Selection one = fwsr::select(data.view(), o);
    EXPECT_EQ(one.plan.form + (one.plan.kernel_by.empty() ? "" : " " + one.plan.kernel_by),
              way.name);
    EXPECT_EQ(one.exemplars.size(), 8u);
    for (const int threads : {2, 3, 8}) {
      SCOPED_TRACE(testing::Message() << threads << " threads");
      o.threads = threads;
      expect_same(one, fwsr::select(data.view(), o));
    }
  }
}

}  // namespace
