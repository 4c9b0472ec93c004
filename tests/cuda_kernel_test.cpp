// K on a card: its entries and products beside those of the processor, and runs by the kernel itself, which have the same
// picks. Without a card these tests are skipped.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "card_tests.hpp"
#include "fwsr/base/random.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/kernel/formula.hpp"
#include "fwsr/kernel/kernel_matrix.hpp"
#include "fwsr/methods/methods.hpp"
#include "fwsr/methods/request.hpp"
#include "fwsr/solver/on_card.hpp"
#include "fwsr/solver/sweep.hpp"
#include "narrow_points.hpp"

namespace {

using card_tests::expect_same;
using card_tests::on_card;
using card_tests::random_points;
using fwsr::Index;
using fwsr::Kernel;
using fwsr::KernelMatrix;
using fwsr::KernelType;
using fwsr::MatrixView;
using fwsr::Points;
using fwsr::Rng;
using fwsr::Selection;
using fwsr::SelectOptions;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

class CudaKernel : public card_tests::CardTest {};

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

std::vector<double> random_numbers(Index count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<double> numbers;
  for (Index i = 0; i < count; ++i) numbers.push_back(rng.normal());
  return numbers;
}

void expect_close(const std::vector<double>& a, const std::vector<double>& b, double tolerance,
                  const char* what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  double size = 0;
  for (const double v : b) size = std::max(size, std::abs(v));
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], tolerance * size) << what << ' ' << i;
}

/// Every question about K, answered on the card and by the processor.
void expect_same_kernel(const KernelMatrix& card, const KernelMatrix& cpu, double tolerance) {
  const Index n = cpu.size();
  ASSERT_EQ(card.size(), n);
  EXPECT_EQ(card.unit(), cpu.unit());
  EXPECT_EQ(card.eta(), cpu.eta());
  expect_close(all_of(card), all_of(cpu), tolerance, "entries");
  std::vector<Index> some{n / 2, 0, n - 1, n / 3}, all(at(n));
  std::iota(all.begin(), all.end(), 0);
  for (const fwsr::Eta eta : {fwsr::Eta::included, fwsr::Eta::left_out}) {
    expect_close(card.values(all, some, eta), cpu.values(all, some, eta), tolerance, "values");
    for (const Index i : some)
      EXPECT_NEAR(card.diagonal(i, eta), cpu.diagonal(i, eta), tolerance * 2);
  }
  const auto vector = [n] { return std::vector<double>(at(n)); };
  std::vector<double> one = vector(), other = vector();
  card.column(n / 3, one), cpu.column(n / 3, other);
  expect_close(one, other, tolerance, "column");
  constexpr Index many = 15;
  const std::vector<double> x = random_numbers(many * n, 5);
  std::vector<double> products(x.size()), expected(x.size());
  card.multiply_many(x, many, products, 4, {});
  cpu.multiply_many(x, many, expected, 4, {});
  const double sums = tolerance * std::sqrt(static_cast<double>(n));
  expect_close(products, expected, sums, "products");
  card.multiply(std::span(x).subspan(at(9 * n), at(n)), one, 4);
  EXPECT_EQ(one, std::vector<double>(products.begin() + 9 * n, products.begin() + 10 * n))
      << "the bits of a product tell what it was found beside";
  std::vector<double> weights = random_numbers(n, 6);
  for (double& w : weights) w *= w;
  for (const std::vector<double>& s : {std::vector<double>(), weights}) {
    card.row_squares(one, 4, s), cpu.row_squares(other, 4, s);
    expect_close(one, other, 4 * tolerance, "squares");
    constexpr Index m = 3;
    const std::vector<double> u = random_numbers(m * n, 7), theta = random_numbers(m * (m + 2), 8),
                              v = random_numbers(m * n, 9);
    std::vector<double> with_one = vector(), with_other = vector();
    for (const fwsr::Explained& e :
         {fwsr::Explained{
              .m = m, .u = u.data(), .theta = theta.data(), .theta_stride = m + 2, .v = u.data()},
          fwsr::Explained{.m = m, .u = u.data(), .v = v.data()}, fwsr::Explained{}}) {
      card.sum_left(e, s, {.squares = one, .with_k = with_one}, 4, {});
      cpu.sum_left(e, s, {.squares = other, .with_k = with_other}, 4, {});
      expect_close(one, other, 100 * tolerance, "left");
      expect_close(with_one, with_other, 1000 * tolerance, "left with K");
    }
  }
}

