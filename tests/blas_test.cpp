// Matrix products: every side turned or not, rows adjacent or apart, nothing written between them.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/linalg/blas.hpp"

namespace {

using fwsr::Index;
using fwsr::Op;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

/// A matrix of small integers, so that products are exact in any order, with `gap` numbers between
/// its rows.
template <class T>
struct Stored {
  Stored(Index rows, Index cols, Index gap) : stride(cols + gap), values(at(rows * stride)) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i * 7 % 11) - 5;
  }
  T operator()(Index i, Index j) const { return values[at(i * stride + j)]; }

  Index stride;
  std::vector<T> values;
};

/// C <- 2 op(A) op(B) + 3 C against the sums, for all of C and what lies between its rows.
template <class T>
void expect_product(Op op_a, Op op_b, Index gap) {
  constexpr Index m = 3, n = 4, k = 5;
  const bool turned_a = op_a == Op::transpose, turned_b = op_b == Op::transpose;
  const Stored<T> a(turned_a ? k : m, turned_a ? m : k, gap);
  const Stored<T> b(turned_b ? n : k, turned_b ? k : n, gap);
  Stored<T> c(m, n, gap), expected(m, n, gap);
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j) {
      T sum = 0;
      for (Index l = 0; l < k; ++l)
        sum += (turned_a ? a(l, i) : a(i, l)) * (turned_b ? b(j, l) : b(l, j));
      expected.values[at(i * c.stride + j)] = 2 * sum + 3 * c(i, j);
    }
  fwsr::Product<T> product{.op_a = op_a,
                           .op_b = op_b,
                           .m = m,
                           .n = n,
                           .k = k,
                           .a = 2,
                           .left = a.values.data(),
                           .right = b.values.data(),
                           .b = 3,
                           .out = c.values.data()};
  if (gap > 0) {  // adjacent rows need no word
    product.left_stride = a.stride;
    product.right_stride = b.stride;
    product.out_stride = c.stride;
  }
  fwsr::multiply(product);
  EXPECT_EQ(c.values, expected.values);
}

TEST(Blas, RowsAreAdjacentWhereNoStrideIsGiven) {
  for (const Op op_a : {Op::none, Op::transpose})
    for (const Op op_b : {Op::none, Op::transpose})
      for (const Index gap : {0, 2}) {
        SCOPED_TRACE("left " + std::to_string(static_cast<int>(op_a)) + ", right " +
                     std::to_string(static_cast<int>(op_b)) + ", gap " + std::to_string(gap));
        expect_product<float>(op_a, op_b, gap);
        expect_product<double>(op_a, op_b, gap);
      }
}

template <class T>
void expect_triangle(Index rows, Index d, Index gap) {
  const Stored<T> a(rows, d, gap);
  std::vector<T> out(at(d * (d + gap)), T{-1});
  fwsr::multiply_by_itself(fwsr::MatrixView<const T>{a.values.data(), rows, d, a.stride},
                           out.data(), d + gap);
  for (Index i = 0; i < d; ++i)
    for (Index j = i; j < d + gap; ++j) {
      T sum = 0;
      for (Index p = 0; p < rows && j < d; ++p) sum += a(p, i) * a(p, j);
      ASSERT_EQ(out[at(i * (d + gap) + j)], j < d ? sum : T{-1}) << i << ' ' << j;
    }
}

TEST(Blas, TrianglesAreExactForWholeNumbersWhateverTheNumberOfColumns) {
  for (const Index d : {1, 15, 16, 17, 24, 32, 33, 40, 56, 64, 72, 130})
    for (const Index rows : {1, 31, 600})
      for (const Index gap : {0, 3}) {
        SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(d) + ", gap " +
                     std::to_string(gap));
        expect_triangle<float>(rows, d, gap);
        expect_triangle<double>(rows, d, gap);
      }
}

}  // namespace
