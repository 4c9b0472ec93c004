// Kernel matrices, held and in tiles, beside their definition in long double.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "fwsr/base/random.hpp"
#include "fwsr/kernel/formula.hpp"
#include "fwsr/kernel/kernel_matrix.hpp"
#include "fwsr/kernel/width.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/tile.hpp"
#include "fwsr/prep/points.hpp"

namespace {

using fwsr::Index;
using fwsr::Kernel;
using fwsr::KernelMatrix;
using fwsr::KernelType;
using fwsr::Points;
using fwsr::Rng;
using Real = long double;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

/// Points as T, and the same numbers as the caller meant them.
template <class T>
struct Cloud {
  Cloud(Index n_, Index d_) : n(n_), d(d_), values(at(n_ * d_)) {}

  Index n, d;
  std::vector<T> values;

  T& operator()(Index i, Index l) { return values[at(i * d + l)]; }
  Real at_exactly(Index i, Index l) const { return static_cast<Real>(values[at(i * d + l)]); }
  fwsr::PointsView view() const { return fwsr::MatrixView<const T>{values.data(), n, d, d}; }
};

enum class Shape { plain, offset, copies, close, far_clusters, outlier };

template <class T>
Cloud<T> make_cloud(Shape shape, Index n, Index d, Rng& rng) {
  Cloud<T> cloud(n, d);
  for (Index i = 0; i < n; ++i)
    for (Index l = 0; l < d; ++l) {
      const double g = rng.normal();
      double v = g;
      if (shape == Shape::offset) v = 1e4 + g;
      if (shape == Shape::close && i > 0) v = static_cast<double>(cloud(0, l)) + 1e-3 * g;
      if (shape == Shape::far_clusters) v = 100.0 * static_cast<double>(i % 3 == 0) + 0.01 * g;
      if (shape == Shape::outlier && i == n / 2) v = 1e6 * g;
      cloud(i, l) = static_cast<T>(v);
    }
  if (shape == Shape::copies)
    for (Index i = n / 3; i < n; ++i)
      for (Index l = 0; l < d; ++l) cloud(i, l) = cloud(i % (n / 3), l);
  return cloud;
}

template <class T>
Real by_definition(const Cloud<T>& cloud, const Kernel& kernel, Index i, Index j) {
  Real product = 0, squared = 0, absolute = 0;
  for (Index l = 0; l < cloud.d; ++l) {
    const Real a = cloud.at_exactly(i, l), b = cloud.at_exactly(j, l);
    product += a * b;
    squared += (a - b) * (a - b);
    absolute += std::abs(a - b);
  }
  const Real gamma = kernel.gamma.value_or(0.0);
  switch (kernel.type) {
    case KernelType::rbf:
      return std::exp(-gamma * squared);
    case KernelType::laplacian:
      return std::exp(-gamma * absolute);
    case KernelType::polynomial:
      return std::pow(gamma * product + Real(kernel.coef0), Real(kernel.degree));
    default:
      return product;
  }
}

/// All of K as the matrix gives it.
std::vector<double> all_of(const KernelMatrix& k) {
  const Index n = k.size();
  std::vector<double> values(at(n * n));
  for (Index first = 0; first < n; first += k.row_block()) {
    const Index last = std::min(n, first + k.row_block());
    k.scan(first, last, [&](Index begin, Index end, const double* tile, Index stride) {
      for (Index i = first; i < last; ++i)
        std::copy_n(tile + (i - first) * stride, end - begin, values.begin() + i * n + begin);
    });
  }
  return values;
}

/// What K answers to its other questions belongs to its entries; values() may be more exact.
void expect_whole(const KernelMatrix& k, const std::vector<double>& all, double tolerance) {
  const Index n = k.size();
  Rng rng(3);
  std::vector<double> x(at(n)), product(at(n)), squares(at(n)), column(at(n));
  for (double& v : x) v = rng.normal();
  k.multiply(x, product, 2);
  k.row_squares(squares, 2);
  const Index some = n / 2;
  k.column(some, column);
  for (Index i = 0; i < n; ++i) {
    Real sum = 0, square = 0, size = 0;
    for (Index j = 0; j < n; ++j) {
      const Real v = all[at(i * n + j)];
      ASSERT_EQ(all[at(i * n + j)], all[at(j * n + i)]) << i << ' ' << j;
      sum += v * Real(x[at(j)]);
      square += v * v;
      size += std::abs(v * Real(x[at(j)]));
    }
    ASSERT_NEAR(product[at(i)], double(sum), 1e-14 * double(size)) << i;
    ASSERT_NEAR(squares[at(i)], double(square), 1e-14 * double(square)) << i;
    ASSERT_EQ(column[at(i)], all[at(i * n + some)]) << i;
  }
  const std::vector<Index> rows{0, n - 1, some}, columns{some, 0};
  const auto values = k.values(rows, columns);
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t c = 0; c < columns.size(); ++c)
      EXPECT_NEAR(values[r * columns.size() + c], all[at(rows[r] * n + columns[c])], tolerance);
}

