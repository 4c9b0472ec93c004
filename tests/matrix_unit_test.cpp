// Products on the matrix unit of the processor give what the numbers say, and the same runs as BLAS.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "fwsr/base/random.hpp"
#include "fwsr/linalg/matrix_unit.hpp"
#include "fwsr/solver/select.hpp"

namespace {

using fwsr::Index;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

template <class T>
std::vector<T> numbers(Index count, std::uint64_t seed, double offset = 0) {
  fwsr::Rng rng(seed);
  std::vector<T> values(at(count));
  for (T& v : values) v = static_cast<T>(rng.normal() + offset);
  return values;
}

constexpr double float_epsilon = std::numeric_limits<float>::epsilon();

/// No matrix unit while it lives.
struct WithoutUnit {
  WithoutUnit() { fwsr::allow_matrix_unit(false); }
  WithoutUnit(const WithoutUnit&) = delete;
  WithoutUnit& operator=(const WithoutUnit&) = delete;
  ~WithoutUnit() { fwsr::allow_matrix_unit(true); }
};

struct Shape {
  Index n, d;
};
// Sides of tiles and one to either side of them; rows that fill no panel, one, several.
const std::vector<Shape> shapes = {{1, 1},   {2, 15},   {31, 16},   {32, 17},  {33, 31}, {64, 32},
                                   {65, 33}, {190, 63}, {193, 100}, {700, 97}, {50, 300}};

TEST(MatrixUnit, gram_is_that_of_the_numbers) {
  if (!fwsr::has_matrix_unit()) GTEST_SKIP() << "this processor has no matrix unit";
  fwsr::UnitRoom room;
  for (const auto& [n, d] : shapes) {
    const std::vector<float> a = numbers<float>(n * d, 3, 0.5);
    std::vector<float> product(at(d * d), -1.0f);
    fwsr::gram_on_unit(a.data(), n, d, product.data(), room);
    for (Index i = 0; i < d; ++i)
      for (Index j = i; j < d; ++j) {
        double sum = 0, size = 0;
        for (Index k = 0; k < n; ++k) {
          const double term = static_cast<double>(a[at(k * d + i)]) * a[at(k * d + j)];
          sum += term;
          size += std::abs(term);
        }
        ASSERT_NEAR(product[at(i * d + j)], sum,
                    float_epsilon * size * (2 + std::sqrt(static_cast<double>(n))))
            << n << " x " << d << ", entry " << i << ", " << j;
      }
  }
}

TEST(MatrixUnit, forms_are_those_of_the_triangle) {
  if (!fwsr::has_matrix_unit()) GTEST_SKIP() << "this processor has no matrix unit";
  fwsr::UnitRoom room;
  for (const auto& [n, d] : shapes) {
    const std::vector<float> a = numbers<float>(n * d, 4);
    std::vector<float> u = numbers<float>(d * d, 5);
    for (Index i = 0; i < d; ++i)
      for (Index j = 0; j < i; ++j) u[at(i * d + j)] = 0;
    std::vector<double> forms(at(n), -1.0);
    fwsr::forms_on_unit(a.data(), n, d, fwsr::pack_triangle(u.data(), d), forms.data(), room);
    for (Index k = 0; k < n; ++k) {
      double sum = 0, size = 0;
      for (Index i = 0; i < d; ++i)
        for (Index j = i; j < d; ++j) {
          const double term =
              static_cast<double>(a[at(k * d + i)]) * u[at(i * d + j)] * a[at(k * d + j)];
          sum += term;
          size += std::abs(term);
        }
      ASSERT_NEAR(forms[at(k)], sum, 4 * float_epsilon * size) << n << " x " << d << ", row " << k;
    }
  }
}

TEST(MatrixUnit, equal_rows_have_equal_forms_wherever_they_stand) {
  if (!fwsr::has_matrix_unit()) GTEST_SKIP() << "this processor has no matrix unit";
  const Index n = 500, d = 130;
  const std::vector<float> row = numbers<float>(d, 6);
  std::vector<float> a;
  for (Index i = 0; i < n; ++i) a.insert(a.end(), row.begin(), row.end());
  std::vector<double> forms(at(n));
  fwsr::UnitRoom room;
  fwsr::forms_on_unit(a.data(), n, d, fwsr::pack_triangle(numbers<float>(d * d, 7).data(), d),
                      forms.data(), room);
  for (const double f : forms) ASSERT_EQ(f, forms[0]);
}

TEST(MatrixUnit, a_run_is_the_same_without_it) {
  const Index n = 1500, d = 110;
  const std::vector<float> a = numbers<float>(n * d, 8, 1.0);
  const fwsr::MatrixView<const float> view{a.data(), n, d, d};
  fwsr::SelectOptions options;
  options.exemplars = 12;
  const fwsr::Selection with = fwsr::select(view, options);
  const WithoutUnit none;
  ASSERT_FALSE(fwsr::has_matrix_unit());
  const fwsr::Selection without = fwsr::select(view, options);
  EXPECT_EQ(with.exemplars, without.exemplars);
  ASSERT_EQ(with.trace.size(), without.trace.size());
  for (std::size_t t = 0; t < with.trace.size(); ++t)
    EXPECT_NEAR(with.trace[t].f, without.trace[t].f, 1e-6 * with.f_at_zero);
}

}  // namespace
