#include "fwsr/base/labels.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fwsr/base/random.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/methods/compare.hpp"
#include "fwsr/methods/methods.hpp"
#include "fwsr/views.hpp"

namespace fwsr {
namespace {

using Words = std::vector<std::string>;

TEST(Labels, of_words_have_codes_in_the_order_of_their_names) {
  const Labels labels(Words{"dog", "cat", "dog", "", "cat"});
  EXPECT_EQ(labels.names(), (Words{"dog", "cat", ""}));
  EXPECT_EQ(labels.codes(), (std::vector<Labels::Code>{0, 1, 0, 2, 1}));
  EXPECT_EQ(labels.counts(), (std::vector<Index>{2, 2, 1}));
  EXPECT_EQ(labels[2], "dog");
  EXPECT_EQ(labels.words(), (Words{"dog", "cat", "dog", "", "cat"}));
}

TEST(Labels, of_integers_are_called_as_they_are_written) {
  EXPECT_EQ(Labels(std::vector<int>{3, -7, 3}).words(), (Words{"3", "-7", "3"}));
  EXPECT_EQ(Labels(std::vector<std::uint64_t>{UINT64_MAX})[0], "18446744073709551615");
}

TEST(Labels, of_codes_and_names_join_equal_names_and_may_have_names_without_points) {
  const Labels labels({2, 0, 1, 2}, {"a", "b", "a", "nobody"});
  EXPECT_EQ(labels.names(), (Words{"a", "b", "nobody"}));
  EXPECT_EQ(labels.counts(), (std::vector<Index>{3, 1, 0}));
  EXPECT_EQ(labels, Labels(Words{"a", "a", "b", "a"}));
  EXPECT_FALSE(labels == Labels(Words{"a", "a", "b", "b"}));
  EXPECT_FALSE(labels == Labels(Words{"a", "a", "b"}));
}

TEST(Labels, refuse_codes_without_a_name) {
  for (const Labels::Code code : {-1, 2}) {
    try {
      const Labels labels({0, code}, {"a", "b"});
      ADD_FAILURE() << code << " was taken";
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("point 1 has the class code " + std::to_string(code)),
                std::string::npos)
          << e.what();
    }
  }
  EXPECT_THROW(Labels({0}, {}), Error);
}

TEST(Labels, keep_thousands_of_names_apart) {
  Rng rng(1);
  Words words;
  for (int i = 0; i < 20000; ++i) words.push_back(std::to_string(rng.below(5000)));
  const Labels labels(words);
  EXPECT_EQ(labels.words(), words);
  std::map<std::string, Index> counts;
  for (const std::string& word : words) ++counts[word];
  ASSERT_EQ(labels.names().size(), counts.size());
  const std::vector<Index> found = labels.counts();
  for (std::size_t c = 0; c < found.size(); ++c) EXPECT_EQ(found[c], counts[labels.names()[c]]);
}

TEST(Labels, take_four_bytes_a_point_whatever_the_names) {
  Labels labels;
  labels.reserve(100000);
  for (int i = 0; i < 100000; ++i)
    labels.add(i % 2 ? "a name that is longer than a string holds within itself" : "b");
  EXPECT_LT(labels.bytes(), 4 * 100000 + 1000);
}

TEST(Labels, as_codes_words_and_integers_give_the_same_classes) {
  std::vector<double> x;
  for (int i = 0; i < 90; ++i) x.push_back(i * 31 % 17);
  const auto points = view(x, 30, 3);
  Words words;
  std::vector<int> numbers;
  std::vector<Labels::Code> codes;
  for (int i = 0; i < 30; ++i) {
    numbers.push_back(i * i % 3 == 0 ? 10 : 9);
    words.push_back(std::to_string(numbers.back()));
    codes.push_back(numbers.back() == 10 ? 0 : 2);
  }
  const ClassCounts two{.number = 2};
  const Labels coded(codes, {"10", "none of them", "9"});
  const auto by_words = select_per_class(points, words, two, {});
  ASSERT_EQ(by_words.size(), 2u);
  EXPECT_EQ(by_words[0].name, "9");  // numbers by value
  for (const Labels& labels : {Labels(numbers), coded}) {
    const auto same = select_per_class(points, labels, two, {}, MethodChoice{});
    ASSERT_EQ(same.size(), 2u);
    for (std::size_t c = 0; c < 2; ++c) {
      EXPECT_EQ(same[c].name, by_words[c].name);
      EXPECT_EQ(same[c].members, by_words[c].members);
      EXPECT_EQ(same[c].selection.exemplars, by_words[c].selection.exemplars);
    }
  }
  // A class without points can have no exemplar, and is not missed.
  const SelectOptions four{.exemplars = 4};
  const Judge judge(points, coded, four), by_word(points, words, four);
  const std::vector<Index> picks{0, 1, 2, 3};
  EXPECT_EQ(judge.of(picks).class_coverage, 1.0);
  EXPECT_EQ(judge.of(picks).nearest_accuracy, by_word.of(picks).nearest_accuracy);
  EXPECT_THROW(Judge(points, Labels(Words{"a"}), four), Error);
}

}  // namespace
}  // namespace fwsr
