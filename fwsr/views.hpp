// Points as people hold them, seen as the library takes them. Nothing is copied but by copy_rows, which says so.
//
//     view(x, n, d)                 a vector, array or span of n x d numbers, row after row
//     view(m)                       a row-major matrix of Eigen, dense or sparse, or an mdspan
//     view(bytes, n, d)             the same of std::uint8_t, int8_t, uint16_t or int16_t, one each or two
//     narrow_view(p, number, n, d)  by an address: also halves, NarrowNumber::float16 and bfloat16
//     view_of_columns(m)            a column-major matrix of Eigen whose columns are the points
//     csr_view(starts, columns, values, d)
//     copy_rows(rows)               rows that lie apart, as in a vector of vectors
//
// All of them borrow: what is looked at must outlive the view. Eigen is not needed, and not included.
#pragma once

#include <concepts>
#include <cstdint>
#include <ranges>
#include <string>
#include <type_traits>

#include "fwsr/base/check_view.hpp"
#include "fwsr/base/index.hpp"
#include "fwsr/base/matrix.hpp"
#include "fwsr/base/result.hpp"

namespace fwsr {

namespace detail {

template <class T>
concept Number = std::same_as<T, float> || std::same_as<T, double>;

/// What dense points may be.
template <class T>
concept DenseNumber = Number<T> || std::same_as<T, std::uint8_t> || std::same_as<T, std::int8_t> ||
    std::same_as<T, std::uint16_t> || std::same_as<T, std::int16_t>;

/// Numbers one after the other in memory, their count known.
template <class R>
concept Flat = std::ranges::contiguous_range<R> && std::ranges::sized_range<R>;

template <class R>
using ElementOf = std::remove_cv_t<std::ranges::range_value_t<R>>;

/// A dense matrix as Eigen has them: Matrix, Map, Ref, Block.
template <class M>
concept EigenDense = requires(const M& m) {
  typename M::Scalar;
  { M::IsRowMajor } -> std::convertible_to<bool>;
  m.data();
  m.rows();
  m.cols();
  m.innerStride();
  m.outerStride();
};

/// A sparse matrix as Eigen has them: SparseMatrix, Map of one.
template <class M>
concept EigenSparse = requires(const M& m) {
  typename M::Scalar;
  typename M::StorageIndex;
  { M::IsRowMajor } -> std::convertible_to<bool>;
  m.outerIndexPtr();
  m.innerIndexPtr();
  m.valuePtr();
  m.isCompressed();
};

/// std::mdspan, Kokkos' mdspan and View, and what is like them.
template <class M>
concept Mdspan = requires(const M& m) {
  m.extent(0);
  m.extent(1);
  m.stride(0);
  m.stride(1);
}
&&!(
    requires { M::rank(); } &&
    !requires {
      requires M::rank()
      == 2;
    }) &&
    (
        requires(const M& m) { m.data_handle(); } || requires(const M& m) { m.data(); });

inline std::string shape(Index rows, Index cols) {
  return std::to_string(rows) + " x " + std::to_string(cols);
}

/// Checked here, where the mistake is made, and not where the view is used.
template <DenseNumber T>
auto checked(const T* data, Index rows, Index cols, Index stride) {
  if constexpr (Number<T>) {
    const MatrixView<const T> view(data, rows, cols, stride);
    check_view(view);
    return view;
  } else {
    constexpr NarrowNumber integers[2][2] = {{NarrowNumber::uint8, NarrowNumber::int8},
                                             {NarrowNumber::uint16, NarrowNumber::int16}};
    const NarrowView view{.numbers = data,
                          .number = integers[sizeof(T) == 2][std::is_signed_v<T>],
                          .rows = rows,
                          .cols = cols,
                          .stride = stride};
    check_view(view);
    return view;
  }
}

/// `columns`: the points are the columns of `m`, whatever its storage order.
template <bool columns, EigenDense M>
auto view_eigen(const M& m) {
  using T = std::remove_cv_t<typename M::Scalar>;
  static_assert(DenseNumber<T>,
                "points are float, double, or integers of 8 or 16 bits: convert the matrix with "
                ".cast<float>()");
  if (m.innerStride() != 1)
    throw Error("the numbers of a point do not follow each other (inner stride " +
                std::to_string(m.innerStride()) + "); copy the matrix");
  const auto rows = static_cast<Index>(m.rows()), cols = static_cast<Index>(m.cols());
  return checked<T>(m.data(), columns ? cols : rows, columns ? rows : cols,
                    static_cast<Index>(m.outerStride()));
}

template <bool columns, EigenSparse M>
auto view_eigen(const M& m) {
  using T = std::remove_cv_t<typename M::Scalar>;
  using I = std::conditional_t<sizeof(typename M::StorageIndex) == 4, std::int32_t, std::int64_t>;
  static_assert(Number<T>, "points are float or double: convert the matrix with .cast<float>()");
  static_assert(std::same_as<typename M::StorageIndex, I>,
                "indices are std::int32_t or std::int64_t: name one as the matrix's StorageIndex");
  if (!m.isCompressed())
    throw Error("the sparse matrix has room between its rows; call its makeCompressed() first");
  const auto rows = static_cast<Index>(m.rows()), cols = static_cast<Index>(m.cols());
  const CsrView<T, I> view{columns ? cols : rows, columns ? rows : cols, m.outerIndexPtr(),
                           m.innerIndexPtr(), m.valuePtr()};
  check_entries(view, view.rows == 0 ? 0 : static_cast<Index>(view.starts[view.rows]));
  return view;
}

}  // namespace detail

/// rows x cols numbers, row after row, in a vector, array or span. Throws Error when there are more or fewer.
template <class Values>
requires detail::Flat<Values>
auto view(Values&& values, Index rows, Index cols) {
  using T = detail::ElementOf<Values>;
  static_assert(
      !detail::Flat<T>,
      "a vector of rows is no matrix, for its rows lie apart: copy it by fwsr::copy_rows");
  static_assert(detail::DenseNumber<T> || detail::Flat<T>,
                "points are float, double, or integers of 8 or 16 bits: convert the numbers first");
  static_assert(std::ranges::borrowed_range<Values>,
                "a view borrows its numbers: keep them in a variable that outlives it");
  if (rows < 0 || cols < 0 || checked_bytes(rows, cols, 1) != std::ranges::ssize(values))
    throw Error("there are " + std::to_string(std::ranges::ssize(values)) +
                " numbers, which are no " + detail::shape(rows, cols) + " matrix");
  return detail::checked<T>(std::ranges::data(values), rows, cols, cols);
}

/// rows x cols narrow numbers, row after row, `stride` of them from one row to the next (0: cols), wherever they come
/// from: halves have no type of their own in C++20. Aligned as numbers of their size are.
inline NarrowView narrow_view(const void* numbers, NarrowNumber number, Index rows, Index cols,
                              Index stride = 0) {
  const NarrowView view{.numbers = numbers,
                        .number = number,
                        .rows = rows,
                        .cols = cols,
                        .stride = stride == 0 ? cols : stride};
  check_view(view);
  return view;
}

/// A row-major matrix of Eigen, dense or sparse (compressed): row i is one point.
template <class Matrix>
requires detail::EigenDense<Matrix> || detail::EigenSparse<Matrix>
auto view(const Matrix& matrix) {
  static_assert(Matrix::IsRowMajor,
                "the matrix is column-major, so that points that are rows lie scattered: make it "
                "RowMajor, or, where "
                "the points are its columns, use fwsr::view_of_columns");
  return detail::view_eigen<false>(matrix);
}
template <class Matrix>
requires detail::EigenDense<Matrix> || detail::EigenSparse<Matrix>
void view(const Matrix&& matrix) = delete;  // would not outlive the call: keep it in a variable

/// The points are the columns of a column-major matrix of Eigen, its usual order: the same memory as their rows in a
/// row-major one.
template <class Matrix>
requires detail::EigenDense<Matrix> || detail::EigenSparse<Matrix>
auto view_of_columns(const Matrix& matrix) {
  static_assert(!Matrix::IsRowMajor,
                "the matrix is row-major, so that points that are columns lie scattered: make it "
                "ColMajor, or, where "
                "the points are its rows, use fwsr::view");
  return detail::view_eigen<true>(matrix);
}
template <class Matrix>
requires detail::EigenDense<Matrix> || detail::EigenSparse<Matrix>
void view_of_columns(const Matrix&& matrix) = delete;

/// A two-dimensional mdspan, or what has extent(), stride() and data_handle() or data() as one. Row i is one point, and
/// its numbers follow each other: Error is thrown for other layouts.
template <class Span>
requires detail::Mdspan<Span>
auto view(const Span& span) {
  const auto* const data = [&] {
    if constexpr (requires { span.data_handle(); })
      return span.data_handle();
    else
      return span.data();
  }();
  using T = std::remove_cv_t<std::remove_pointer_t<decltype(data)>>;
  static_assert(detail::DenseNumber<T>,
                "points are float, double, or integers of 8 or 16 bits: convert the numbers first");
  const auto rows = static_cast<Index>(span.extent(0)), cols = static_cast<Index>(span.extent(1));
  if (cols > 1 && static_cast<Index>(span.stride(1)) != 1)
    throw Error("the numbers of a row of the " + detail::shape(rows, cols) + " mdspan stand " +
                std::to_string(span.stride(1)) +
                " apart; points are rows in one piece, as in layout_right");
  return detail::checked<T>(data, rows, cols, rows > 1 ? static_cast<Index>(span.stride(0)) : cols);
}

/// A sparse matrix of three arrays (SciPy's indptr, indices and data): the entries of row i stand at starts[i] ..
/// starts[i + 1]. Every entry is checked once: Error is thrown for what CsrView does not allow.
template <class Starts, class Columns, class Values>
requires detail::Flat<Starts> && detail::Flat<Columns> && detail::Flat<Values>
auto csr_view(Starts&& starts, Columns&& columns, Values&& values, Index cols) {
  using T = detail::ElementOf<Values>;
  using I = detail::ElementOf<Columns>;
  static_assert(detail::Number<T>, "points are float or double: convert the numbers first");
  static_assert(std::same_as<I, std::int32_t> || std::same_as<I, std::int64_t>,
                "column numbers are std::int32_t or std::int64_t");
  static_assert(std::same_as<detail::ElementOf<Starts>, I>,
                "starts and columns are of one type, std::int32_t or std::int64_t");
  static_assert(std::ranges::borrowed_range<Starts> && std::ranges::borrowed_range<Columns> &&
                    std::ranges::borrowed_range<Values>,
                "a view borrows its numbers: keep them in variables that outlive it");
  const Index entries = std::ranges::ssize(values);
  if (std::ranges::ssize(columns) != entries)
    throw Error("the sparse matrix has " + std::to_string(entries) + " values, but " +
                std::to_string(std::ranges::ssize(columns)) + " column numbers");
  if (std::ranges::ssize(starts) == 0)
    throw Error("the sparse matrix has no row starts; one of n rows has n + 1");
  const CsrView<T, I> view{std::ranges::ssize(starts) - 1, cols, std::ranges::data(starts),
                           std::ranges::data(columns), std::ranges::data(values)};
  if (static_cast<Index>(view.starts[view.rows]) != entries)
    throw Error("the rows of the sparse matrix end at entry " +
                std::to_string(view.starts[view.rows]) + ", but there are " +
                std::to_string(entries));
  check_entries(view, entries);
  return view;
}

/// A copy of rows that lie apart, such as a vector of vectors, in one piece; its view() is for select. Throws Error
/// when they are of different lengths.
template <class Rows>
requires std::ranges::sized_range<const Rows&> &&
    detail::Flat<std::ranges::range_reference_t<const Rows&>>
auto copy_rows(const Rows& rows) {
  using T = detail::ElementOf<std::ranges::range_value_t<const Rows&>>;
  static_assert(detail::Number<T>, "points are float or double: convert the numbers first");
  DenseMatrix<T> all{.rows = std::ranges::ssize(rows), .cols = 0, .values = {}};
  Index i = 0;
  for (const auto& row : rows) {
    const auto length = static_cast<Index>(std::ranges::ssize(row));
    if (i == 0) {
      all.cols = length;
      checked_bytes(all.rows, all.cols, sizeof(T));
      all.values.reserve(static_cast<std::size_t>(all.rows * all.cols));
    }
    if (length != all.cols)
      throw Error("row " + std::to_string(i) + " has " + std::to_string(length) +
                  " numbers, and those before it " + std::to_string(all.cols));
    all.values.insert(all.values.end(), std::ranges::begin(row), std::ranges::end(row));
    ++i;
  }
  return all;
}

}  // namespace fwsr
