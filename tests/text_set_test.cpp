// csv and libsvm files that several read together: what each reads is what one reader would have made of all.
#include "fwsr/data/text_set.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "fwsr/base/random.hpp"
#include "memory_file.hpp"

namespace fwsr {
namespace {

using testing::expect_failure;
namespace fs = std::filesystem;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

template <class T>
T must(Result<T> result) {
  if (!result) throw Error(result.error().message);
  return std::move(*result);
}

class TextSets : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("fwsr-text-set-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }

  std::string path(const std::string& name) const { return folder_ / name; }

  fs::path folder_;
};

/// All pieces looked through by `readers`, each some of them.
Result<TextSet> look_through(const std::vector<std::string>& paths, const ReadOptions& options,
                             Index piece_bytes, Index readers) {
  Result<TextSet> set = TextSet::open(paths, options, piece_bytes);
  if (!set) return set;
  std::vector<TextPiece> all;
  for (Index r = 0; r < readers; ++r) {
    const auto found =
        set->look_through(set->pieces() * r / readers, set->pieces() * (r + 1) / readers);
    if (!found) return found.error();
    all.insert(all.end(), found->begin(), found->end());
  }
  if (auto failure = set->number_rows(all)) return *failure;
  return set;
}

/// Every row, as columns and values that are not zero.
std::vector<std::vector<std::pair<Index, double>>> rows_of_set(const Dataset& data) {
  std::vector<std::vector<std::pair<Index, double>>> rows;
  std::visit(
      [&]<class View>(const View& v) {
        for (Index i = 0; i < v.rows; ++i) {
          rows.emplace_back();
          if constexpr (requires { v.starts; }) {
            for (auto e = v.starts[i]; e < v.starts[i + 1]; ++e)
              rows.back().push_back({static_cast<Index>(v.columns[e]), v.values[e]});
          } else if constexpr (requires { v.data; }) {
            for (Index l = 0; l < v.cols; ++l) rows.back().push_back({l, v(i, l)});
          }
        }
      },
      data.view());
  return rows;
}

/// The parts that so many readers have of the set are those of `whole`.
void expect_parts_of(const TextSet& set, const Dataset& whole, Index readers) {
  ASSERT_EQ(set.rows(), rows_of(whole.view()));
  EXPECT_EQ(set.features(), cols_of(whole.view()));
  const auto expected = rows_of_set(whole);
  const std::vector<std::string> labels = whole.labels.words();
  for (Index r = 0; r < readers; ++r) {
    const Index first = set.rows() * r / readers, last = set.rows() * (r + 1) / readers;
    const Result<Dataset> part = set.read(first, last);
    ASSERT_TRUE(part) << part.error().message;
    EXPECT_EQ(cols_of(part->view()), cols_of(whole.view()));
    const auto rows = rows_of_set(*part);
    ASSERT_EQ(std::ssize(rows), last - first);
    for (Index i = first; i < last; ++i) {
      EXPECT_EQ(rows[at(i - first)], expected[at(i)]) << i;
      if (!labels.empty()) {
        EXPECT_EQ(part->labels[at(i - first)], labels[at(i)]);
      }
      if (!whole.ids.empty()) {
        EXPECT_EQ(part->ids[at(i - first)], whole.ids[at(i)]);
      }
    }
  }
}

std::string csv_record(Rng& random, Index i) {
  const bool quoted = random.below(3) == 0;
  std::string id = "p" + std::to_string(i);
  if (quoted) id = "\"" + id + (random.below(2) ? "\n, \"\"x\"\"" : " ") + "\"";
  std::string line = id + "," + std::to_string(random.normal()) + "," +
                     std::string(1, static_cast<char>('a' + random.below(3))) + "," +
                     std::to_string(random.below(100));
  if (random.below(5) == 0) line += "\r";
  line += "\n";
  if (random.below(6) == 0) line += random.below(2) ? "\n" : "  \r\n";
  return line;
}

TEST_F(TextSets, parts_of_csv_are_those_of_the_whole) {
  const ReadOptions options{.label_column = "kind", .id_column = "name", .threads = 2};
  Rng random(3);
  std::string text = "# made by hand\nname,x,kind,y\n";
  for (Index i = 0; i < 200; ++i) text += csv_record(random, i);
  const std::string path = write("a.csv", text);
  const Dataset whole = must(read_dataset(path, options));
  for (const Index piece : {1, 7, 100, 1 << 20})
    for (const Index readers : {1, 3, 8}) {
      const Result<TextSet> set = look_through({path}, options, piece, readers);
      ASSERT_TRUE(set) << set.error().message;
      expect_parts_of(*set, whole, readers);
      const Dataset stream = TextSet::as_stream(
          std::make_shared<TextSet>(must(look_through({path}, options, piece, readers))));
      EXPECT_EQ(stream.columns, whole.columns);
      TableReading table = *whole.table;
      table.doubts.clear();  // which the numbers tell
      EXPECT_EQ(*stream.table, table);
    }
}

TEST_F(TextSets, parts_of_libsvm_are_those_of_the_whole) {
  Rng random(4);
  for (const Index base : {0, 1}) {
    std::string text = "# made by hand\n";
    for (Index i = 0; i < 150; ++i) {
      text += random.below(2) ? "+1" : "cat";
      for (Index l = base; l < 9; ++l)
        if (random.below(3) == 0) text += " " + std::to_string(l) + ":" + std::to_string(i + l);
      text += random.below(4) ? "\n" : " # said\n\n";
    }
    const std::string path = write("a.svm", text);
    const Dataset whole = must(read_dataset(path));
    for (const Index piece : {1, 11, 1 << 20})
      for (const Index readers : {1, 2, 7}) {
        const Result<TextSet> set = look_through({path}, {}, piece, readers);
        ASSERT_TRUE(set) << set.error().message;
        EXPECT_TRUE(set->sparse());
        EXPECT_EQ(set->entries(), entries_of(whole.view()));
        expect_parts_of(*set, whole, readers);
      }
  }
}

TEST_F(TextSets, files_are_one_behind_the_other) {
  Rng random(5);
  std::string all;
  std::vector<std::string> paths;
  for (const Index part : {0, 1, 2, 3}) {
    std::string text;
    for (Index i = 0; i < (part == 1 ? 1 : 40); ++i)
      text += std::to_string(random.normal()) + ";" + std::to_string(random.normal()) + "\n";
    paths.push_back(
        write("part-" + std::to_string(part) + ".csv", part % 2 ? text : "x;y\n" + text));
    all += text;
  }
  const Dataset whole = must(read_dataset(write("all.csv", all)));
  const Result<TextSet> set = look_through(paths, {}, 50, 3);
  ASSERT_TRUE(set) << set.error().message;
  expect_parts_of(*set, whole, 5);
  const auto stream =
      TextSet::as_stream(std::make_shared<TextSet>(must(look_through(paths, {}, 50, 2))));
  std::vector<double> rows(at(3 * 2));
  std::get<StreamedMatrix<double>>(stream.points).source->read(39, 42, rows.data());
  const auto expected = rows_of_set(whole);
  for (Index i = 0; i < 6; ++i) EXPECT_EQ(rows[at(i)], expected[at(39 + i / 2)][at(i % 2)].second);
}

TEST_F(TextSets, the_first_who_meets_the_trouble_says_what_one_reader_says) {
  Rng random(6);
  for (const Index bad : {1, 60, 119})
    for (const std::string& how : {std::string("1,2,3\n"), std::string("1,x\n"),
                                   std::string("1,2\"\n"), std::string("\"1,2\n")}) {
      std::string text = "x,y\n";
      for (Index i = 0; i < 120; ++i)
        text += i == bad ? how : std::to_string(i) + "," + std::to_string(random.below(99)) + "\n";
      const std::string path = write("bad.csv", text);
      const auto alone = read_dataset(path);
      ASSERT_FALSE(alone);
      const Result<TextSet> set = look_through({path}, {}, 40, 3);
      ASSERT_TRUE(set) << set.error().message;
      std::string first;
      for (Index r = 0; r < 4 && first.empty(); ++r) {
        const auto part = set->read(set->rows() * r / 4, set->rows() * (r + 1) / 4);
        if (!part) first = part.error().message;
      }
      EXPECT_EQ(first, alone.error().message);
    }
}

TEST_F(TextSets, what_is_no_set_is_refused) {
  const std::string a = write("a.csv", "x,y\n1,2\n3,4\n");
  const auto with = [&](const std::string& name, const std::string& text) {
    return TextSet::open({a, write(name, text)}, {});
  };
  expect_failure(with("b.csv", "x,y,z\n1,2,3\n"), path("b.csv"), {"has 3 features", "has 2"});
  expect_failure(with("b.csv", "x,z\n1,2\n"), path("b.csv"), {"other columns"});
  expect_failure(with("b.svm", "1 1:1\n"), path("b.svm"), {"one format"});
  expect_failure(with("b.csv", "x,y\n"), path("b.csv"), {"a header and no points"});
  expect_failure(TextSet::open({a, path("none.csv")}, {}), path("none.csv"));
  expect_failure(look_through({write("c.svm", "1\n2\n")}, {}, 1, 1), path("c.svm"),
                 {"has no features"});
  expect_failure(look_through({write("d.svm", "1 1:1\n2 0:x\n")}, {}, 1, 2), path("d.svm"),
                 {":2:5:"});
}

}  // namespace
}  // namespace fwsr