struct KernelCase {
  Kernel kernel;
  double eta = 0;
};
std::vector<KernelCase> kernel_cases() {
  return {{{.type = KernelType::linear}, 0.5},
          {{.type = KernelType::rbf, .gamma = 0.05}},
          {{.type = KernelType::rbf, .gamma = 0.05}, 0.3},
          {{.type = KernelType::rbf, .gamma = 1e9}},
          {{.type = KernelType::rbf, .gamma = 1e-12}},
          {{.type = KernelType::laplacian, .gamma = 0.1}, 0.2},
          {{.type = KernelType::laplacian, .gamma = 30}},
          {{.type = KernelType::polynomial, .gamma = 0.1, .degree = 2}},
          {{.type = KernelType::polynomial, .gamma = 0.1, .degree = 5, .coef0 = 0.5}, 0.2}};
}

/// Copies of points and points close to each other among them.
template <class T>
std::vector<T> points_of_kinds(Index n, Index d, unsigned seed) {
  std::vector<T> x = random_points<T>(n, d, seed, 3);
  for (Index i = n / 2; i < std::min(n, n / 2 + n / 8); ++i)
    for (Index l = 0; l < d; ++l)
      x[at(i * d + l)] = x[at((i - n / 2) * d + l)] + static_cast<T>(i % 2 ? 0 : 1e-4);
  return x;
}

template <class T>
void compare_kernels(Index n, Index d, bool single, bool computed) {
  unsigned seed = 10;
  for (const KernelCase& c : kernel_cases()) {
    SCOPED_TRACE(testing::Message()
                 << n << " x " << d << ", " << fwsr::name_of(c.kernel.type) << ", gamma "
                 << c.kernel.gamma.value_or(0) << ", eta " << c.eta << (single ? ", float32" : ""));
    const std::vector<T> x = points_of_kinds<T>(n, d, seed++);
    const bool linear = c.kernel.type == KernelType::linear;
    const Points points(
        MatrixView<const T>{x.data(), n, d}, {},
        {.center = linear ? fwsr::Center::point : fwsr::Center::none, .eta = linear ? c.eta : 0.0},
        2);
    const auto tiled = [&](bool in_single) {
      return fwsr::make_tiled_kernel(points, c.kernel,
                                     {.eta = c.eta, .single = in_single, .threads = 2});
    };
    const auto source = tiled(single), exact = tiled(false);
    const auto card = fwsr::hold_on_card(*source, {.points = &points,
                                                   .type = c.kernel,
                                                   .single = single,
                                                   .memory = computed ? 6 * n * n : 0,
                                                   .threads = 2,
                                                   .or_computed = computed});
    EXPECT_EQ(card->single(), single);
    // Powers and steep exponentials multiply the rounding of products.
    expect_same_kernel(*card, *exact, single ? 2e-7 : 2e-12);
  }
}

TEST_F(CudaKernel, entries_and_products_are_those_of_the_processor) {
  for (const auto& [n, d] :
       {std::pair<Index, Index>{1, 3}, {2, 1}, {33, 7}, {480, 64}, {1201, 37}}) {
    compare_kernels<double>(n, d, false, false);
    compare_kernels<float>(n, d, true, false);
  }
}

TEST_F(CudaKernel, entries_that_do_not_fit_are_computed_there) {
  compare_kernels<double>(1500, 9, false, true);
}