struct Both {
  std::unique_ptr<KernelMatrix> tiled, held;
};
Both make_both(const Points& points, const Kernel& kernel, bool single, int threads = 2) {
  Both both{.tiled = make_tiled_kernel(
                points, kernel,
                {.eta = 0.25, .eta_relative = false, .single = single, .threads = threads}),
            .held = nullptr};
  both.held = make_held_kernel(*both.tiled, threads);
  return both;
}

std::vector<Kernel> kernels_for(double typical) {
  return {{.type = KernelType::rbf, .gamma = 1 / typical},
          {.type = KernelType::rbf, .gamma = 1e4 / typical},
          {.type = KernelType::rbf, .gamma = 1e-4 / typical},
          {.type = KernelType::rbf, .gamma = 1e40},
          {.type = KernelType::laplacian, .gamma = 1 / std::sqrt(typical)},
          {.type = KernelType::polynomial, .gamma = 1 / typical, .degree = 3, .coef0 = 1},
          {.type = KernelType::polynomial, .gamma = 0.2 / typical, .degree = 7, .coef0 = 0.5}};
}

/// `tolerance` in units of the largest diagonal entry.
template <class T>
void expect_definition(Shape shape, Index n, Index d, bool single, double tolerance) {
  Rng rng(static_cast<std::uint64_t>(n * 10 + static_cast<Index>(shape)));
  const Cloud<T> cloud = make_cloud<T>(shape, n, d, rng);
  const Points points(cloud.view(), {}, {.center = fwsr::Center::none}, 2);
  for (const Kernel& kernel : kernels_for(static_cast<double>(d))) {
    // A power of large numbers is only as good as they are.
    if (kernel.type == KernelType::polynomial && shape != Shape::plain && shape != Shape::copies)
      continue;
    SCOPED_TRACE(testing::Message() << "shape " << static_cast<int>(shape) << " n " << n << " d "
                                    << d << " kernel " << static_cast<int>(kernel.type) << " gamma "
                                    << *kernel.gamma << " degree " << kernel.degree);
    const Both both = make_both(points, kernel, single);
    EXPECT_EQ(both.tiled->single(), single);
    const std::vector<double> all = all_of(*both.held);
    EXPECT_EQ(all, all_of(*both.tiled));
    const double unit = both.held->unit();
    double worst = 0, largest = 0;
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j <= i; ++j) {
        const Real wanted = (by_definition(cloud, kernel, i, j) + Real(0.25) * Real(0.25)) *
                            Real(unit) * Real(unit);
        if (i == j) largest = std::max(largest, double(wanted));
        worst = std::max(worst, double(std::abs(wanted - Real(all[at(i * n + j)]))));
        if (kernel.type != KernelType::polynomial && shape == Shape::copies && j == i % (n / 3)) {
          EXPECT_NEAR(all[at(i * n + j)], all[at(j * n + j)], single ? 1e-6 : 1e-14);
        }
      }
    EXPECT_LE(worst, tolerance * largest);
    if (testing::Test::HasFailure()) return;
    expect_whole(*both.held, all, tolerance * largest);
    expect_whole(*both.tiled, all, tolerance * largest);
    if (testing::Test::HasFatalFailure()) return;
  }
}

