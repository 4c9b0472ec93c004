#include "fwsr/data/digits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "binary_files.hpp"
#include "fwsr/data/read.hpp"

namespace fwsr {
namespace {

using testing::values_of;

TEST(Digits, are_all_there) {
  const auto data = read_digits();
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->name, "digits");
  EXPECT_EQ(data->format, "built-in");
  ASSERT_TRUE(std::holds_alternative<DenseMatrix<float>>(data->points));
  EXPECT_EQ(rows_of(data->view()), 1797);
  EXPECT_EQ(cols_of(data->view()), 64);
  const auto values = values_of(*data);
  ASSERT_EQ(values.size(), 1797u * 64u);
  EXPECT_EQ(*std::min_element(values.begin(), values.end()), 0);
  EXPECT_EQ(*std::max_element(values.begin(), values.end()), 16);
  EXPECT_EQ(std::accumulate(values.begin(), values.end(), 0.0), 561'718);
  EXPECT_EQ(std::vector<double>(values.begin(), values.begin() + 8),
            (std::vector<double>{0, 0, 5, 13, 9, 1, 0, 0}));
  EXPECT_EQ(std::vector<double>(values.end() - 8, values.end()),
            (std::vector<double>{0, 1, 8, 12, 14, 12, 1, 0}));
}

TEST(Digits, have_labels_and_column_names) {
  const auto data = read_digits();
  ASSERT_TRUE(data) << data.error().message;
  ASSERT_EQ(data->labels.size(), 1797u);
  std::array<int, 10> count{};
  for (const std::string& label : data->labels.words()) {
    ASSERT_EQ(label.size(), 1u);
    ++count.at(static_cast<std::size_t>(label[0] - '0'));
  }
  EXPECT_EQ(count, (std::array<int, 10>{178, 182, 177, 183, 181, 182, 181, 179, 174, 180}));
  ASSERT_EQ(data->columns.size(), 64u);
  EXPECT_EQ(data->columns.front(), "pixel_0_0");
  EXPECT_EQ(data->columns.back(), "pixel_7_7");
}

TEST(Digits, are_the_file_that_is_shipped) {
  const auto built_in = read_dataset("digits");
  ASSERT_TRUE(built_in) << built_in.error().message;
  const auto file =
      read_dataset(std::string(FWSR_SOURCE_DIR) + "/data/digits.csv.gz", {.label_column = "label"});
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(values_of(*built_in), values_of(*file));
  EXPECT_EQ(built_in->labels, file->labels);
  EXPECT_EQ(built_in->columns, file->columns);
}

}  // namespace
}  // namespace fwsr