TEST_F(CudaKernel, sparse_points_and_given_matrices_are_held_as_they_are) {
  const Index n = 700, d = 40;
  Rng rng(3);
  std::vector<float> values;
  std::vector<std::int32_t> columns, starts{0};
  for (Index i = 0; i < n; ++i) {
    for (Index l = 0; l < d; ++l)
      if (rng.uniform() < 0.2)
        values.push_back(static_cast<float>(rng.normal())),
            columns.push_back(static_cast<std::int32_t>(l));
    starts.push_back(static_cast<std::int32_t>(values.size()));
  }
  const fwsr::CsrView<float, std::int32_t> sparse{.rows = n,
                                                  .cols = d,
                                                  .starts = starts.data(),
                                                  .columns = columns.data(),
                                                  .values = values.data()};
  for (const KernelCase& c : kernel_cases()) {
    if (c.kernel.type == KernelType::rbf && *c.kernel.gamma > 1) continue;
    SCOPED_TRACE(fwsr::name_of(c.kernel.type));
    const Points points(sparse, {}, {.center = fwsr::Center::none}, 2);
    for (const bool single : {false, true}) {
      const fwsr::TileOptions how{.eta = c.eta, .single = single, .threads = 2};
      const auto source = fwsr::make_tiled_kernel(points, c.kernel, how);
      const auto card = fwsr::hold_on_card(
          *source, {.points = &points, .type = c.kernel, .single = single, .threads = 2});
      expect_same_kernel(*card, *source, single ? 2e-6 : 1e-13);
    }
  }
  const std::vector<double> x = random_points<double>(n, 5, 4);
  const Points points(MatrixView<const double>{x.data(), n, 5}, {}, {.center = fwsr::Center::none},
                      2);
  const std::vector<double> k =
      all_of(*fwsr::make_tiled_kernel(points, {.type = KernelType::rbf, .gamma = 0.1}, {}));
  const std::vector<float> short_k(k.begin(), k.end());
  const std::vector<Index> subset{5, 7, 100, 3, 699, 8};
  for (const double eta : {0.0, 0.5})
    for (const std::span<const Index> some :
         {std::span<const Index>(), std::span<const Index>(subset)})
      for (const fwsr::PointsView& view :
           {fwsr::PointsView(MatrixView<const double>{k.data(), n, n}),
            fwsr::PointsView(MatrixView<const float>{short_k.data(), n, n})}) {
        const auto source = fwsr::make_given_kernel(view, some, eta, false, 2);
        const auto card = fwsr::hold_on_card(
            *source, {.single = fwsr::is_single(view) && eta == 0, .threads = 2});
        EXPECT_FALSE(card->single());
        expect_same_kernel(*card, *source, 1e-14);
      }
}

// ------------------------------------------------------------------------------------------------------------- runs

SelectOptions by_kernel(KernelType type, Index k) {
  SelectOptions o{.exemplars = k};
  o.kernel.type = type;
  o.assignment = o.precise = true;
  return o;
}

void compare(const fwsr::PointsView& view, const SelectOptions& o, double tolerance = 1e-9) {
  const Selection cpu = fwsr::select(view, o), card = fwsr::select(view, on_card(o));
  EXPECT_EQ(card.plan.device, "cuda");
  EXPECT_EQ(card.plan.form, fwsr::FormKind::representer);
  expect_same(card, cpu, tolerance);
  EXPECT_EQ(card.gamma, cpu.gamma);
  EXPECT_EQ(card.filled, cpu.filled);
}

