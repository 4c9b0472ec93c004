// The picks of a card are those of the processor wherever the best score leads by more than rounding: on the problems of
// the other tests, the built-in digits, large random problems, and real data where there are any. Each test says how many
// picks were the same, and how many runs parted where two scores are equal to rounding.
// Without a card these tests are skipped.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "card_tests.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/base/random.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/data/digits.hpp"
#include "fwsr/data/read.hpp"
#include "fwsr/methods/methods.hpp"
#include "fwsr/methods/request.hpp"
#include "problems.hpp"

namespace {

using card_tests::on_card;
using fwsr::Index;
using fwsr::MatrixView;
using fwsr::Selection;
using fwsr::SelectOptions;

class CudaPicks : public card_tests::CardTest {};

/// What many runs gave.
struct Tally {
  int runs = 0, same = 0, by_rounding = 0, other = 0;
  std::size_t picks = 0;

  void add(const Selection& card, const Selection& cpu, double rounding, const std::string& what) {
    const card_tests::Parting parted = card_tests::parting(card, cpu, rounding);
    ++runs;
    picks += parted.step;
    if (parted.same) picks += cpu.trace.size();
    same += parted.same;
    by_rounding += !parted.same && parted.by_rounding;
    if (parted.same || parted.by_rounding) return;
    ++other;
    ADD_FAILURE() << what << ": other picks from step " << parted.step << " on";
  }
  void tell(const char* of) const {
    fmt::print(
        "{}: {} runs, {} with all picks of the processor, {} part where two scores are equal to "
        "rounding, {} for no such reason; {} steps with equal picks\n",
        of, runs, same, by_rounding, other, picks);
  }
};

/// Scores are right to about this part of themselves while f is not small.
constexpr double in_double = 1e-9;

TEST_F(CudaPicks, of_all_test_problems) {
  Tally tally;
  int not_served = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    const problems::Problem problem = problems::make_problem(seed);
    SelectOptions o = problem.options;
    o.precise = true;
    o.threads = 1;
    Selection cpu, card;
    try {
      cpu = fwsr::select(problem.data.view(), o);
    } catch (const fwsr::Error&) {
      continue;  // a problem that is to be refused
    }
    try {
      card = fwsr::select(problem.data.view(), on_card(o));
    } catch (const fwsr::OptionError&) {
      ++not_served;  // q, signs
      continue;
    }
    // Where less is left than rounding of f(0), steps are rounding.
    const double low = 1e-11 * cpu.f_at_zero;
    std::size_t clear = 0;
    while (clear < cpu.trace.size() && cpu.trace[clear].f > low) ++clear;
    if (clear < cpu.trace.size()) {
      cpu.trace.resize(clear);
      card.trace.resize(std::min(clear, card.trace.size()));
      card.exemplars = cpu.exemplars;
    }
    tally.add(card, cpu, 1e-7, problems::describe(problem));
  }
  fmt::print("{} problems are not for a card\n", not_served);
  tally.tell("test problems");
  EXPECT_GT(tally.same, 300);
  EXPECT_LT(tally.by_rounding, tally.same / 10);
}

/// The methods that a card serves, by their usual options.
struct Way {
  std::string method;
  SelectOptions options;
};
std::vector<Way> ways(Index k, bool kernels) {
  std::vector<Way> all;
  const auto add = [&](const char* method, const auto& set) {
    SelectOptions o{.exemplars = k};
    set(o);
    all.push_back({method, o});
  };
  add("fwsr", [](SelectOptions& o) { o.precise = true; });
  add("fwsr", [](SelectOptions& o) { o.precise = true, o.alpha = 5; });
  add("fwsr", [](SelectOptions& o) {
    o.precise = true;
    o.kernel.type = fwsr::KernelType::cosine;
  });
  add("k-fwsr", [](SelectOptions& o) { o.precise = true, o.rank = 128; });
  add("exchange", [](SelectOptions&) {});
  if (!kernels) return all;
  for (const auto type :
       {fwsr::KernelType::rbf, fwsr::KernelType::laplacian, fwsr::KernelType::polynomial})
    add("k-fwsr", [&](SelectOptions& o) { o.precise = true, o.kernel.type = type; });
  return all;
}

/// The same numbers in float64. @pre dense
std::vector<double> widened(const fwsr::PointsView& view) {
  std::vector<double> all;
  std::visit(
      [&](const auto& v) {
        if constexpr (requires { v.data; }) {
          for (Index i = 0; i < v.rows; ++i)
            all.insert(all.end(), v.data + i * v.stride, v.data + i * v.stride + v.cols);
        } else if constexpr (requires { v.numbers; }) {
          std::vector<float> row(static_cast<std::size_t>(v.cols));
          for (Index i = 0; i < v.rows; ++i) {
            v.read(i, i + 1, row.data());
            all.insert(all.end(), row.begin(), row.end());
          }
        }
      },
      view);
  return all;
}