const std::vector<Shape> shapes{Shape::plain, Shape::offset,       Shape::copies,
                                Shape::close, Shape::far_clusters, Shape::outlier};

TEST(KernelMatrix, entries_in_float32_are_within_a_millionth) {
  const fwsr::SerialBlas serial;
  for (const Shape shape : shapes)
    for (const auto& [n, d] : std::vector<std::pair<Index, Index>>{{5, 3}, {61, 40}, {130, 300}})
      expect_definition<float>(shape, n, d, true, 2e-6);
}

TEST(KernelMatrix, entries_in_double_are_exact_to_rounding) {
  const fwsr::SerialBlas serial;
  for (const Shape shape : shapes)
    for (const auto& [n, d] : std::vector<std::pair<Index, Index>>{{5, 3}, {61, 40}})
      // Distances far below the norms lose as many digits as there are between them.
      expect_definition<double>(shape, n, d, false,
                                shape == Shape::plain || shape == Shape::copies ? 1e-11 : 1e-6);
}

TEST(KernelMatrix, several_tiles_fit_together) {
  const fwsr::SerialBlas serial;
  expect_definition<float>(Shape::plain, 1010, 7, true, 2e-6);
  expect_definition<double>(Shape::plain, 1010, 7, false, 1e-11);
}

TEST(KernelMatrix, the_linear_kernel_in_float32) {
  const fwsr::SerialBlas serial;
  Rng rng(8);
  for (const auto& [n, d] : std::vector<std::pair<Index, Index>>{
           {1, 33}, {1, 300}, {7, 333}, {50, 1000}, {500, 33}, {1000, 33}}) {
    const Cloud<float> cloud = make_cloud<float>(Shape::plain, n, d, rng);
    const Points points(cloud.view(), {}, {.center = fwsr::Center::none}, 2);
    const Both both = make_both(points, {}, true);
    const std::vector<double> all = all_of(*both.held);
    const double scale = both.held->unit() * both.held->unit();
    double worst = 0;
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j)
        worst = std::max(
            worst, std::abs(all[at(i * n + j)] - scale * double(by_definition(cloud, {}, i, j))));
    EXPECT_LE(worst, 1e-6);
    expect_whole(*both.held, all, 1e-6);
  }
}

TEST(KernelMatrix, copies_in_different_tiles_have_equal_bits_in_double) {
  const fwsr::SerialBlas serial;
  Rng rng(5);
  const Index n = 1203;  // a multiple of three: three copies, in three rows of tiles
  const Cloud<double> cloud = make_cloud<double>(Shape::copies, n, 11, rng);
  const Points points(cloud.view(), {}, {.center = fwsr::Center::none}, 2);
  const Both both = make_both(points, {.type = KernelType::rbf, .gamma = 0.1}, false);
  std::vector<double> x(at(n)), product(at(n)), squares(at(n));
  for (double& v : x) v = rng.normal();
  both.held->multiply(x, product, 2);
  both.held->row_squares(squares, 2);
  for (Index i = n / 3; i < n; ++i) {
    EXPECT_EQ(product[at(i)], product[at(i % (n / 3))]) << i;
    EXPECT_EQ(squares[at(i)], squares[at(i % (n / 3))]) << i;
  }
}

