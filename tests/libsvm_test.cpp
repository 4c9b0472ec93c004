#include "fwsr/data/libsvm.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "fwsr/base/random.hpp"
#include "fwsr/data/formats.hpp"
#include "memory_file.hpp"

namespace fwsr {
namespace {

using testing::expect_failure;
using testing::memory_file;
using Words = std::vector<std::string>;
using Integers = std::vector<std::int64_t>;

Result<Dataset> read(std::string_view text, const ReadOptions& options = {}) {
  return read_libsvm(memory_file(text, "a.svm"), options);
}

const SparseMatrix<double>& points_of(const Dataset& data) {
  return std::get<SparseMatrix<double>>(data.points);
}

TEST(Libsvm, reads_points_and_labels) {
  const auto data = read("# made by hand\n+1 1:0.5 4:-2e1 # the first\r\n\n-1\n2.0\t2:+3\n");
  ASSERT_TRUE(data) << data.error().message;
  const auto& points = points_of(*data);
  EXPECT_EQ(points.rows, 3);
  EXPECT_EQ(points.cols, 4);
  EXPECT_EQ(points.starts, (Integers{0, 2, 2, 3}));
  EXPECT_EQ(points.columns, (Integers{0, 3, 1}));
  EXPECT_EQ(points.values, (std::vector<double>{0.5, -20, 3}));
  EXPECT_EQ(data->labels, (Words{"1", "-1", "2"}));
  EXPECT_EQ(data->lines, (Integers{2, 4, 5}));
  EXPECT_TRUE(data->notes.empty());
  EXPECT_EQ(data->format, "libsvm");
  EXPECT_TRUE(is_sparse(data->view()));
  EXPECT_EQ(entries_of(data->view()), 3);
}

TEST(Libsvm, keeps_labels_as_text) {
  const auto data = read("cat 1:1\n1.5 1:1\n1,7 1:1\n007 1:1\n1.000e+01 1:1");
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->labels, (Words{"cat", "1.5", "1,7", "007", "10"}));
}

TEST(Libsvm, counts_from_zero_when_an_index_is_zero) {
  const auto data = read("1 1:5 2:6\n1 0:7\n");
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(points_of(*data).cols, 3);
  EXPECT_EQ(points_of(*data).columns, (Integers{1, 2, 0}));
  EXPECT_EQ(data->notes.size(), 1u);
}

TEST(Libsvm, says_where_and_what_is_wrong) {
  expect_failure(read(""), "a.svm: is empty");
  expect_failure(read("# nothing\n"), "a.svm: has no features");
  expect_failure(read("1\n2\n"), "a.svm: has no features");
  expect_failure(read("1 1:2\n1 3:1 2:1\n"), "a.svm:2:7: index 2 comes after 3; sort");
  expect_failure(read("1 1:2\n1 3:1  3:1\n"), "a.svm:2:8: index 3 repeats 3; sort");
  expect_failure(read("1 qid:3 1:2\n"), "a.svm:1:3: qid");
  expect_failure(read("1:2 2:3\n"), "a.svm:1:1: '1:2' stands where the label");
  expect_failure(read("1 1:\n"), "a.svm:1:5: is empty");
  expect_failure(read("1 1:x\n"), "a.svm:1:5: 'x' is not a number");
  expect_failure(read("1 1:1e999\n"), "a.svm:1:5: '1e999' is beyond");
  expect_failure(read("1 1:1:2\n"), "a.svm:1:5: '1:2' is not a number");
  expect_failure(read("1 2\n"), "a.svm:1:3: '2' is not index:value");
  expect_failure(read("1 -1:2\n"), "a.svm:1:3: '-1:2' is not index:value");
  expect_failure(read("1 1: 2\n"), "a.svm:1:5: is empty");
  expect_failure(read("1 99999999999999999999:2\n"), "a.svm:1:3: index '99999999999999999999' is");
  expect_failure(read("1 9999999999999:2\n"), "a.svm:1:3: index '9999999999999' is too large");
  expect_failure(read("1 1:2\n", {.label_column = "1"}), "a.svm: ", {"label column '1'"});
  expect_failure(read("1 1:2\n", {.header = Header::yes}), "a.svm: ", {"header"});
}

TEST(Libsvm, keeps_nan_and_inf_for_others_to_refuse) {
  const auto data = read("1 1:nan 2:-inf\n");
  ASSERT_TRUE(data);
  EXPECT_TRUE(std::isnan(points_of(*data).values[0]));
  EXPECT_EQ(points_of(*data).values[1], -INFINITY);
}

TEST(Libsvm, is_told_from_csv_by_content) {
  const auto recognises = [](std::string_view text, const char* name = "data") {
    return libsvm_format().recognises(memory_file(text, name));
  };
  EXPECT_TRUE(recognises("+1 1:0.5\n"));
  EXPECT_TRUE(recognises("# comment\n\n1\n-1\t3:4 5:6 # x\n"));
  EXPECT_TRUE(recognises("1,2 1:0.5\n"));
  EXPECT_TRUE(recognises("1 qid:7 1:0.5\n"));
  EXPECT_TRUE(recognises("1\n2\n", "a.svm"));
  EXPECT_FALSE(recognises("1\n2\n"));
  EXPECT_FALSE(recognises("1,2\n3,4\n"));
  EXPECT_FALSE(recognises("2020-01-01 12:30,5\n"));
  EXPECT_FALSE(recognises("2020-01-01 12:30:00\n"));
  EXPECT_FALSE(recognises("a 1:b,2\n"));
  EXPECT_FALSE(recognises("+1 1:0.5\n", "a.csv"));
  EXPECT_FALSE(recognises(std::string_view("1 1:2\0\n", 7)));
  EXPECT_FALSE(recognises(""));
}

void expect_same(const Result<Dataset>& a, const Result<Dataset>& b) {
  ASSERT_EQ(a.has_value(), b.has_value()) << (a ? b : a).error().message;
  if (!a) {
    EXPECT_EQ(a.error().message, b.error().message);
    return;
  }
  EXPECT_EQ(points_of(*a).cols, points_of(*b).cols);
  EXPECT_EQ(points_of(*a).starts, points_of(*b).starts);
  EXPECT_EQ(points_of(*a).columns, points_of(*b).columns);
  EXPECT_EQ(points_of(*a).values, points_of(*b).values);
  EXPECT_EQ(a->labels, b->labels);
  EXPECT_EQ(a->lines, b->lines);
  EXPECT_EQ(a->notes, b->notes);
}

TEST(Libsvm, is_the_same_for_any_threads_and_chunks) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Rng rng(seed);
    std::string text;
    for (auto rows = 1 + rng.below(20); rows > 0; --rows) {
      text += std::to_string(rng.below(3));
      std::uint64_t index = rng.below(2);
      for (auto entries = rng.below(5); entries > 0; --entries)
        text +=
            " " + std::to_string(index += 1 + rng.below(4)) + ":" + std::to_string(rng.below(9));
      text += Words{"\n", " # \"note\n", "\r\n", "\n\n"}[rng.below(4)];
    }
    if (seed % 4 == 0) text[rng.below(text.size())] = 'x';
    ReadOptions options;
    const auto whole = read(text);
    for (const Index chunk : {1, 2, 5, 16, 64})
      for (const int threads : {1, 2, 3, 8}) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed << ", chunks of " << chunk << ", "
                                          << threads << " threads:\n"
                                          << text);
        options.threads = threads;
        expect_same(whole, read_libsvm(memory_file(text, "a.svm"), options, chunk));
      }
  }
}

TEST(Libsvm, survives_damage) {
  const std::string text = "# x\n+1 1:0.5 12:-2e1 # y\r\n\n-1\n2.0\t2:+3 3:7\n";
  testing::expect_survives_damage(text, "a.svm", [](const std::string& broken) {
    auto whole = read(broken);
    expect_same(whole, read_libsvm(memory_file(broken, "a.svm"), {}, 5));
    return whole;
  });
}

}  // namespace
}  // namespace fwsr
