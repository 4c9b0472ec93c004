#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "binary_files.hpp"
#include "fwsr/data/formats.hpp"
#include "fwsr/data/write.hpp"

namespace fwsr {
namespace {

namespace fs = std::filesystem;
using testing::values_of;

/// A folder of its own for each test, removed afterwards.
class Write : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / (std::string("fwsr_write_") + test->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const char* name = "x.npy") const { return (folder_ / name).string(); }
  static std::string content(const std::string& path) {
    std::ostringstream all;
    all << std::ifstream(path, std::ios::binary).rdbuf();
    return all.str();
  }

  fs::path folder_;
};

TEST_F(Write, npy_is_what_numpy_writes) {
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  ASSERT_TRUE(write_npy(path(), MatrixView<const float>{values.data(), 2, 3, 3}));
  const std::string file = content(path());
  EXPECT_EQ(file, testing::npy("<f4", "(2, 3)", testing::raw(values)));
  EXPECT_EQ((file.size() - 24) % 64, 0u);
}

template <class T>
void check_round_trip(const std::string& path, const std::vector<T>& values) {
  const MatrixView<const T> strided{values.data(), 2, 2, 3};  // the third column is left out
  ASSERT_TRUE(write_npy(path, strided));
  const auto data = read_dataset(path);
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(rows_of(data->view()), 2);
  EXPECT_EQ(values_of(*data), (std::vector<double>{-1, 2, 4, 5}));
}

TEST_F(Write, npy_reads_back) {
  check_round_trip<float>(path("f.npy"), {-1, 2, 3, 4, 5, 6});
  check_round_trip<double>(path("d.npy"), {-1, 2, 3, 4, 5, 6});
  check_round_trip<std::int64_t>(path("i.npy"), {-1, 2, 3, 4, 5, 6});
}

TEST_F(Write, lists_read_back_as_labels) {
  const auto check = [&](auto values, const std::string& expected) {
    const std::span<const typename decltype(values)::value_type> list(values);
    ASSERT_TRUE(write_npy(path(), list));
    const auto labels = read_labels(path());
    ASSERT_TRUE(labels) << labels.error().message;
    EXPECT_EQ(*labels, (std::vector<std::string>{"7", expected}));
  };
  check(std::vector<float>{7, 0.5f}, "0.5");
  check(std::vector<double>{7, 0.1}, "0.1");
  check(std::vector<std::int64_t>{7, INT64_MIN}, "-9223372036854775808");
}

TEST_F(Write, every_length_of_header_stays_aligned) {
  for (const Index rows : {1, 10, 100, 1000, 10'000, 100'000}) {
    const std::vector<double> values(static_cast<std::size_t>(rows), 0.5);
    ASSERT_TRUE(write_npy(path(), MatrixView<const double>{values.data(), rows, 1, 1}));
    EXPECT_EQ((content(path()).size() - values.size() * 8) % 64, 0u) << rows;
    const auto data = read_dataset(path());
    ASSERT_TRUE(data) << data.error().message;
    EXPECT_TRUE(std::holds_alternative<MappedMatrix<double>>(data->points));
  }
}

TEST_F(Write, failure_names_the_path_and_leaves_nothing) {
  const std::vector<double> values{1, 2};
  const auto lost = write_npy(path("no/such/folder/x.npy"), std::span<const double>(values));
  testing::expect_failure(lost, path("no/such/folder/x.npy"));
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST(CsvField, is_quoted_only_when_it_must_be) {
  EXPECT_EQ(csv_field("plain text"), "plain text");
  EXPECT_EQ(csv_field(""), "");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"hi\""), "\"say \"\"hi\"\"\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(csv_field("back\rwards"), "\"back\rwards\"");
}

}  // namespace
}  // namespace fwsr