void compare(const fwsr::PointsView& given, const std::vector<Way>& all, const std::string& name,
             Tally& tally) {
  for (const Way& way : all) {
    // Of float32 points the default method computes in float32, and so another optimum may be as good.
    const bool wide = way.method == "exchange" && fwsr::is_single(given);
    const std::vector<double> numbers = wide ? widened(given) : std::vector<double>();
    const fwsr::PointsView view =
        wide ? MatrixView<const double>{numbers.data(), rows_of(given), cols_of(given)} : given;
    const auto run = [&](const SelectOptions& options) {
      const fwsr::Request request(options, {.name = way.method});
      return request.run(view, request.plan(view));
    };
    SelectOptions o = way.options;
    o.certificate = fwsr::CertificateKind::none;
    tally.add(run(on_card(o)), run(o), in_double,
              fmt::format("{} by {}, {}", name, way.method, fwsr::name_of(o.kernel.type)));
  }
}

TEST_F(CudaPicks, of_the_digits) {
  const auto digits = fwsr::read_digits();
  ASSERT_TRUE(digits);
  Tally tally;
  for (const Index k : {5, 20, 60}) compare(digits->view(), ways(k, true), "digits", tally);
  tally.tell("digits");
}

/// Clusters of unequal size and spread, from a seed.
std::vector<float> clusters(Index n, Index d, std::uint64_t seed) {
  constexpr Index centres = 40;
  fwsr::Rng rng(seed);
  std::vector<double> middle;
  for (Index c = 0; c < centres * d; ++c) middle.push_back(3 * rng.normal());
  std::vector<float> x(static_cast<std::size_t>(n * d));
  fwsr::for_blocks(fwsr::default_threads(), n, [&](Index b, Index first, Index last) {
    fwsr::Rng own = fwsr::Rng(seed).split(static_cast<std::uint64_t>(b) + 1);
    for (Index i = first; i < last; ++i) {
      const auto c = static_cast<Index>(own.below(centres) * own.below(centres) / centres);
      const double spread = 0.5 + static_cast<double>(c) / centres;
      for (Index l = 0; l < d; ++l) {
        // The sum of three uniform numbers: near enough to normal, and quickly made.
        const double v = own.uniform() + own.uniform() + own.uniform() - 1.5;
        x[static_cast<std::size_t>(i * d + l)] =
            static_cast<float>(middle[static_cast<std::size_t>(c * d + l)] + 2 * spread * v);
      }
    }
  });
  return x;
}

TEST_F(CudaPicks, of_twenty_large_random_problems) {
  Tally tally;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    fwsr::Rng rng(1000 + seed);
    const Index n = seed < 16 ? 100'000 + static_cast<Index>(rng.below(200'000))
                              : 400'000 + static_cast<Index>(rng.below(600'001));
    const Index d = 4 + static_cast<Index>(rng.below(n > 300'000 ? 28 : 92));
    const std::vector<float> x = clusters(n, d, seed);
    SelectOptions o{.exemplars = 5 + static_cast<Index>(rng.below(20))};
    o.precise = true;
    if (seed % 3 == 1) o.alpha = 0.5 + 20 * rng.uniform();
    if (seed % 3 == 2) o.rank = 64;
    compare(MatrixView<const float>{x.data(), n, d}, {{seed % 3 == 2 ? "k-fwsr" : "fwsr", o}},
            fmt::format("seed {}: {} x {}, k = {}", seed, n, d, o.exemplars), tally);
  }
  tally.tell("random problems of 100,000 to 1,000,000 points");
}

/// Files of $FWSR_DATA; those that are not there are passed over with a line.
TEST_F(CudaPicks, of_real_data) {
  const char* const folder = std::getenv("FWSR_DATA");
  if (!folder) GTEST_SKIP() << "FWSR_DATA names no folder with the real data";
  Tally tally;
  for (const char* const name :
       {"mnist/t10k-images-idx3-ubyte.gz", "mnist/train-images-idx3-ubyte.gz",
        "yaleb/YaleB_32x32.mat", "credit/credit_paper5492_X_f32.npy"}) {
    const std::string path = std::string(folder) + "/" + name;
    if (!std::filesystem::exists(path)) {
      fmt::print("no {}\n", path);
      continue;
    }
    fwsr::ReadOptions how;
    if (path.ends_with(".mat")) how.variable = "fea", how.label_column = "gnd";
    const auto data = fwsr::read_dataset(path, how);
    if (!data) {
      fmt::print("{}: {}\n", path, data.error().message);
      continue;
    }
    compare(data->view(), ways(20, rows_of(data->view()) <= 20'000), name, tally);
  }
  tally.tell("real data");
}

}  // namespace
