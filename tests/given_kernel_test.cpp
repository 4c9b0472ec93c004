// Matrices given as kernels that are none: refused with a sentence, by everything that takes one.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "fwsr/base/random.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/methods/methods.hpp"
#include "fwsr/solver/select.hpp"
#include "fwsr/solver/sweep.hpp"

namespace fwsr {
namespace {

/// An n x n matrix in both precisions.
struct Square {
  Index n = 0;
  std::vector<double> values{};
  std::vector<float> singles{};

  Square(Index size, const std::function<double(Index, Index)>& entry) : n(size) {
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) values.push_back(entry(i, j));
    singles.assign(values.begin(), values.end());
  }
  MatrixView<const double> view() const { return {values.data(), n, n, n}; }
  MatrixView<const float> single() const { return {singles.data(), n, n, n}; }
};

std::vector<double> random_points(Index n, Index d, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<double> x;
  for (Index i = 0; i < n * d; ++i) x.push_back(rng.normal());
  return x;
}
double squared_distance(const std::vector<double>& x, Index d, Index i, Index j) {
  double sum = 0;
  for (Index l = 0; l < d; ++l) {
    const double gap =
        x[static_cast<std::size_t>(i * d + l)] - x[static_cast<std::size_t>(j * d + l)];
    sum += gap * gap;
  }
  return sum;
}

Square distances(Index n) {
  const auto x = random_points(n, 4, 1);
  return {n, [&](Index i, Index j) { return std::sqrt(squared_distance(x, 4, i, j)); }};
}
Square rbf(Index n) {
  const auto x = random_points(n, 3, 2);
  return {n, [&](Index i, Index j) { return std::exp(-squared_distance(x, 3, i, j) / 4); }};
}
/// No pair of points shows that it is none: 1 on the diagonal, and three points that contradict each other.
Square cycle(Index n) {
  return {n, [&](Index i, Index j) {
            if (i == j) return 1.0;
            if (i >= 3 || j >= 3) return 0.0;
            return i + j == 2 ? -0.9 : 0.9;
          }};
}

/// What is said about the matrix, or "" when it passes.
std::string refusal(const PointsView& view, const SelectOptions& options,
                    const MethodChoice& choice = {}) {
  try {
    select(view, options, choice);
    return "";
  } catch (const Error& e) {
    return e.what();
  }
}
std::string refusal(const PointsView& view) {
  return refusal(view, {.exemplars = 3, .kernel = {.type = KernelType::precomputed}});
}

std::string place_text(Index i, Index j) {
  return "row " + std::to_string(i) + ", column " + std::to_string(j);
}

void expect_says(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    EXPECT_NE(message.find(part), std::string::npos) << "no '" << part << "' in: " << message;
}

TEST(GivenKernel, distances_are_no_kernel) {
  const Square d = distances(20);
  for (const PointsView& view : {PointsView(d.view()), PointsView(d.single())})
    expect_says(refusal(view), {"looks like distances", "numpy.exp(-D**2", "metric = precomputed"});
  // Distances from inner products leave rounding on the diagonal.
  const Square rough(20, [&](Index i, Index j) {
    return i == j ? 1e-8 : d.values[static_cast<std::size_t>(i * 20 + j)];
  });
  expect_says(refusal(rough.view()), {"looks like distances"});
  EXPECT_EQ(refusal(Square(4, [](Index, Index) { return 0.0; }).view()), "");
}

TEST(GivenKernel, an_entry_larger_than_its_diagonal_allows_is_named) {
  Square k = rbf(70);
  k.values[65 * 70 + 2] = k.values[2 * 70 + 65] = -1.5;
  k.singles[65 * 70 + 2] = k.singles[2 * 70 + 65] = -1.5F;
  for (const PointsView& view : {PointsView(k.view()), PointsView(k.single())})
    expect_says(refusal(view), {"not positive semi-definite", "-1.5 at row 2, column 65"});
  // One point without a length, and yet not at right angles to another.
  Square zero = rbf(10);
  zero.values[0] = 0;
  expect_says(refusal(zero.view()), {"not positive semi-definite"});
}

TEST(GivenKernel, faults_are_found_wherever_they_stand) {
  const Index n = 150;  // several tiles, the last not full
  Rng rng(3);
  for (int round = 0; round < 40; ++round) {
    const auto i = static_cast<Index>(rng.below(n));
    const Index j = (i + 1 + static_cast<Index>(rng.below(n - 1))) % n;
    const auto at = [&](Index r, Index c) { return static_cast<std::size_t>(r * n + c); };
    Square nan = rbf(n), skew = nan, large = nan, negative = nan;
    nan.values[at(i, j)] = round % 2 ? NAN : INFINITY;
    expect_says(refusal(nan.view()), {"not finite", place_text(i, j)});
    skew.values[at(i, j)] += 1e-3;
    expect_says(refusal(skew.view()),
                {"not symmetric", place_text(std::max(i, j), std::min(i, j))});
    large.values[at(i, j)] = large.values[at(j, i)] = 1.01;
    expect_says(refusal(large.view()), {place_text(std::min(i, j), std::max(i, j))});
    negative.values[at(i, i)] = -1e-3;
    expect_says(refusal(negative.view()), {"never negative", place_text(i, i)});
  }
}

TEST(GivenKernel, what_no_pair_shows_a_factorisation_does) {
  for (const Index n : {3, 30, 300}) expect_says(refusal(cycle(n).view()), {"smallest eigenvalue"});
  expect_says(refusal(cycle(30).view()), {"is -0.8, beside 1.9"});
  // Whatever the other points are like.
  const Square large(30, [&](Index i, Index j) {
    const double size = (i < 3 ? 0.1 : 10) * (j < 3 ? 0.1 : 10);
    return size * cycle(30).values[static_cast<std::size_t>(i * 30 + j)];
  });
  expect_says(refusal(large.view()), {"scaled to a diagonal of 1", "is -0.8, beside 1.9"});
}

TEST(GivenKernel, six_digits_of_a_kernel_are_a_kernel) {
  // Written to a text and read again: entries are off by a few millionths, and n - d eigenvalues by that much of 0.
  const Index n = 60, d = 3;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto x = random_points(n, d, seed);
    const Square k(n, [&](Index i, Index j) {
      double sum = 0;
      for (Index l = 0; l < d; ++l)
        sum += (x[static_cast<std::size_t>(i * d + l)] + 2) *
               (x[static_cast<std::size_t>(j * d + l)] + 2);
      return std::stod(fmt::format("{:.6g}", sum));
    });
    const SelectOptions four{.exemplars = 4, .kernel = {.type = KernelType::precomputed}};
    for (const char* method : {"fwsr", "rrqr", "greedy-cssp"})
      EXPECT_EQ(refusal(k.view(), four, {.name = method}), "") << method << ", seed " << seed;
  }
}