TEST(KernelMatrix, the_same_bits_for_any_number_of_threads) {
  const fwsr::SerialBlas serial;
  Rng rng(6);
  const Index n = 2600;
  const Cloud<float> cloud = make_cloud<float>(Shape::plain, n, 20, rng);
  std::vector<double> x(at(n));
  for (double& v : x) v = rng.normal();
  std::vector<double> first;
  for (const int threads : {1, 2, 3, 8}) {
    const Points points(cloud.view(), {}, {.center = fwsr::Center::none}, threads);
    const double gamma = fwsr::default_gamma(points, KernelType::rbf, threads);
    const Both both = make_both(points, {.type = KernelType::rbf, .gamma = gamma}, true, threads);
    std::vector<double> numbers(at(4 * n));
    const std::span<double> all(numbers);
    both.held->multiply(x, all.subspan(0, at(n)), threads);
    both.held->row_squares(all.subspan(at(n), at(n)), threads);
    both.tiled->multiply(x, all.subspan(at(2 * n), at(n)), threads);
    both.tiled->row_squares(all.subspan(at(3 * n), at(n)), threads);
    numbers.push_back(gamma);
    if (threads == 1) first = numbers;
    EXPECT_EQ(numbers, first) << threads;
    for (Index i = 0; i < 2 * n; ++i) ASSERT_EQ(numbers[at(i)], numbers[at(2 * n + i)]);
  }
}

/// The distances of all pairs of `sample` points, evenly spaced, in their order; none that is 0.
std::vector<double> distances_of(const Cloud<double>& cloud, KernelType type, Index sample) {
  const Kernel one{.type = type, .gamma = 1.0};
  std::vector<double> distances;
  for (Index s = 0; s < sample; ++s)
    for (Index t = 0; t < s; ++t) {
      const Real distance =
          -std::log(by_definition(cloud, one, s * cloud.n / sample, t * cloud.n / sample));
      if (distance > 0) distances.push_back(double(distance));
    }
  std::sort(distances.begin(), distances.end());
  return distances;
}

TEST(KernelMatrix, default_gamma_is_one_over_the_median_distance) {
  const fwsr::SerialBlas serial;
  Rng rng(9);
  for (const Shape shape : {Shape::plain, Shape::copies, Shape::offset}) {
    const Cloud<double> cloud = make_cloud<double>(shape, 90, 13, rng);
    const Points points(cloud.view(), {}, {.center = fwsr::Center::none}, 2);
    for (const KernelType type : {KernelType::rbf, KernelType::laplacian}) {
      const std::vector<double> distances = distances_of(cloud, type, 90);
      const double median = distances[distances.size() / 2];
      EXPECT_NEAR(fwsr::default_gamma(points, type, 2) * median, 1, 1e-9);
    }
  }
}

TEST(KernelMatrix, a_width_is_times_over_that_quantile_of_the_distances) {
  const fwsr::SerialBlas serial;
  Rng rng(10);
  const std::vector<fwsr::Width> widths{{.times = 2, .quantile = 0.9},
                                        {.times = 0.5, .quantile = 0.25},
                                        {.times = 3, .quantile = 0},
                                        {.times = 1, .quantile = 1}};
  for (const Index n : {Index{2}, Index{90}, Index{1300}}) {  // 1300: a sample of 1000
    const Cloud<double> cloud = make_cloud<double>(Shape::plain, n, 5, rng);
    const Points points(cloud.view(), {}, {.center = fwsr::Center::none}, 2);
    for (const KernelType type : {KernelType::rbf, KernelType::laplacian}) {
      const std::vector<double> distances = distances_of(cloud, type, std::min<Index>(n, 1000));
      const auto count = static_cast<double>(distances.size());
      for (const fwsr::Width& width : widths) {
        const auto place = std::min(static_cast<std::size_t>(width.quantile * count),
                                    distances.size() - 1);  // the largest, for quantile 1
        const double gamma = fwsr::default_gamma(points, type, 2, width);
        EXPECT_NEAR(gamma * distances[place] / width.times, 1, 1e-9)
            << n << ' ' << width.quantile << ' ' << name_of(type);
      }
    }
  }
  const Cloud<double> cloud = make_cloud<double>(Shape::plain, 50, 5, rng);
  const Points points(cloud.view(), {}, {.center = fwsr::Center::none}, 2);
  EXPECT_EQ(fwsr::default_gamma(points, KernelType::polynomial, 2, widths.front()),
            fwsr::default_gamma(points, KernelType::polynomial, 2));  // of norms, not of distances
}