TEST_F(CudaKernel, every_kernel_has_the_picks_of_the_processor) {
  unsigned seed = 20;
  for (const KernelType type : {KernelType::rbf, KernelType::polynomial, KernelType::laplacian})
    for (const auto& [n, d] : {std::pair<Index, Index>{2, 2}, {31, 3}, {700, 20}, {3000, 9}})
      for (const double eta : {0.0, 0.4})
        for (const auto refine :
             {fwsr::Refine::none, fwsr::Refine::exchange, fwsr::Refine::middle}) {
          SCOPED_TRACE(testing::Message() << fwsr::name_of(type) << ", " << n << " x " << d
                                          << ", eta " << eta << ", " << fwsr::name_of(refine));
          SelectOptions o = by_kernel(type, std::min<Index>(n, 15));
          o.eta = eta;
          o.refine = refine;
          const std::vector<double> wide = random_points<double>(n, d, seed);
          const std::vector<float> narrow = random_points<float>(n, d, seed++, 1);
          compare(MatrixView<const double>{wide.data(), n, d}, o);
          compare(MatrixView<const float>{narrow.data(), n, d}, o);
        }
}

TEST_F(CudaKernel, a_given_matrix_has_the_picks_of_the_processor) {
  const Index n = 900, d = 6;
  const std::vector<double> x = random_points<double>(n, d, 60);
  const Points points(MatrixView<const double>{x.data(), n, d}, {}, {.center = fwsr::Center::none},
                      2);
  const std::vector<double> k =
      all_of(*fwsr::make_tiled_kernel(points, {.type = KernelType::rbf, .gamma = 0.1}, {}));
  const std::vector<float> short_k(k.begin(), k.end());
  for (const double eta : {0.0, 0.3})
    for (const auto refine : {fwsr::Refine::none, fwsr::Refine::exchange}) {
      SelectOptions o = by_kernel(KernelType::precomputed, 12);
      o.eta = eta;
      o.refine = refine;
      compare(MatrixView<const double>{k.data(), n, n}, o);
      compare(MatrixView<const float>{short_k.data(), n, n}, o);
    }
}

TEST_F(CudaKernel, all_conditions_are_kept_as_on_the_processor) {
  const Index n = 800, d = 12;
  const std::vector<float> x = random_points<float>(n, d, 70);
  const MatrixView<const float> view{x.data(), n, d};
  std::vector<std::string> names;
  for (Index i = 0; i < n; ++i) names.push_back(std::to_string(i % 4));
  unsigned seed = 0;
  for (const KernelType type :
       {KernelType::rbf, KernelType::laplacian, KernelType::polynomial, KernelType::linear})
    for (int which = 0; which < 8; ++which) {
      SCOPED_TRACE(testing::Message() << fwsr::name_of(type) << ", condition " << which);
      SelectOptions o = by_kernel(type, 9);
      Rng rng(seed++);
      switch (which) {
        case 0:
          for (Index i = 0; i < n; ++i) o.conditions.weights.push_back(1 + rng.uniform());
          break;
        case 1:
          o.conditions.included = {5, 77, 500};
          break;
        case 2:
          o.conditions.included = {5, 77, 500};
          for (Index i = 0; i < n; ++i) o.conditions.weights.push_back(1 + rng.uniform());
          o.refine = fwsr::Refine::exchange;
          break;
        case 3:
          o.conditions.groups = fwsr::Labels(names);
          o.conditions.at_least.each = 2;
          break;
        case 4:
          o.exemplars = 60;
          o.until_error = 0.2;
          break;
        case 5:
          o.lambda = 0.5, o.rho = 0.3;
          break;
        case 6:
          o.exemplars = 30;
          o.fill = true;
          o.when_converged = fwsr::WhenConverged::stop;
          o.alpha = 50;
          break;
        default:
          for (Index i = 0; i < n; ++i) o.conditions.costs.push_back(1 + rng.uniform());
          o.budget = 8;
      }
      // The linear kernel is held where the points themselves do not answer.
      if (type == KernelType::linear && which != 5) continue;
      const Selection cpu = fwsr::select(view, o), card = fwsr::select(view, on_card(o));
      EXPECT_EQ(card.plan.form, fwsr::FormKind::representer);
      if (type != KernelType::linear) {
        expect_same(card, cpu, 1e-8);
      } else {
        EXPECT_EQ(card.exemplars, cpu.exemplars);  // by another form
        EXPECT_EQ(card.filled, cpu.filled);
      }
      EXPECT_EQ(card.included, cpu.included);
      if (cpu.certificate->boolean_objective) {
        EXPECT_NEAR(*card.certificate->boolean_objective, *cpu.certificate->boolean_objective,
                    1e-9 * *cpu.certificate->boolean_objective);
      }
    }
}

