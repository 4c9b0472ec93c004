// The list of what a run says, and the page that repeats it.
#include "fwsr/solver/result_fields.hpp"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fwsr/methods/compare_fields.hpp"

namespace fwsr {
namespace {

struct Field {
  std::string name, sentence;
};

template <class T>
std::vector<Field> fields_of() {
  std::vector<Field> all;
  const T any{};
  describe(any, [&](const char* name, const auto&, const char* sentence) {
    all.push_back({name, sentence});
  });
  return all;
}

std::string json_page() {
  std::ifstream file(std::string(FWSR_SOURCE_DIR) + "/docs/json.md");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Whether a line of a table of the page has the key, and says this about it before anything else.
bool page_says(const std::string& page, const std::string& key, const std::string& sentence) {
  return page.find("\n| `" + key + "` | " + sentence) != std::string::npos;
}

template <class T>
void expect_on_page(const std::string& prefix, const std::set<std::string>& not_in_json = {}) {
  const std::string page = json_page();
  ASSERT_FALSE(page.empty());
  for (const Field& f : fields_of<T>()) {
    if (not_in_json.contains(f.name)) continue;
    EXPECT_TRUE(page_says(page, prefix + f.name, f.sentence))
        << "docs/json.md: no line of a table begins with\n| `" << prefix << f.name << "` | "
        << f.sentence;
  }
}

TEST(ResultFields, TheJsonPageSaysOfEveryFieldWhatTheListSays) {
  // Codes go to a file of their own, coefficients stay in C++ and Python.
  expect_on_page<Selection>("", {"codes", "coefficients", "seconds"});
  expect_on_page<Step>("trace[].");
  expect_on_page<Certificate>("certificate.");
  expect_on_page<Seconds>("seconds.");
  expect_on_page<Plan>("");
  expect_on_page<SweepPlan>("");
  expect_on_page<Comparison>("methods[].");
  for (const Measure& m : measures())
    EXPECT_TRUE(page_says(json_page(), m.name, m.about)) << m.name;
}

TEST(ResultFields, ThePageIsNotBelievedToSayEverything) {
  EXPECT_FALSE(page_says(json_page(), "exemplars", "something else"));
  EXPECT_FALSE(page_says(json_page(), "no_such_key", ""));
}

template <class T>
void expect_whole_sentences() {
  std::set<std::string> names;
  for (const Field& f : fields_of<T>()) {
    EXPECT_TRUE(names.insert(f.name).second) << f.name << " is listed twice";
    EXPECT_EQ(std::count(f.sentence.begin(), f.sentence.end(), '`') % 2, 0) << f.sentence;
    EXPECT_NE(f.sentence.back(), '.') << f.sentence;
  }
}

TEST(ResultFields, NamesAreListedOnceAndSentencesHaveNoFullStop) {
  expect_whole_sentences<Selection>();
  expect_whole_sentences<Step>();
  expect_whole_sentences<Certificate>();
  expect_whole_sentences<Plan>();
  expect_whole_sentences<SweepPlan>();
  expect_whole_sentences<Comparison>();
}

TEST(ResultFields, ACertificateOfAnotherProblemHasNoWordAboutCodes) {
  Certificate other;
  other.f = other.gap = std::numeric_limits<double>::quiet_NaN();
  int none = 0;
  describe(other, [&](const char* name, const auto& value, const char*) {
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, std::optional<bool>>) {
      EXPECT_FALSE(value.has_value()) << name;
      ++none;
    } else if constexpr (std::is_same_v<Value, double>) {
      const std::string_view known = name;
      EXPECT_EQ(std::isfinite(value),
                !(known == "f" || known == "gap" || known == "f_error" || known == "gap_error"))
          << name;
    }
  });
  EXPECT_EQ(none, 2);
}

TEST(ResultFields, TheMemoryOfAPlanIsThatOfAllItsThreads) {
  const std::vector<double> numbers(4000 * 40, 1.5);
  const MatrixView<const double> points{numbers.data(), 4000, 40, 40};
  const Plan one = plan(points, {.exemplars = 5, .threads = 1});
  const Plan three = plan(points, {.exemplars = 5, .threads = 3});
  ASSERT_GT(one.memory_per_thread, 0);
  EXPECT_EQ(one.memory_per_thread, three.memory_per_thread);
  EXPECT_EQ(three.memory_bytes - one.memory_bytes, 2 * one.memory_per_thread);
}

TEST(ResultFields, FieldsOfAnAnswerThatMayChangeCanBeTakenOutOfIt) {
  Selection s;
  s.weights = {1, 2};
  std::vector<double> taken;
  describe(s, [&](const char* name, auto&& value, const char*) {
    if constexpr (std::is_same_v<decltype(value), std::vector<double>&>)
      if (std::string_view(name) == "weights") taken.swap(value);
  });
  EXPECT_EQ(taken, std::vector<double>({1, 2}));
  EXPECT_TRUE(s.weights.empty());
}

}  // namespace
}  // namespace fwsr
