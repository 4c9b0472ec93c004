// An observer that said stop, or threw, is never called again: by any method, class by class, in sweeps and comparisons.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "fwsr/base/result.hpp"
#include "fwsr/methods/compare.hpp"
#include "fwsr/methods/methods.hpp"
#include "fwsr/solver/sweep.hpp"
#include "problems.hpp"

namespace {

using fwsr::Index;
using fwsr::MethodChoice;
using fwsr::Observer;
using fwsr::Progress;
using fwsr::SelectOptions;
using problems::Data;

Data points() {
  fwsr::Rng rng(5);
  constexpr Index n = 900, d = 12;
  return Data(n, d, problems::make_values(problems::Kind::gaussian, n, d, true, rng),
              problems::Storage::dense_f64);
}

std::vector<std::string> three_labels() {
  std::vector<std::string> labels;
  for (int i = 0; i < 900; ++i) labels.push_back(std::string(1, static_cast<char>('a' + i % 3)));
  return labels;
}

enum class Answer { stop, exception, error };

/// Answers the third question, and counts.
struct Tired {
  Answer answer;
  std::atomic<int> calls = 0;

  bool operator()() {
    if (++calls < 3) return true;
    if (answer == Answer::exception) throw std::runtime_error("enough");
    if (answer == Answer::error) throw fwsr::Error("enough");
    return false;
  }
};

/// Runs `work(observer)` with each answer: it is called three times, and what it threw comes out.
template <class Work>
void expect_no_fourth_call(const Work& work) {
  for (const Answer answer : {Answer::stop, Answer::exception, Answer::error}) {
    Tired tired{.answer = answer};
    bool threw = false;
    try {
      work([&tired] { return tired(); });
    } catch (const fwsr::Interrupted&) {
      EXPECT_EQ(answer, Answer::stop);
    } catch (const std::exception& e) {
      EXPECT_STREQ(e.what(), "enough");
      threw = true;
    }
    EXPECT_EQ(tired.calls, 3);
    EXPECT_EQ(threw, answer != Answer::stop);
  }
}

SelectOptions some() {
  return {.exemplars = 6, .threads = 2};
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const fwsr::Method& m : fwsr::methods())
    if (m.name != "random") all.push_back(m.name);  // is done before it could ask three times
  return all;
}

class Watched : public testing::TestWithParam<std::string> {};

TEST_P(Watched, is_not_asked_again_by_any_method) {
  const Data data = points();
  expect_no_fourth_call([&](const auto& ask) {
    fwsr::select(data.view(), some(), MethodChoice{.name = GetParam()},
                 [&](const Progress&) { return ask(); });
  });
}

TEST_P(Watched, is_not_asked_again_class_by_class) {
  const Data data = points();
  expect_no_fourth_call([&](const auto& ask) {
    fwsr::select_per_class(data.view(), three_labels(), fwsr::ClassCounts{.number = 3}, some(),
                           MethodChoice{.name = GetParam()},
                           [&](const Progress&) { return ask(); });
  });
}

INSTANTIATE_TEST_SUITE_P(Methods, Watched, testing::ValuesIn(names()), [](const auto& one) {
  std::string name = one.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

TEST(Watch, of_a_sweep_is_not_asked_again) {
  const Data data = points();
  for (const fwsr::KernelType kernel : {fwsr::KernelType::linear, fwsr::KernelType::rbf}) {
    SelectOptions options = some();
    options.kernel.type = kernel;
    expect_no_fourth_call([&](const auto& ask) {
      fwsr::sweep(data.view(), options, {2.0, 10.0}, {0.0, 0.3},
                  [&](const Progress&) { return ask(); });
    });
    expect_no_fourth_call([&](const auto& ask) {
      fwsr::sweep_per_class(data.view(), three_labels(), fwsr::ClassCounts{.number = 3}, options,
                            {2.0, 10.0}, {0.0, 0.3}, [&](const Progress&) { return ask(); });
    });
  }
}

TEST(Watch, of_a_comparison_is_not_asked_again) {
  const Data data = points();
  std::vector<fwsr::Contestant> contestants;
  for (const char* name : {"rrqr", "kmedoids", "fwsr"})
    contestants.push_back({.name = name, .request = fwsr::Request(some(), {.name = name})});
  expect_no_fourth_call([&](const auto& ask) {
    fwsr::compare(data.view(), {}, contestants, some(), {},
                  [&](const fwsr::CompareProgress&) { return ask(); });
  });
}

}  // namespace
