// Sizes, and borrowed views of the points: the vocabulary of every other file.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

namespace fwsr {

using Index = std::ptrdiff_t;  // signed 64-bit, so that loops and differences are safe

/// A borrowed row-major matrix. Row i is one point. Never owns, never copies. fwsr/views.hpp makes one
/// of a vector, a matrix of Eigen or an mdspan.
template <class T>
struct MatrixView {
  T* data = nullptr;
  Index rows = 0;
  Index cols = 0;
  Index stride = 0;  ///< elements from one row to the next; >= cols

  MatrixView() = default;
  /// Rows that follow each other without a gap.
  constexpr MatrixView(T* start, Index n, Index d) : MatrixView(start, n, d, d) {}
  constexpr MatrixView(T* start, Index n, Index d, Index step)
      : data(start), rows(n), cols(d), stride(step) {}
  /// What may be written to may also be read.
  template <class Other>
  requires std::same_as<T, const Other>
  constexpr MatrixView(const MatrixView<Other>& other)
      : MatrixView(other.data, other.rows, other.cols, other.stride) {}

  T& operator()(Index i, Index j) const { return data[i * stride + j]; }
  std::span<T> row(Index i) const { return {data + i * stride, static_cast<std::size_t>(cols)}; }
};

/// A borrowed compressed-sparse-row matrix (SciPy's CSR). Row i is one point; its entries stand at
/// starts[i] .. starts[i + 1]. Columns within a row are ascending and unique.
template <class T, class I>
struct CsrView {
  Index rows = 0;
  Index cols = 0;
  const I* starts = nullptr;   ///< rows + 1
  const I* columns = nullptr;  ///< starts[rows]
  const T* values = nullptr;   ///< starts[rows]
};

/// Rows that are fetched when they are needed, because all of them would not fit the memory.
template <class T>
class RowSource {
 public:
  virtual ~RowSource() = default;
  /// Rows first .. last, one after the other. Called from many threads. Throws Error when they
  /// cannot be had.
  virtual void read(Index first, Index last, T* out) const = 0;
};

/// A borrowed source of dense rows. Row i is one point.
template <class T>
struct StreamView {
  const RowSource<T>* source = nullptr;
  Index rows = 0;
  Index cols = 0;
};

/// Numbers of one or two bytes. float32 holds every value of each, and is what they are computed with.
enum class NarrowNumber { uint8, int8, uint16, int16, float16, bfloat16 };
/// "uint8", "bfloat16", ...
const char* name_of(NarrowNumber number);
/// 1 or 2.
Index bytes_of(NarrowNumber number);

/// A borrowed row-major matrix of narrow numbers in this machine's byte order, each of which becomes a float32 when it is
/// read. Row i is one point. fwsr/views.hpp makes one of a vector, or of an address.
struct NarrowView {
  const void* numbers = nullptr;
  NarrowNumber number = NarrowNumber::uint8;
  Index rows = 0;
  Index cols = 0;
  Index stride = 0;  ///< numbers from one row to the next; >= cols

  /// Numbers of a row as float32, one by one.
  struct Row {
    const std::byte* first;
    NarrowNumber number;
    float operator[](std::size_t j) const;
  };
  const std::byte* address(Index i) const {
    return static_cast<const std::byte*>(numbers) + i * stride * bytes_of(number);
  }
  Row row(Index i) const { return {address(i), number}; }
  float operator()(Index i, Index j) const { return row(i)[static_cast<std::size_t>(j)]; }
  /// All numbers of rows first .. last as float32, row after row.
  void read(Index first, Index last, float* out) const;
};

/// Everything that can be selected from, used in place.
using PointsView =
    std::variant<MatrixView<const float>, MatrixView<const double>, CsrView<float, std::int32_t>,
                 CsrView<double, std::int32_t>, CsrView<float, std::int64_t>,
                 CsrView<double, std::int64_t>, StreamView<float>, StreamView<double>, NarrowView>;

inline Index rows_of(const PointsView& p) {
  return std::visit([](const auto& v) { return v.rows; }, p);
}
inline Index cols_of(const PointsView& p) {
  return std::visit([](const auto& v) { return v.cols; }, p);
}
inline bool is_sparse(const PointsView& p) {
  return p.index() >= 2 && p.index() < 6;
}
inline bool is_streamed(const PointsView& p) {
  return p.index() == 6 || p.index() == 7;
}
inline bool is_narrow(const PointsView& p) {
  return p.index() == 8;
}
/// True for points that are computed with as float32: float32 ones and narrow ones.
inline bool is_single(const PointsView& p) {
  return p.index() % 2 == 0;
}
/// Bytes of one number as it is stored; of streamed points, as it is read.
Index number_bytes(const PointsView& p);
/// How one number is stored: "float32", "uint8", ...; of streamed points, what it is read as.
const char* number_name(const PointsView& p);
/// Stored entries: rows x cols for dense points, non-zeros for sparse ones.
Index entries_of(const PointsView& p);

/// rows x cols x size in bytes; throws Error when that does not fit in 63 bits.
Index checked_bytes(Index rows, Index cols, std::size_t size = sizeof(double));

}  // namespace fwsr
