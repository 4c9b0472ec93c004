#include "fwsr/data/csv.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "fwsr/base/random.hpp"
#include "memory_file.hpp"

namespace fwsr {
namespace {

using testing::expect_failure;
using testing::memory_file;
using Words = std::vector<std::string>;

Result<Dataset> read(std::string_view text, const ReadOptions& options = {}) {
  return read_csv(memory_file(text, "a.csv"), options);
}

const std::vector<double>& values_of(const Dataset& data) {
  return std::get<DenseMatrix<double>>(data.points).values;
}

/// Reads well, with these numbers row by row.
void expect_values(std::string_view text, Index cols, const std::vector<double>& values,
                   const ReadOptions& options = {}) {
  SCOPED_TRACE(text);
  const auto data = read(text, options);
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(std::get<DenseMatrix<double>>(data->points).cols, cols);
  EXPECT_EQ(values_of(*data), values);
  EXPECT_EQ(rows_of(data->view()) * cols, std::ssize(values));
  EXPECT_EQ(std::ssize(data->lines), rows_of(data->view()));
}

TEST(Csv, stops_when_asked_to) {
  const ReadOptions options{.keep_going = [] { return false; }};
  EXPECT_THROW((void)read("1,2\n3,4\n", options), Interrupted);
}

TEST(Csv, reads_plain_numbers) {
  expect_values("1,2\n3,4\n", 2, {1, 2, 3, 4});
  expect_values("1,2\n3,4", 2, {1, 2, 3, 4});
  expect_values("1,2\r\n3,4\r\n", 2, {1, 2, 3, 4});
  expect_values(
      "\xEF\xBB\xBF"
      "1,2\n3,4\n\n \n\r\n",
      2, {1, 2, 3, 4});
  expect_values("1\t2\n3\t4\n", 2, {1, 2, 3, 4});
  expect_values("1;2\n3;4\n", 2, {1, 2, 3, 4});
  expect_values("5", 1, {5});
  expect_values("5\n6\n", 1, {5, 6});
}

/// Numbers of few digits are not read by the library's from_chars; their bits are those of strtod all the same.
TEST(Csv, a_number_is_the_nearest_double_however_many_digits_it_has) {
  Rng rng(77);
  std::string text;
  std::vector<double> wanted;
  for (int i = 0; i < 20000; ++i) {
    const Index whole = 1 + static_cast<Index>(rng.below(9)),
                behind = static_cast<Index>(rng.below(12));
    std::string number = rng.below(2) == 0 ? "-" : "";
    for (Index digit = 0; digit < whole; ++digit) number += static_cast<char>('0' + rng.below(10));
    if (behind > 0) number += '.';
    for (Index digit = 0; digit < behind; ++digit) number += static_cast<char>('0' + rng.below(10));
    if (rng.below(8) == 0) number += "e" + std::to_string(static_cast<int>(rng.below(40)) - 20);
    text += number + ",1\n";
    wanted.push_back(std::strtod(number.c_str(), nullptr));
    wanted.push_back(1);
  }
  const auto data = read(text, {.header = Header::no});
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(std::memcmp(values_of(*data).data(), wanted.data(), wanted.size() * sizeof(double)), 0);
}

TEST(Csv, reads_numbers_in_every_spelling) {
  expect_values(" +1.5 ,-2e-3,\t.25,1e3\n4.,\"7\", \" 8 \" ,-0\n", 4,
                {1.5, -2e-3, .25, 1000, 4, 7, 8, 0});
  expect_values("1e-999,-1e-400,0.1e-9999999999999999999999\n", 3, {0, 0, 0});
  const auto data = read("nan,inf\n-inf,NaN\n");
  ASSERT_TRUE(data);
  EXPECT_TRUE(std::isnan(values_of(*data)[0]));
  EXPECT_EQ(values_of(*data)[1], INFINITY);
  EXPECT_EQ(values_of(*data)[2], -INFINITY);
}

TEST(Csv, finds_a_header_by_itself) {
  const auto data = read("a,b\n1,2\n");
  ASSERT_TRUE(data);
  EXPECT_EQ(data->columns, (Words{"a", "b"}));
  EXPECT_EQ(values_of(*data), (std::vector<double>{1, 2}));
  EXPECT_EQ(data->lines, (std::vector<std::int64_t>{2}));
  EXPECT_EQ(data->format, "csv");
  EXPECT_EQ(data->name, "a.csv");
}

TEST(Csv, does_as_told_about_the_header) {
  expect_values("1,2\n3,4\n", 2, {3, 4}, {.header = Header::yes});
  expect_failure(read("a,b\n1,2\n", {.header = Header::no}), "a.csv:1:1: field 1: 'a' is not");
  // Words in a label column say nothing about a header.
  expect_values("x,1\ny,2\n", 1, {1, 2}, {.label_column = "1"});
  // A gap in the first record makes it no header.
  expect_failure(read("1,,3\n4,5,6\n"), "a.csv:1:3: field 2: is empty");
  expect_failure(read("1,NA\n4,5\n"), "a.csv:1:3: field 2: is missing ('NA')");
}

TEST(Csv, takes_labels_ids_and_columns_by_name_or_number) {
  const std::string text = "id,x,class,y\np 1,1,cat,2\np 2,3,dog,4\n";
  for (const bool named : {true, false}) {
    const auto data = read(text, named ? ReadOptions{.label_column = "class", .id_column = "id"}
                                       : ReadOptions{.label_column = "3", .id_column = "1"});
    ASSERT_TRUE(data) << data.error().message;
    EXPECT_EQ(data->labels, (Words{"cat", "dog"}));
    EXPECT_EQ(data->ids, (Words{"p 1", "p 2"}));
    EXPECT_EQ(data->columns, (Words{"x", "y"}));
    EXPECT_EQ(values_of(*data), (std::vector<double>{1, 2, 3, 4}));
  }
  const auto chosen = read(text, {.columns = {"y", "2"}});
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(chosen->columns, (Words{"y", "x"}));
  EXPECT_EQ(values_of(*chosen), (std::vector<double>{2, 1, 4, 3}));
}

TEST(Csv, prefers_a_name_to_a_number) {
  expect_values("1999,1,x\n5,6,7\n", 1, {5}, {.columns = {"1999"}});
  expect_values("3,1,x\n5,6,7\n", 2, {5, 7}, {.label_column = "1"});
}

TEST(Csv, refuses_columns_that_are_not_there) {
  expect_failure(read("a,b\n1,2\n", {.label_column = "c"}),
                 "a.csv: ", {"no column 'c'", "'a', 'b'"});
  expect_failure(read("a,b\n1,2\n", {.columns = {"3"}}), "a.csv: ", {"no column 3", "1 to 2"});
  expect_failure(read("a,b\n1,2\n", {.columns = {"0"}}), "a.csv: ", {"no column 0", "1 to 2"});
  expect_failure(read("1,2\n", {.id_column = "a", .header = Header::no}),
                 "a.csv: ", {"without a header"});
  expect_failure(read("a,b,a\n1,2,3\n", {.label_column = "a"}), "a.csv: several columns");
  expect_failure(read("a,b\n1,2\n", {.columns = {"a", "1"}}), "a.csv: ", {"twice"});
  expect_failure(read("a,b\n1,2\n", {.label_column = "a", .columns = {"a"}}), "a.csv: ");
  expect_failure(read("a\n1\n", {.label_column = "a"}), "a.csv: no column is left");
  expect_failure(read("1,2\n", {.variable = "X"}), "a.csv: variable 'X'");
  std::string wide = "c0";
  for (int c = 1; c < 100; ++c) wide += ",c" + std::to_string(c);
  expect_failure(read(wide + "\n", {.label_column = "d"}), "a.csv: ", {"'c9' and 90 more"});
}

TEST(Csv, reads_quoted_fields) {
  const auto data =
      read("\"a \"\"b\"\", c\",x,\"label\"\n\"1\",2,\"one\ntwo\"\n3,\"4\" ,\"\"\"\"\r\n",
           {.label_column = "label"});
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->columns, (Words{"a \"b\", c", "x"}));
  EXPECT_EQ(data->labels, (Words{"one\ntwo", "\""}));
  EXPECT_EQ(values_of(*data), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(data->lines, (std::vector<std::int64_t>{2, 4}));
}

TEST(Csv, recognises_the_separator) {
  expect_values("a;b\n1;2\n", 2, {1, 2});
  expect_values("name;unit,b,c\n1,2,3\n", 3, {1, 2, 3});
  expect_values("a,b\tc\n1\t2\n", 2, {1, 2});
  expect_values("\"a;b;c\",d\n1,2\n", 2, {1, 2});
  expect_failure(read("1,5;2,5\n3,5;4,5\n"), "a.csv:1:1: field 1: '1,5' has a decimal comma");
  expect_failure(read("1.5 2.5\n3.5 4.5\n"), "a.csv:1:1: field 1: '1.5 2.5' holds several");
}

TEST(Csv, says_where_and_what_is_wrong) {
  expect_failure(read(""), "a.csv: is empty");
  expect_failure(read("\xEF\xBB\xBF\r\n \n"), "a.csv: is empty");
  expect_failure(read("a,b\n"), "a.csv: has a header and no points");
  expect_failure(read("1,2\r3,4\r"), "a.csv: its lines end in a carriage return");
  expect_failure(read("5\n\n6\n"), "a.csv:2:1: blank line");
  expect_failure(read("a\n\n6\n"), "a.csv:2:1: blank line");
  expect_failure(read("a\n1\n\n3\n"), "a.csv:3:1: blank line");
  expect_failure(read("a,b\n1,2\n3\n"), "a.csv:3:1: 1 field where the first record has 2");
  expect_failure(read("a,b\n1,2\n3,4,5,6\n"), "a.csv:3:1: 4 fields where the first record has 2");
  expect_failure(read("a,b\n1,2\n3, x\n"), "a.csv:3:4: field 2 ('b'): 'x' is not a number");
  expect_failure(read("a,b\n1,2\n3,\n"), "a.csv:3:3: field 2 ('b'): is empty");
  expect_failure(read("a,b\n1,1e999\n"), "a.csv:2:3: field 2 ('b'): '1e999' is beyond");
  expect_failure(read("a,b\n1,+-2\n"), "a.csv:2:3: field 2 ('b'): '+-2' is not a number");
  expect_failure(read("a,b\n1,0x10\n"), "a.csv:2:3: field 2 ('b'): '0x10' is not a number");
  expect_failure(read("a,b\n1,\"2\n"), "a.csv:2:3: a quote is opened here");
  expect_failure(read("a,b\n1,2\"\n"), "a.csv:2:4: a quote inside a field");
  expect_failure(read("a,b\n1,\"2\"3\n"), "a.csv:2:6: text after a closing quote");
  expect_failure(read("a,b\n,2\n", {.label_column = "a"}), "a.csv:2:1: field 1 ('a'): the label");
  expect_failure(read("l,b\n\"x\ny\",2\nz,w\n", {.label_column = "l"}), "a.csv:4:3: field 2 ('b')");
}

TEST(Csv, shortens_what_it_shows) {
  const auto data = read("a\n" + std::string(5000, 'x') + "\n");
  ASSERT_FALSE(data);
  EXPECT_LT(data.error().message.size(), 200u);
}

TEST(Csv, takes_no_memory_that_the_file_does_not_justify) {
  // The line breaks promise 10^5 rows of 10^5 numbers, 75 GiB.
  std::string text = "1";
  for (int c = 1; c < 100'000; ++c) text += ",1";
  const std::string first = text;
  for (int r = 0; r < 100'000; ++r) text += "\n1";
  expect_failure(read(text), "a.csv:2:1: 1 field where");
}

// ------------------------------------------------------------------------- threads and chunks

void expect_same(const Result<Dataset>& a, const Result<Dataset>& b) {
  ASSERT_EQ(a.has_value(), b.has_value()) << (a ? b : a).error().message;
  if (!a) {
    EXPECT_EQ(a.error().message, b.error().message);
    return;
  }
  EXPECT_EQ(values_of(*a), values_of(*b));
  EXPECT_EQ(a->labels, b->labels);
  EXPECT_EQ(a->ids, b->ids);
  EXPECT_EQ(a->columns, b->columns);
  EXPECT_EQ(a->lines, b->lines);
  EXPECT_EQ(a->table, b->table);
}

/// A table with a number, a text full of quotes, separators and line breaks, and a number.
std::string nasty_table(std::uint64_t seed, bool header) {
  Rng rng(seed);
  std::string text = header ? "x,\"the\nlabel\",y\n" : "";
  for (std::uint64_t rows = 1 + rng.below(12); rows > 0; --rows) {
    text += std::to_string(rng.below(1000)) + ",\"";
    for (auto pieces = rng.below(6); pieces > 0; --pieces)
      text += Words{"\n", "\"\"", ",", "\r\n", "text", "\"\"\n\"\""}[rng.below(6)];
    text += "l\"," + std::to_string(rng.below(1000)) + (rng.below(2) ? "\r\n" : "\n");
    while (rng.below(4) == 0) text += Words{"\n", " \r\n", "\r\n"}[rng.below(3)];
  }
  return text;
}

TEST(Csv, is_the_same_for_any_threads_and_chunks) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    std::string text = nasty_table(seed, seed % 2 == 0);
    Rng rng(seed + 1000);
    if (seed % 3 == 0) text[rng.below(text.size())] = "\"x,\n"[rng.below(4)];  // mostly broken
    ReadOptions options{.label_column = "2"};
    const auto whole = read(text, options);
    for (const Index chunk : {1, 2, 3, 7, 16, 64})
      for (const int threads : {1, 2, 3, 8}) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed << ", chunks of " << chunk << ", "
                                          << threads << " threads:\n"
                                          << text);
        options.threads = threads;
        expect_same(whole, read_csv(memory_file(text, "a.csv"), options, chunk));
      }
  }
}

