#include "fwsr/data/read.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "memory_file.hpp"

namespace fwsr {
namespace {

using testing::expect_failure;
using testing::memory_file;
using Words = std::vector<std::string>;

Result<Dataset> read(std::string_view text, const std::string& name = "data",
                     const ReadOptions& options = {}) {
  return read_dataset(memory_file(text, name), options);
}

std::string gzip(std::string_view text) {
  z_stream z = {};
  deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&z, text.size()), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(packed.data());
  z.avail_out = static_cast<uInt>(packed.size());
  deflate(&z, Z_FINISH);
  packed.resize(packed.size() - z.avail_out);
  deflateEnd(&z);
  return packed;
}

/// Two rows of two float64 numbers, as NumPy stores them.
std::string small_npy() {
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }";
  header.resize(128 - 10 - 1, ' ');
  const double numbers[] = {1, 2, 3, 4};
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + "\n" +
         std::string(reinterpret_cast<const char*>(numbers), sizeof numbers);
}

/// A 1 x 3 vector of bytes, as MNIST's labels are stored.
const std::string small_idx("\0\0\x08\x01\0\0\0\x03\x07\x00\x09", 11);

class InFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("fwsr-read-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    before_ = std::filesystem::current_path();
    std::filesystem::current_path(folder_);
  }
  void TearDown() override {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(folder_);
  }
  static void put(const std::string& name, const std::string& text) {
    std::ofstream(name, std::ios::binary) << text;
  }

 private:
  std::filesystem::path folder_;
  std::filesystem::path before_;
};

// ----------------------------------------------------------------------------------- recognition

TEST(ReadDataset, recognises_formats_by_content) {
  const auto format_of = [](std::string_view text, const char* name = "data") {
    const auto data = read(text, name);
    return data ? data->format : data.error().message;
  };
  EXPECT_EQ(format_of("1,2\n3,4\n"), "csv");
  EXPECT_EQ(format_of("1\n2\n"), "csv");
  EXPECT_EQ(format_of("1 1:2 3:4\n"), "libsvm");
  EXPECT_EQ(format_of(small_npy()), "npy");
  EXPECT_EQ(format_of(small_npy(), "wrong.csv"), "npy");
  EXPECT_EQ(format_of("1\t2\n", "wrong.npy"), "csv");
}

TEST(ReadDataset, unpacks_gzip) {
  for (const std::string& text : {std::string("1,2\n3,4\n"), small_npy()}) {
    const auto data = read(gzip(text), "a.gz");
    ASSERT_TRUE(data) << data.error().message;
    EXPECT_EQ(rows_of(data->view()), 2);
    EXPECT_EQ(data->name, "a.gz");
  }
  EXPECT_EQ(read(gzip("1\n2\n3 1:1\n"), "a.svm.gz")->format, "libsvm");
  expect_failure(read(gzip(gzip("1,2\n")), "a.gz"), "a.gz: is gzip-compressed data inside");
  expect_failure(read(gzip("1,2\n3,4\n").substr(0, 20), "a.gz"), "a.gz: ");
  expect_failure(read(gzip(""), "a.gz"), "a.gz: is empty");
}

TEST(ReadDataset, says_what_an_unknown_file_looks_like) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "is empty"},
      {"\n  \r\n", "is empty"},
      {std::string("PAR1\x15\x04\0PAR1", 11), "Parquet file; use python -m fwsr"},
      {std::string("ARROW1\0\0", 8), "Feather file; use python -m fwsr"},
      {std::string("FEA1\0\0", 6), "Feather file of version 1"},
      {"\x89HDF\r\n\x1A\n", "HDF5"},
      {std::string("\x80\x04\x95\0", 4), "pickle"},
      {"\x89PNG\r\n\x1A\n", "PNG"},
      {std::string("\xFF\xD8\xFF\xE0\0\x10", 6), "JPEG"},
      {std::string("\xFD"
                   "7zXZ\0",
                   6),
       "xz -dk"},
      {" {\"a\": 1}", "JSON"},
      {"[[1, 2], [3, 4]]", "JSON"},
      {"<html>", "HTML"},
      {std::string("\xFF\xFE"
                   "1\0,\0",
                   6),
       "UTF-16"},
      {std::string("\x01\x02\x03\0zz", 6), "first bytes are 01 02 03 00 7a 7a"},
  };
  for (const auto& [bytes, part] : cases) {
    expect_failure(read(bytes), "data: ", {part, "formats read here: npy, npz, idx, "});
  }
  // A csv file may start with the same letters.
  EXPECT_TRUE(read("PAR1,PAR2\n1,2\n"));
  expect_failure(read("PK\x03\x04xl/workbook.xml", "book.xlsx"), "book.xlsx: ");
}

TEST(ReadDataset, lists_what_this_build_reads) {
  const Words formats = readable_formats();
  for (const char* name : {"npy", "npz", "idx", "libsvm", "csv"})
    EXPECT_NE(std::find(formats.begin(), formats.end(), name), formats.end()) << name;
}

