// Views of what people hold: vectors, look-alikes of Eigen's matrices and of mdspan, and what is refused.
#include "fwsr/views.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "fwsr/methods/quality.hpp"
#include "fwsr/solver/select.hpp"
#include "fwsr/solver/sweep.hpp"

namespace fwsr {
namespace {

/// What `work` throws says `words`.
template <class Work>
void expect_refused(Work&& work, const std::string& words) {
  try {
    work();
    ADD_FAILURE() << "nothing was refused; expected: " << words;
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
  }
}

template <class T>
std::vector<T> numbers_of(const MatrixView<const T>& v) {
  std::vector<T> all;
  for (Index i = 0; i < v.rows; ++i)
    for (Index j = 0; j < v.cols; ++j) all.push_back(v(i, j));
  return all;
}

// The names are Eigen's. NOLINTBEGIN(readability-identifier-naming)
/// What Eigen's matrices and maps answer to, with one more number from one inner vector to the next.
template <class T, bool row_major>
struct EigenLike {
  using Scalar = T;
  enum { IsRowMajor = row_major };
  std::vector<T> numbers;
  Index n = 0, d = 0, inner = 1;
  const T* data() const { return numbers.data(); }
  Index rows() const { return n; }
  Index cols() const { return d; }
  Index innerStride() const { return inner; }
  Index outerStride() const { return (row_major ? d : n) + 1; }
};

template <bool row_major>
struct SparseLike {
  using Scalar = double;
  using StorageIndex = int;
  enum { IsRowMajor = row_major };
  std::vector<int> starts, columns;
  std::vector<double> values;
  Index n = 0, d = 0;
  bool compressed = true;
  const int* outerIndexPtr() const { return starts.data(); }
  const int* innerIndexPtr() const { return columns.data(); }
  const double* valuePtr() const { return values.data(); }
  Index rows() const { return n; }
  Index cols() const { return d; }
  bool isCompressed() const { return compressed; }
};
// NOLINTEND(readability-identifier-naming)

struct MdspanLike {
  const float* start = nullptr;
  std::array<unsigned, 2> extents{}, strides{};
  unsigned extent(unsigned r) const { return extents.at(r); }
  unsigned stride(unsigned r) const { return strides.at(r); }
  const float* data_handle() const { return start; }
};

TEST(MatrixView, has_rows_that_follow_each_other_unless_a_stride_is_given) {
  const std::vector<double> x{1, 2, 3, 4, 5, 6};
  const MatrixView<const double> close{x.data(), 3, 2};
  EXPECT_EQ(close.stride, 2);
  EXPECT_EQ(numbers_of(close), x);
  const MatrixView<const double> apart{x.data(), 2, 2, 4};
  EXPECT_EQ(numbers_of(apart), (std::vector<double>{1, 2, 5, 6}));
  std::vector<double> own = x;
  const MatrixView<double> written{own.data(), 3, 2};
  const MatrixView<const double> read = written;
  written(2, 1) = 9;
  EXPECT_EQ(read(2, 1), 9);
}

TEST(MatrixView, that_cannot_be_one_is_refused_by_everything_that_takes_points) {
  const std::vector<double> x(12, 1.0);
  const SelectOptions two{.exemplars = 2};
  const auto refused_everywhere = [&](const PointsView& points, const std::string& words) {
    expect_refused([&] { plan(points, two); }, words);
    expect_refused([&] { select(points, two); }, words);
    expect_refused([&] { sweep(points, two, {}, {}); }, words);
    expect_refused(
        [&] {
          select_per_class(points, std::vector<int>{1, 1, 1, 1}, {.number = 2}, two);
        },
        words);
    expect_refused([&] { Judge(points, {}, two); }, words);
  };
  for (const Index stride : {Index{0}, Index{2}, Index{-3}, std::numeric_limits<Index>::min()})
    refused_everywhere(MatrixView<const double>{x.data(), 4, 3, stride},
                       "has a stride of " + std::to_string(stride));
  refused_everywhere(MatrixView<const double>{nullptr, 4, 3}, "its data is null");
  refused_everywhere(StreamView<float>{nullptr, 4, 3}, "has no source");
  refused_everywhere(CsrView<double, std::int32_t>{4, 3, nullptr, nullptr, nullptr},
                     "no row starts");
  const std::vector<std::int32_t> starts{0, 1, 2, 3, 4};
  refused_everywhere(CsrView<double, std::int32_t>{4, 3, starts.data(), nullptr, x.data()},
                     "the columns are missing");
  expect_refused([&] { check_view(MatrixView<const double>{x.data(), -1, 3}); }, "-1 x 3");
  // One row has no next one.
  check_view(MatrixView<const double>{x.data(), 1, 3, 0});
  check_view(MatrixView<const double>{nullptr, 0, 3});
}

TEST(Views, of_new_points_are_checked_too) {
  std::vector<double> x;
  for (int i = 0; i < 24; ++i) x.push_back(i * i % 7);
  const SelectOptions two{.exemplars = 2};
  const auto points = view(x, 8, 3);
  const Selection s = select(points, two);
  EXPECT_EQ(encode(points, two, s, points).size(), 16u);
  expect_refused(
      [&] {
        encode(points, two, s, MatrixView<const double>{x.data(), 8, 3, 1});
      },
      "has a stride of 1");
}

TEST(Views, of_vectors_arrays_and_spans_are_as_large_as_they_are) {
  const std::vector<float> x{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(numbers_of(view(x, 2, 3)), x);
  EXPECT_EQ(numbers_of(view(std::span<const float>(x), 3, 2)), x);
  std::array<double, 4> own{1, 2, 3, 4};
  EXPECT_EQ(view(own, 2, 2)(1, 0), 3);
  expect_refused([&] { view(x, 2, 2); }, "there are 6 numbers, which are no 2 x 2 matrix");
  expect_refused([&] { view(x, -2, -3); }, "no -2 x -3 matrix");
  expect_refused([&] { view(x, std::numeric_limits<Index>::max(), 3); }, "cannot exist in memory");
}

TEST(Views, of_matrices_like_eigens_keep_their_strides) {
  const EigenLike<float, true> rows{{1, 2, 3, 0, 4, 5, 6, 0}, 2, 3};
  EXPECT_EQ(numbers_of(view(rows)), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  // Column-major, three columns of two: its columns are three points.
  const EigenLike<double, false> columns{{1, 2, 0, 3, 4, 0, 5, 6, 0}, 2, 3};
  const MatrixView<const double> points = view_of_columns(columns);
  EXPECT_EQ(points.rows, 3);
  EXPECT_EQ(points.cols, 2);
  EXPECT_EQ(numbers_of(points), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EigenLike<float, true> every_other = rows;
  every_other.inner = 2;
  expect_refused([&] { view(every_other); }, "inner stride 2");
}

TEST(Views, of_sparse_matrices_like_eigens_are_checked) {
  SparseLike<true> rows{{0, 2, 3}, {0, 2, 1}, {1, 2, 3}, 2, 3};
  const CsrView<double, std::int32_t> points = view(rows);
  EXPECT_EQ(points.rows, 2);
  EXPECT_EQ(points.cols, 3);
  EXPECT_EQ(points.values, rows.values.data());
  const SparseLike<false> columns{{0, 2, 3}, {0, 2, 1}, {1, 2, 3}, 3, 2};
  const auto turned = view_of_columns(columns);
  EXPECT_EQ(turned.rows, 2);
  EXPECT_EQ(turned.cols, 3);
  rows.compressed = false;
  expect_refused([&] { view(rows); }, "makeCompressed()");
}

TEST(Views, of_mdspans_take_rows_in_one_piece_only) {
  const std::vector<float> x{1, 2, 3, 4, 5, 6, 7, 8};
  const MdspanLike right{x.data(), {2, 3}, {4, 1}};
  EXPECT_EQ(numbers_of(view(right)), (std::vector<float>{1, 2, 3, 5, 6, 7}));
  const MdspanLike left{x.data(), {2, 3}, {1, 2}};
  expect_refused([&] { view(left); }, "stand 2 apart");
  const MdspanLike column{x.data(), {4, 1}, {2, 7}};
  EXPECT_EQ(numbers_of(view(column)), (std::vector<float>{1, 3, 5, 7}));
}

TEST(Views, of_three_arrays_keep_every_promise_of_a_sparse_matrix) {
  using Places = std::vector<std::int64_t>;
  const std::vector<double> values{1, 2, 3};
  const Places starts{0, 2, 2, 3}, columns{0, 2, 1};
  const auto good = csr_view(starts, columns, values, 3);
  EXPECT_EQ(good.rows, 3);
  EXPECT_EQ(good.cols, 3);
  const auto refused = [&](const Places& s, const Places& c, const std::string& words) {
    expect_refused([&] { csr_view(s, c, values, 3); }, words);
  };
  refused({}, columns, "has no row starts");
  refused(starts, {0, 2}, "3 values, but 2 column numbers");
  refused({1, 2, 3}, columns, "first row starts at entry 1");
  refused({0, 2}, columns, "end at entry 2, but there are 3");
  refused({0, 4, 3}, columns, "row 0 has the entries 0 to 4, of 3");
  refused({0, 2, 1, 3}, columns, "row 1 has the entries 2 to 1");
  refused(starts, {0, 3, 1}, "row 0 has an entry in column 3, of 3");
  refused(starts, {0, -1, 1}, "row 0 has an entry in column -1");
  refused(starts, {2, 2, 1}, "the columns of row 0 are not ascending");
}

TEST(Views, of_rows_that_lie_apart_are_copies_that_say_so) {
  const std::vector<std::vector<float>> rows{{1, 2}, {3, 4}, {5, 6}};
  const DenseMatrix<float> all = copy_rows(rows);
  EXPECT_EQ(numbers_of(all.view()), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(copy_rows(std::vector<std::array<double, 2>>{}).rows, 0);
  expect_refused(
      [] {
        copy_rows(std::vector<std::vector<double>>{{1, 2}, {3}});
      },
      "row 1 has 1 numbers, and those before it 2");
}

TEST(Views, of_the_same_points_give_the_same_selection) {
  std::vector<double> x;
  for (int i = 0; i < 60; ++i) x.push_back(i * 37 % 19);
  EigenLike<double, true> padded{{}, 20, 3};
  std::vector<std::int32_t> starts{0}, columns;
  for (int i = 0; i < 60; ++i) {
    padded.numbers.push_back(x[static_cast<std::size_t>(i)]);
    if (i % 3 == 2) padded.numbers.push_back(99);
    columns.push_back(i % 3);
    if (i % 3 == 2) starts.push_back(i + 1);
  }
  const SelectOptions three{.exemplars = 3, .center = Center::none};
  const auto picks = select(view(x, 20, 3), three).exemplars;
  EXPECT_EQ(picks.size(), 3u);
  EXPECT_EQ(select(view(padded), three).exemplars, picks);
  EXPECT_EQ(select(csr_view(starts, columns, x, 3), three).exemplars, picks);
}

}  // namespace
}  // namespace fwsr