TEST(Csv, reads_what_was_written) {
  // The oracle: the very rows that the text was made from.
  Rng rng(5);
  std::vector<double> numbers;
  Words labels;
  std::string text = "a,l,b\n";
  for (int row = 0; row < 300; ++row) {
    const std::string label = "row\n\"" + std::to_string(row) + "\",";
    std::string quoted;
    for (const char c : label) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    const double a = rng.normal(), b = rng.normal() * 1e300;
    char line[128];
    std::snprintf(line, sizeof line, "%.17g,\"%s\",%.17g\n", a, quoted.c_str(), b);
    text += line;
    numbers.insert(numbers.end(), {a, b});
    labels.push_back(label);
  }
  const auto data = read_csv(memory_file(text), {.label_column = "l", .threads = 3}, 50);
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(values_of(*data), numbers);
  EXPECT_EQ(data->labels, labels);
  for (std::size_t r = 0; r < 300; ++r)
    EXPECT_EQ(data->lines[r], static_cast<std::int64_t>(2 * r + 2));
}

TEST(Csv, survives_damage) {
  const std::string text = "a,\"b\n\",class\r\n1,-2.5e3,x\r\n\"4\",5,\"y \"\"z\"\"\n\"\r\n7,8,w\n";
  for (const Header header : {Header::automatic, Header::yes, Header::no})
    testing::expect_survives_damage(text, "a.csv", [&](const std::string& broken) {
      const ReadOptions options{.label_column = "3", .header = header};
      auto whole = read(broken, options);
      expect_same(whole, read_csv(memory_file(broken, "a.csv"), options, 5));
      return whole;
    });
}

}  // namespace
}  // namespace fwsr