TEST(ReadDataset, ignores_no_option) {
  const std::vector<std::pair<ReadOptions, std::string>> all{
      {{.label_column = "y"}, "label column"},
      {{.id_column = "y"}, "id column"},
      {{.columns = {"y"}}, "columns"},
      {{.variable = "y"}, "variable"},
      {{.header = Header::no}, "header"}};
  for (const auto& [options, what] : all) {
    expect_failure(read(small_npy(), "a.npy", options), "a.npy: ", {what});
    expect_failure(read("1 1:2\n", "a.svm", options), "a.svm: ", {what});
    expect_failure(read_dataset("digits", options), "digits: ", {what});
  }
  expect_failure(read("1,2\n", "a.csv", {.variable = "y"}), "a.csv: ", {"variable"});
}

TEST_F(InFolder, reads_files_and_knows_digits) {
  const auto built_in = read_dataset("digits");
  ASSERT_TRUE(built_in) << built_in.error().message;
  EXPECT_EQ(rows_of(built_in->view()), 1797);
  EXPECT_EQ(cols_of(built_in->view()), 64);
  put("digits", "1,2,3\n");
  const auto file = read_dataset("digits");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(cols_of(file->view()), 3);
  put("a.npy", small_npy());
  const auto npy = read_dataset("a.npy");
  ASSERT_TRUE(npy) << npy.error().message;
  const auto view = std::get<MatrixView<const double>>(npy->view());
  EXPECT_EQ(view(1, 0), 3);
  expect_failure(read_dataset("nowhere.csv"), "nowhere.csv: cannot be opened");
  expect_failure(read_labels("nowhere.txt"), "nowhere.txt: cannot be opened");
  expect_failure(read_dataset("."), ".: is a folder");
}

/// read_dataset("-") with `text` on standard input.
Result<Dataset> read_from_standard_input(const std::string& text) {
  const std::string path = "standard-input";
  std::ofstream(path, std::ios::binary) << text;
  const int before = ::dup(STDIN_FILENO);
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  ::dup2(::fileno(file), STDIN_FILENO);
  auto data = read_dataset("-");
  ::dup2(before, STDIN_FILENO);
  ::close(before);
  std::fclose(file);
  return data;
}

TEST_F(InFolder, takes_only_text_from_standard_input) {
  const auto csv = read_from_standard_input("1,2\n3,4\n");
  ASSERT_TRUE(csv) << csv.error().message;
  EXPECT_EQ(csv->name, "standard input");
  EXPECT_EQ(read_from_standard_input("1 1:2\n")->format, "libsvm");
  EXPECT_EQ(read_from_standard_input(gzip("1,2\n"))->format, "csv");
  expect_failure(read_from_standard_input(small_npy()), "standard input: only text");
  expect_failure(read_from_standard_input("1,x\n2,3\n4,y\n"), "standard input:3:3: ");
}

// ---------------------------------------------------------------------------------------- labels

Result<Labels> labels(std::string_view text, const std::string& name = "y") {
  return read_labels(memory_file(text, name));
}

TEST(ReadLabels, reads_a_label_a_line) {
  EXPECT_EQ(*labels("cat\ndog\n"), (Words{"cat", "dog"}));
  EXPECT_EQ(*labels("\xEF\xBB\xBF"
                    "1\r\n+2\r\n3.0\r\n4.5\r\n\r\n"),
            (Words{"1", "2", "3", "4.5"}));
  EXPECT_EQ(*labels(" a b \n\"c, \"\"d\"\"\"\n007"), (Words{"a b", "c, \"d\"", "007"}));
  EXPECT_EQ(*labels("[a]\n<b>\n"), (Words{"[a]", "<b>"}));
  EXPECT_EQ(*labels(gzip("1\n2\n")), (Words{"1", "2"}));
  EXPECT_EQ(*labels("0.000000e+00\n1.000000e+01\n"), (Words{"0", "10"}));
}

TEST(ReadLabels, reads_binary_labels) {
  EXPECT_EQ(*labels(small_idx), (Words{"7", "0", "9"}));
  EXPECT_EQ(*labels(gzip(small_idx)), (Words{"7", "0", "9"}));
}

TEST(ReadLabels, says_where_and_what_is_wrong) {
  expect_failure(labels(""), "y: is empty");
  expect_failure(labels("\n\n"), "y: ", {"is empty"});
  expect_failure(labels("a\n\nb\n"), "y:2:1: the label is empty");
  expect_failure(labels("a\nb,c\n"), "y:2:1: 'b,c' holds several fields");
  expect_failure(labels("a\n\"b\n"), "y:2:1: a quote is opened here");
  expect_failure(labels("1 1:2\n"), "y: is LIBSVM");
  expect_failure(labels("PAR1\x01"), "y: is a Parquet file");
  expect_failure(labels(small_npy()), "y: ");
}

// ---------------------------------------------------------------------------------------- damage

TEST(ReadDataset, survives_damage) {
  for (const std::string& good : {small_npy(), small_idx, gzip("1,2\n3,4\n"),
                                  std::string("a,b\n1,2\n"), std::string("1 1:2 3:4\n")}) {
    testing::expect_survives_damage(good, "data", [](const std::string& bad) { return read(bad); });
    testing::expect_survives_damage(good, "y", [](const std::string& bad) { return labels(bad); });
  }
}

}  // namespace
}  // namespace fwsr