TEST_F(CudaKernel, long_runs_in_float32_go_on_in_double) {
  // A kernel of rank 10: f falls below what float32 carries.
  const Index n = 1000, d = 3;
  const std::vector<float> x = random_points<float>(n, d, 80);
  const MatrixView<const float> view{x.data(), n, d};
  SelectOptions o = by_kernel(KernelType::polynomial, 40);
  o.kernel.degree = 2;
  o.precise = false;
  o.alpha = 0;
  const Selection cpu = fwsr::select(view, o);
  ASSERT_LT(cpu.trace.back().f, 1e-5 * cpu.f_at_zero);
  SelectOptions there = on_card(o);
  for (const Index memory : {Index{0}, 7 * n * n}) {
    there.device_memory = memory;  // little: K in double does not fit, and is computed there
    const Selection card = fwsr::select(view, there);
    EXPECT_EQ(card.exemplars.size(), cpu.exemplars.size());
    EXPECT_LT(card.certificate->f, 2 * cpu.certificate->f + 1e-9 * cpu.f_at_zero);
    EXPECT_TRUE(card.certificate->feasible);
    for (std::size_t t = 0; t < 6; ++t) EXPECT_EQ(card.exemplars[t], cpu.exemplars[t]);
  }
}

TEST_F(CudaKernel, the_default_method_chooses_as_on_the_processor) {
  for (const auto& [n, d, k] :
       {std::tuple<Index, Index, Index>{300, 10, 8}, {2500, 30, 20}, {4200, 16, 270}}) {
    const std::vector<double> x = random_points<double>(n, d, 90);
    const MatrixView<const double> view{x.data(), n, d};
    const SelectOptions o{.exemplars = k};
    const auto run = [&](const SelectOptions& options) {
      const fwsr::Request request(options, {.name = "exchange"});
      return request.run(view, request.plan(view));
    };
    const Selection cpu = run(o), card = run(on_card(o));
    EXPECT_EQ(card.plan.form, cpu.plan.form);
    EXPECT_EQ(card.exemplars, cpu.exemplars);
    EXPECT_EQ(card.weights, cpu.weights);
  }
}

TEST_F(CudaKernel, classes_and_sweeps_are_those_of_the_processor) {
  const Index n = 2000, d = 8;
  const std::vector<double> x = random_points<double>(n, d, 100);
  const MatrixView<const double> view{x.data(), n, d};
  std::vector<std::string> names;
  for (Index i = 0; i < n; ++i) names.push_back(std::to_string(i * i % 11));
  const SelectOptions o = by_kernel(KernelType::rbf, 4);
  const fwsr::ClassCounts counts{.kind = fwsr::ClassCounts::Kind::each, .number = 4};
  const auto cpu = fwsr::select_per_class(view, fwsr::Labels(names), counts, o);
  const auto card = fwsr::select_per_class(view, fwsr::Labels(names), counts, on_card(o));
  ASSERT_EQ(card.size(), cpu.size());
  for (std::size_t c = 0; c < cpu.size(); ++c)
    EXPECT_EQ(card[c].selection.exemplars, cpu[c].selection.exemplars);
  const std::vector<fwsr::NumberOrAuto> alphas{fwsr::NumberOrAuto{}, 3.0};
  const auto settings = fwsr::sweep(view, o, alphas, {0.0, 0.3});
  const auto there = fwsr::sweep(view, on_card(o), alphas, {0.0, 0.3});
  ASSERT_EQ(there.size(), settings.size());
  for (std::size_t s = 0; s < settings.size(); ++s)
    expect_same(there[s].selection, settings[s].selection, 1e-9);
}