TEST(GivenKernel, kernels_centred_in_float32_are_kernels) {
  const Index n = 150, d = 3;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto x = random_points(n, d, seed);
    std::vector<float> means(static_cast<std::size_t>(n));
    const auto near = [&](Index i, Index j) {
      return static_cast<float>(std::exp(-0.03 * 0.09 * squared_distance(x, d, i, j)));
    };
    float mean = 0;
    for (Index i = 0; i < n; ++i) {
      float sum = 0;
      for (Index j = 0; j < n; ++j) sum += near(i, j);
      means[static_cast<std::size_t>(i)] = sum / static_cast<float>(n);
      mean += means[static_cast<std::size_t>(i)] / static_cast<float>(n);
    }
    const Square k(n, [&](Index i, Index j) {
      return near(i, j) - means[static_cast<std::size_t>(i)] - means[static_cast<std::size_t>(j)] +
             mean;
    });
    EXPECT_EQ(refusal(k.single()), "") << "seed " << seed;
  }
}

TEST(GivenKernel, what_the_sample_misses_the_exemplars_show) {
  // Among more points than are looked at together, the three that contradict each other are the largest.
  const Index n = 1200;
  const Square three = cycle(n);
  const auto place = [](Index i) { return i == 0 ? Index{1} : i == 1 ? Index{4} : Index{8}; };
  Square k(n, [](Index i, Index j) { return i == j ? 1.0 : 0.0; });
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 3; ++j)
      k.values[static_cast<std::size_t>(place(i) * n + place(j))] =
          100 * three.values[static_cast<std::size_t>(i * n + j)];
  for (const char* method : {"fwsr", "rrqr", "greedy-cssp", "omp"})
    expect_says(refusal(k.view(), {.exemplars = 5, .kernel = {.type = KernelType::precomputed}},
                        {.name = method}),
                {"not positive semi-definite", "comes out as -"});
}