TEST(KernelMatrix, a_width_in_the_tail_is_found_from_more_points_than_the_median) {
  const fwsr::SerialBlas serial;
  const fwsr::Width tail{.times = 2, .quantile = 0.9}, median{};
  EXPECT_EQ(fwsr::width_samples(1999, tail), 1);
  EXPECT_EQ(fwsr::width_samples(1 << 20, median), 1);
  EXPECT_EQ(fwsr::width_samples(1 << 20, tail), 8);
  const Index n = 2500, samples = fwsr::width_samples(n, tail);
  ASSERT_EQ(samples, 2);
  std::vector<double> values;
  for (Index i = 0; i < n; ++i)  // heavy tails
    values.push_back(std::exp(8 * static_cast<double>(i * 7919 % n) / static_cast<double>(n)));
  const Points points(fwsr::MatrixView<const double>(values.data(), n, 1), {},
                      {.center = fwsr::Center::none}, 2);
  std::vector<double> distances;
  for (Index p = 0; p < samples; ++p)
    for (Index s = 0; s < 1000; ++s)
      for (Index t = 0; t < s; ++t) {
        const auto value = [&](Index place) {
          return values[static_cast<std::size_t>((place * samples + p) * n / (samples * 1000))];
        };
        distances.push_back((value(s) - value(t)) * (value(s) - value(t)));
      }
  std::sort(distances.begin(), distances.end());
  const auto place = static_cast<std::size_t>(0.9 * static_cast<double>(distances.size()));
  for (const int threads : {1, 3})
    EXPECT_NEAR(fwsr::default_gamma(points, KernelType::rbf, threads, tail) * distances[place], 2,
                1e-6);
}

// -------------------------------------------------------------------------------- the inner loops

/// e^x of every value, as the rbf kernel computes it.
template <class T>
void exp_row(Index n, T* values) {
  fwsr::formula_of(KernelType::rbf).on<T>().values({.gamma = -1}, n, values);
}

/// Arguments with which every formula stays in the range of float, some at the ends of vectors.
template <class T>
std::vector<T> arguments() {
  std::vector<T> x;
  for (int i = 0; i < 131; ++i) x.push_back(static_cast<T>(i * i) / T{700});
  return x;
}

template <class T>
void expect_loops_like_the_formula() {
  const double units = 64 * static_cast<double>(std::numeric_limits<T>::epsilon());
  const fwsr::KernelNumbers numbers{
      .gamma = 0.3, .coef0 = 0.75, .degree = 3, .scale = {.factor = 0.25, .extra = 0.5}};
  for (const KernelType type : fwsr::values_of(KernelType{})) {
    const fwsr::KernelFormula& formula = fwsr::formula_of(type);
    if (formula.of == fwsr::KernelOf::matrix) continue;
    const std::vector<T> x = arguments<T>();
    std::vector<T> y = x, columns = x, products = x;
    formula.on<T>().values(numbers, static_cast<Index>(y.size()), y.data());
    const auto wanted = [&](T v) { return 0.25 * formula.value(numbers, static_cast<double>(v)); };
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_NEAR(static_cast<double>(y[i]), wanted(x[i]) + 0.5, units * (wanted(x[i]) + 0.5))
          << formula.name << ' ' << i;
    EXPECT_EQ(formula.of_distances() ? formula.value(numbers, 0) : 1, 1) << formula.name;
    if (formula.column_times) {
      const bool squared = formula.of == fwsr::KernelOf::squared_distances;
      const double times = formula.column_times(numbers) * (squared ? -0.5 : 1.0);
      for (T& v : columns) v = static_cast<T>(times * static_cast<double>(v));
      formula.on<T>().columns({.gamma = 0.3, .coef0 = 0.75, .degree = 3, .scale = {.factor = 0.25}},
                              static_cast<Index>(columns.size()), columns.data());
      for (std::size_t i = 0; i < x.size(); ++i)
        EXPECT_NEAR(static_cast<double>(columns[i]), wanted(x[i]), units * (wanted(x[i]) + 0.25))
            << formula.name << ' ' << i;
    }
    if (formula.of == fwsr::KernelOf::squared_distances) {
      // ||a||^2 = 40, ||b_j||^2 = j: the products that leave x_j between them.
      std::vector<T> norms;
      for (std::size_t i = 0; i < x.size(); ++i) norms.push_back(static_cast<T>(i));
      for (std::size_t i = 0; i < x.size(); ++i) products[i] = (T{40} + norms[i] - x[i]) / 2;
      formula.on<T>().from_norms(numbers, {.own = 40, .others = norms.data()},
                                 static_cast<Index>(x.size()), products.data());
      for (std::size_t i = 0; i < x.size(); ++i)
        if (products[i] != static_cast<T>(fwsr::unsure)) {
          EXPECT_NEAR(static_cast<double>(products[i]), wanted(x[i]) + 0.5, 3 * units)
              << formula.name << ' ' << i;
        }
    }
  }
}