TEST_F(CudaKernel, narrow_numbers_have_the_picks_of_wide_ones) {
  for (const fwsr::NarrowNumber number : fwsr::all_numbers) {
    const fwsr::Twin twin(number, 600, 30, 110);
    const SelectOptions o = by_kernel(KernelType::rbf, 9);
    expect_same(fwsr::select(twin.narrow(), on_card(o)), fwsr::select(twin.wide(), o), 1e-9);
  }
}

TEST_F(CudaKernel, a_run_gives_the_same_bits_again) {
  const Index n = 4000, d = 24;
  const std::vector<float> x = random_points<float>(n, d, 120);
  const MatrixView<const float> view{x.data(), n, d};
  SelectOptions o = on_card(by_kernel(KernelType::rbf, 30));
  o.refine = fwsr::Refine::exchange;
  o.precise = false;
  const Selection one = fwsr::select(view, o);
  o.threads = 3;
  const Selection two = fwsr::select(view, o);
  ASSERT_EQ(one.trace.size(), two.trace.size());
  for (std::size_t t = 0; t < one.trace.size(); ++t) {
    EXPECT_EQ(one.trace[t].pick, two.trace[t].pick);
    EXPECT_EQ(one.trace[t].f, two.trace[t].f);
  }
  EXPECT_EQ(one.exemplars, two.exemplars);
  EXPECT_EQ(one.certificate->f, two.certificate->f);
}

TEST_F(CudaKernel, too_little_memory_is_said_with_what_would_fit) {
  const Index n = 3000, d = 10;
  const std::vector<float> x = random_points<float>(n, d, 130);
  const MatrixView<const float> view{x.data(), n, d};
  SelectOptions o = on_card(by_kernel(KernelType::rbf, 5));
  const Selection whole = fwsr::select(view, o);
  o.device_memory = 10 << 20;
  try {
    fwsr::plan(view, o);
    FAIL() << "was planned";
  } catch (const fwsr::MemoryError& e) {
    const std::string said = e.what();
    for (const char* word : {"3000 points", "of the card", "10.0 MiB", "points would fit", "rank"})
      EXPECT_NE(said.find(word), std::string::npos) << said;
  }
  // Wherever it runs out, beside a plan that was made for more.
  SelectOptions roomy = o;
  roomy.device_memory = 0;
  const fwsr::Plan plan = fwsr::plan(view, roomy);
  EXPECT_GT(plan.device_bytes, 8 * n * n);
  int refused = 0;
  for (Index memory = 1 << 20; memory < 200 << 20; memory += 13 << 20) {
    o.device_memory = memory;
    try {
      EXPECT_EQ(fwsr::select_as_planned(view, o, plan).exemplars, whole.exemplars);
    } catch (const fwsr::MemoryError& e) {
      ++refused;
      EXPECT_NE(std::string(e.what()).find("card"), std::string::npos) << e.what();
    }
  }
  EXPECT_GT(refused, 2);
  EXPECT_EQ(fwsr::select(view, roomy).exemplars, whole.exemplars);
}

TEST_F(CudaKernel, what_is_not_a_number_is_named_and_a_run_can_be_stopped) {
  const Index n = 2000, d = 5;
  std::vector<float> x = random_points<float>(n, d, 140);
  const MatrixView<const float> view{x.data(), n, d};
  const SelectOptions o = on_card(by_kernel(KernelType::laplacian, 20));
  int told = 0;
  const Selection stopped =
      fwsr::select(view, o, [&](const fwsr::Progress& p) { return ++told < 4 || p.exemplars < 3; });
  EXPECT_EQ(stopped.status, fwsr::Status::interrupted);
  x[at(1234 * d + 2)] = std::nanf("");
  try {
    fwsr::select(view, o);
    FAIL() << "was taken";
  } catch (const fwsr::Error& e) {
    EXPECT_NE(std::string(e.what()).find("point 1234 has NaN in feature 2"), std::string::npos)
        << e.what();
  }
}

}  // namespace