TEST(GivenKernel, every_form_and_method_refuses_what_is_none) {
  const Square indefinite = cycle(24), d = distances(24);
  SelectOptions o{.exemplars = 4, .kernel = {.type = KernelType::precomputed}};
  for (const Method& method : methods()) {
    if (method.choose && !method.any_kernel) continue;
    for (const Square* k : {&indefinite, &d})
      EXPECT_NE(refusal(k->view(), o, {.name = method.name}), "") << method.name;
  }
  for (const Norm q : {Norm::one, Norm::two, Norm::infinity})
    for (const bool nonneg : {false, true}) {
      SelectOptions other = o;
      other.q = q;
      other.nonneg = nonneg;
      EXPECT_NE(refusal(indefinite.view(), other), "");
    }
  const std::vector<NumberOrAuto> alphas{1.0};
  const std::vector<double> etas{0.0};
  EXPECT_THROW(sweep(indefinite.view(), o, alphas, etas), Error);
  const std::vector<std::string> labels(24, "one");
  EXPECT_THROW(select_per_class(indefinite.view(), labels,
                                {.kind = ClassCounts::Kind::each, .number = 2}, o, MethodChoice{}),
               Error);
}

TEST(GivenKernel, a_class_answers_for_its_own_points) {
  // The three points that contradict each other are of three classes.
  const Square k = cycle(30);
  std::vector<std::string> labels;
  for (int i = 0; i < 30; ++i) labels.push_back(std::to_string(i % 3));
  SelectOptions o{.exemplars = 2, .kernel = {.type = KernelType::precomputed}};
  const auto parts = select_per_class(
      k.view(), labels, {.kind = ClassCounts::Kind::each, .number = 2}, o, MethodChoice{});
  EXPECT_EQ(parts.size(), 3u);
}

TEST(GivenKernel, rounding_is_accepted) {
  // Close points: the true kernel has eigenvalues far below the rounding of float32.
  const Index n = 200;
  const auto x = random_points(n, 1, 5);
  const Square smooth(
      n, [&](Index i, Index j) { return std::exp(-squared_distance(x, 1, i, j) / 50); });
  Rng rng(6);
  Square noisy = smooth;  // 1e-7 n below zero, at worst
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j) {
      const double v = smooth.values[static_cast<std::size_t>(i * n + j)] + 1e-7 * rng.normal();
      noisy.values[static_cast<std::size_t>(i * n + j)] = v;
      noisy.values[static_cast<std::size_t>(j * n + i)] = v;
    }
  const Square in_single(n, [&](Index i, Index j) {
    return static_cast<double>(smooth.singles[static_cast<std::size_t>(i * n + j)]);
  });
  for (const Index k : {2, 60})
    for (const PointsView& view :
         {PointsView(smooth.single()), PointsView(in_single.view()), PointsView(noisy.view())}) {
      SelectOptions o{.exemplars = k, .kernel = {.type = KernelType::precomputed}};
      const Selection s = select(view, o);
      EXPECT_GE(s.certificate->f, 0);
      EXPECT_GE(s.certificate->gap, 0);
      for (const char* method : {"rrqr", "greedy-cssp", "kdpp", "leverage"})
        EXPECT_EQ(refusal(view, o, {.name = method}), "") << method << " " << k;
    }
}

TEST(GivenKernel, copies_of_points_are_accepted) {
  const Index n = 90;
  const auto x = random_points(30, 2, 7);
  const Square k(n, [&](Index i, Index j) {
    const std::size_t a = static_cast<std::size_t>(i % 30) * 2,
                      b = static_cast<std::size_t>(j % 30) * 2;
    return x[a] * x[b] + x[a + 1] * x[b + 1];
  });
  for (const PointsView& view : {PointsView(k.view()), PointsView(k.single())})
    EXPECT_EQ(refusal(view), "");
}

}  // namespace
}  // namespace fwsr