TEST(KernelFormula, the_loops_of_every_kernel_compute_its_formula_in_double) {
  expect_loops_like_the_formula<double>();
}

TEST(KernelFormula, the_loops_of_every_kernel_compute_its_formula_in_float) {
  expect_loops_like_the_formula<float>();
}

TEST(KernelFormula, the_table_is_in_the_order_of_the_names) {
  EXPECT_STREQ(name_of(KernelType::linear), "linear");
  EXPECT_STREQ(name_of(KernelType::rbf), "rbf");
  EXPECT_STREQ(name_of(KernelType::precomputed), "precomputed");
  EXPECT_EQ(fwsr::kernel_words().all, "linear, rbf, polynomial, cosine, laplacian or precomputed");
  EXPECT_EQ(fwsr::kernel_words().computed, "rbf, polynomial and laplacian");
}

TEST(Exp, float_agrees_with_the_library_over_its_whole_range) {
  std::vector<float> x, y;
  for (double v = -90; v < 89; v += 0.00371) x.push_back(static_cast<float>(v));
  y = x;
  exp_row(static_cast<Index>(y.size()), y.data());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double wanted = std::exp(static_cast<double>(x[i]));
    if (x[i] < -87.0f)
      EXPECT_LE(std::abs(static_cast<double>(y[i]) - wanted), 2e-38) << x[i];
    else if (x[i] > 88.722f)
      EXPECT_GE(y[i], 3.3e38f) << x[i];
    else
      EXPECT_NEAR(static_cast<double>(y[i]) / wanted, 1, 2e-7) << x[i];
  }
}

TEST(Exp, double_agrees_with_the_library_over_its_whole_range) {
  std::vector<double> x, y;
  for (double v = -720; v < 712; v += 0.0371) x.push_back(v);
  y = x;
  exp_row(static_cast<Index>(y.size()), y.data());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double wanted = std::exp(x[i]);
    if (x[i] < -708)
      EXPECT_LE(std::abs(y[i] - wanted), 4e-308) << x[i];
    else if (std::isinf(wanted))
      EXPECT_EQ(y[i], wanted) << x[i];
    else
      EXPECT_NEAR(y[i] / wanted, 1, 5e-16) << x[i];
  }
}

template <class T>
void expect_exp_of_extremes() {
  using Limits = std::numeric_limits<T>;
  T x[] = {0,
           -T{0},
           Limits::min(),
           -Limits::denorm_min(),
           -Limits::infinity(),
           Limits::infinity(),
           Limits::lowest(),
           Limits::max(),
           static_cast<T>(-1e30),
           Limits::quiet_NaN()};
  exp_row(10, x);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(x[i], T{1}) << i;
  EXPECT_EQ(x[4], T{0});
  EXPECT_EQ(x[5], Limits::infinity());
  EXPECT_EQ(x[6], T{0});
  EXPECT_EQ(x[7], Limits::infinity());
  EXPECT_EQ(x[8], T{0});
  EXPECT_TRUE(std::isnan(x[9]));
}

TEST(Exp, zero_infinite_and_huge_arguments) {
  expect_exp_of_extremes<float>();
  expect_exp_of_extremes<double>();
}

template <class T>
void expect_plain_sums(Index rows, Index columns) {
  Rng rng(static_cast<std::uint64_t>(rows * 1000 + columns));
  std::vector<T> tile(at(rows * columns));
  for (T& v : tile) v = static_cast<T>(rng.normal());
  std::vector<double> x(at(columns)), y(at(rows)), to_rows(at(rows)), to_columns(at(columns));
  for (double& v : x) v = rng.normal();
  for (double& v : y) v = rng.normal();
  fwsr::TileProduct<T> p{.tile = tile.data(),
                         .rows = rows,
                         .columns = columns,
                         .x = x.data(),
                         .y = y.data(),
                         .to_rows = to_rows.data(),
                         .to_columns = to_columns.data()};
  for (const bool squares : {false, true}) {
    squares ? square_tile(p) : multiply_tile(p);
    const auto term = [&](Index i, Index j, double other) {
      const auto v = static_cast<Real>(tile[at(i * columns + j)]);
      return v * (squares ? v : Real(other));
    };
    for (Index i = 0; i < rows; ++i) {
      Real sum = 0;
      for (Index j = 0; j < columns; ++j) sum += term(i, j, x[at(j)]);
      EXPECT_NEAR(to_rows[at(i)], double(sum), 1e-13 * double(columns)) << i;
    }
    for (Index j = 0; j < columns; ++j) {
      Real sum = 0;
      for (Index i = 0; i < rows; ++i) sum += term(i, j, y[at(i)]);
      EXPECT_NEAR(to_columns[at(j)], double(sum), 1e-13 * double(rows)) << j;
    }
    const std::vector<double> with_columns = to_rows;
    p.to_columns = nullptr;
    squares ? square_tile(p) : multiply_tile(p);
    EXPECT_EQ(to_rows, with_columns);
    p.to_columns = to_columns.data();
  }
}

TEST(Tile, products_and_squares_are_the_plain_sums) {
  for (const Index rows : {1, 3, 4, 8, 17, 480})
    for (const Index columns : {1, 5, 8, 16, 23, 480}) {
      SCOPED_TRACE(testing::Message() << rows << " x " << columns);
      expect_plain_sums<float>(rows, columns);
      expect_plain_sums<double>(rows, columns);
    }
}

TEST(Tile, sums_of_rows_are_those_of_columns_of_the_transpose) {
  Rng rng(2);
  for (const auto& [rows, columns] :
       std::vector<std::pair<Index, Index>>{{480, 480}, {480, 77}, {13, 480}}) {
    std::vector<double> tile(at(rows * columns)), turned(tile.size());
    std::vector<double> x(at(columns)), y(at(rows));
    for (double& v : tile) v = rng.normal();
    for (double& v : x) v = rng.normal();
    for (double& v : y) v = rng.normal();
    fwsr::transpose_tile(tile.data(), rows, columns, turned.data());
    std::vector<double> a(at(rows)), b(at(columns)), c(at(columns)), d(at(rows));
    fwsr::multiply_tile(fwsr::TileProduct<double>{tile.data(), rows, columns, x.data(), y.data(),
                                                  a.data(), b.data()});
    fwsr::multiply_tile(fwsr::TileProduct<double>{turned.data(), columns, rows, y.data(), x.data(),
                                                  c.data(), d.data()});
    EXPECT_EQ(a, d);
    EXPECT_EQ(b, c);
  }
}

}  // namespace
