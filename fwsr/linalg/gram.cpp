#include "fwsr/linalg/gram.hpp"

#include <algorithm>
#include <type_traits>

#include "fwsr/base/at.hpp"
#include "fwsr/base/placed_blocks.hpp"
#include "fwsr/base/segments.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/large_array.hpp"
#include "fwsr/linalg/matrix_unit.hpp"
#include "fwsr/linalg/pass.hpp"
#include "fwsr/linalg/rows.hpp"

namespace fwsr {

namespace {

/// Rows added in T before the sum goes on in double: products add them in one chain, and float32
/// would lose a digit over many.
constexpr Index gram_rows = 1024;
constexpr Index product_rows = 384;  // rows per product, or fewer in steps of
constexpr Index product_step = 48;   // a multiple of every micro-kernel's height
constexpr Index leaf = 112;          // triangles no larger than this are multiplied as squares

/// Rows per block: the same for these points whatever the number of threads.
Index product_height(Index n) {  // a shard may have no candidates at all
  return std::min(product_rows, std::max<Index>(1, block_count(n, product_step)) * product_step);
}

/// Columns begin .. end of Y = A U from the same columns of A; U upper triangular with zeros below.
/// Two triangles and the square between them, recursively: half the work of a full product.
template <class T>
void times_triangle(Index rows, Index d, Index begin, Index end, const T* a, const T* u, T* y) {
  const auto product = [&](Index from, Index to, Index first, Index last, T keep) {
    multiply(Product<T>{.m = rows,
                        .n = last - first,
                        .k = to - from,
                        .left = a + from,
                        .left_stride = d,
                        .right = u + from * d + first,
                        .right_stride = d,
                        .b = keep,
                        .out = y + first,
                        .out_stride = d});
  };
  if (end - begin <= leaf) return product(begin, end, begin, end, 0);
  const Index middle = begin + (end - begin + 31) / 32 * 16;
  times_triangle(rows, d, begin, middle, a, u, y);
  times_triangle(rows, d, middle, end, a, u, y);
  product(begin, middle, middle, end, 1);
}

}  // namespace

double gram_sum_bytes(const Portion& rows, Index d) {
  const auto square = static_cast<double>(d) * static_cast<double>(d);
  const Index in_a_row =
      segments_in_a_row(rows, 8 * square, static_cast<double>(rows.segment()) * square);
  // A segment that is one product, and added at once, needs no sum in addition to it.
  if (in_a_row == 1 && rows.segment() == gram_rows) return 0;
  return 8 * square * static_cast<double>(std::max<Index>(1, in_a_row));
}

void add_gram(Gram& to, const Gram& more) {
  if (to.products.empty()) to.products.resize(more.products.size());
  if (to.rows.empty()) to.rows.resize(more.rows.size());
  const auto d = static_cast<Index>(more.rows.size());
  add_triangle(more.products.data(), d, to.products.data());
  for (Index i = 0; i < d; ++i) to.rows[at(i)] += more.rows[at(i)];
}

template <class T>
Gram gram_of_rows(Index n, Index d, int threads, const FillRows<T>& fill) {
  SegmentSums<Gram> sums = gram_in_segments(n, d, threads, fill);
  if (sums.empty())
    return {.products = std::vector<double>(at(d * d)), .rows = std::vector<double>(at(d))};
  return std::move(sums.front());
}

template <class T>
SegmentSums<Gram> gram_in_segments(const Portion& portion, Index d, int threads,
                                   const FillRows<T>& fill) {
  const Index n = portion.size;
  constexpr Index height = gram_rows;
  struct Scratch {
    LargeArray<T> numbers;  // rows, then their product: on large pages together
    UnitRoom room;
  };
  const Index most = std::min(n, height) * d;
  const bool unit = std::is_same_v<T, float> && matrix_unit_pays(d);
  const auto square = static_cast<double>(d) * static_cast<double>(d);
  const int team = threads_for(threads, static_cast<double>(n) * square);
  const double bytes = 8 * square, work = static_cast<double>(portion.segment()) * square;
  const bool direct = portion.leads() && gram_sum_bytes(portion, d) == 0;
  std::vector<Scratch> scratch(static_cast<std::size_t>(std::max(1, team)));
  SegmentSums<Gram> sums;
  if (portion.leads() && n > 0)
    sums.push_back(
        {.products = std::vector<double>(at(d * d)), .rows = std::vector<double>(at(d))});
  sum_segments<Gram>(
      team, portion, bytes, work,
      [&](int thread, Gram& sum, Index first, Index last) {
        auto& [numbers, room] = scratch[static_cast<std::size_t>(thread)];
        if (!numbers) numbers = make_large_array<T>(most + d * d);
        T *const rows = numbers.get(), *const product = rows + most;
        if (!direct) sum.products.assign(at(d * d), 0.0);
        sum.rows.assign(at(d), 0.0);
        for (Index from = first; from < last; from += height) {
          const Index count = std::min(height, last - from);
          fill(from, from + count, rows);
          if constexpr (std::is_same_v<T, float>) {
            if (unit) gram_on_unit(rows, count, d, product, room);
          }
          if (!unit) multiply_by_itself(MatrixView<const T>{rows, count, d, d}, product, d);
          if (!direct) add_triangle(product, d, sum.products.data());
          add_rows(rows, count, d, sum.rows.data());
        }
      },
      [&](const Gram& sum, int thread) {
        if (!direct) return append_segment(portion, sums, sum, add_gram);
        add_triangle(scratch[static_cast<std::size_t>(thread)].numbers.get() + most, d,
                     sums.front().products.data());
        for (Index i = 0; i < d; ++i) sums.front().rows[at(i)] += sum.rows[at(i)];
      });
  return sums;
}

void mirror(Index d, std::vector<double>& m) {
  constexpr Index tile = 32;  // rows and columns that are both in cache
  for (Index row = 0; row < d; row += tile)
    for (Index column = row; column < d; column += tile)
      for (Index i = row; i < std::min(d, row + tile); ++i)
        for (Index j = std::max(i + 1, column); j < std::min(d, column + tile); ++j)
          m[at(j * d + i)] = m[at(i * d + j)];
}

template <class T>
void quadratic_forms(const Portion& portion, Index d, int threads, const FillRows<T>& fill,
                     std::span<const double> m, const VisitForms& visit) {
  // a^T M a = 2 a^T U a with U the upper triangle of M and half its diagonal.
  LargeArray<T> u = make_large_array<T>(d * d);
  for (Index i = 0; i < d; ++i) {
    std::fill_n(u.get() + i * d, i, T{0});
    u[at(i * d + i)] = static_cast<T>(m[at(i * d + i)] / 2);
    for (Index j = i + 1; j < d; ++j) u[at(i * d + j)] = static_cast<T>(m[at(i * d + j)]);
  }
  const Index height = product_height(portion.of);
  const auto work =
      static_cast<double>(portion.size) * static_cast<double>(d) * static_cast<double>(d);
  const int team = threads_for(threads, work);
  struct Scratch {
    LargeArray<T> numbers;  // rows, then their products: on large pages together
    std::vector<double> forms;
    UnitRoom room;
  };
  std::vector<Scratch> scratch(static_cast<std::size_t>(std::max(1, team)));
  const bool unit = std::is_same_v<T, float> && matrix_unit_pays(d);
  UnitRoom packed;
  if constexpr (std::is_same_v<T, float>) {
    if (unit) packed = pack_triangle(u.get(), d), u.reset();
  }
  for_blocks_of_all(team, portion, height, [&](int thread, Index first, Index last, Index before) {
    auto& [numbers, forms, room] = scratch[static_cast<std::size_t>(thread)];
    if (!numbers) numbers = make_large_array<T>((unit ? 1 : 2) * height * d);
    T *const a = numbers.get(), *const y = a + height * d;
    const Index end = before + last - first;
    forms.resize(at(height));
    std::fill(a, a + before * d, T{0});
    fill(first, last, a + before * d);
    if constexpr (std::is_same_v<T, float>) {
      if (unit) forms_on_unit(a, end, d, packed, forms.data(), room);
    }
    if (!unit) {  // always a full block: the rows around those that are here are zero
      std::fill(a + end * d, a + height * d, T{0});
      times_triangle(height, d, 0, d, a, u.get(), y);
      for (Index i = before; i < end; ++i) forms[at(i)] = dot(a + i * d, y + i * d, d);
    }
    for (Index i = before; i < end; ++i) forms[at(i)] *= 2;
    visit(first, last, forms.data() + before);
  });
}

void visit_products(const Portion& portion, Index d, int threads, const FillRows<double>& fill,
                    std::span<const double> m, std::span<const double> second,
                    const VisitProducts& visit) {
  const Index height = product_height(portion.of);
  const auto product = [&](const std::vector<double>& left, std::span<const double> right,
                           std::vector<double>& out) {
    multiply(Product<double>{.m = height,
                             .n = d,
                             .k = d,
                             .left = left.data(),
                             .right = right.data(),
                             .out = out.data()});
  };
  for_blocks_of_all(threads, portion, height, [&](int, Index first, Index last, Index before) {
    std::vector<double> a(at(height * d)), y(at(height * d)), z(at(height * d));
    fill(first, last, a.data() + before * d);
    product(a, m, y);
    product(y, second, z);
    for (Index i = first; i < last; ++i) {
      const Index row = (before + i - first) * d;
      visit(i, a.data() + row, y.data() + row, z.data() + row);
    }
  });
}

template Gram gram_of_rows<float>(Index, Index, int, const FillRows<float>&);
template Gram gram_of_rows<double>(Index, Index, int, const FillRows<double>&);
template SegmentSums<Gram> gram_in_segments<float>(const Portion&, Index, int,
                                                   const FillRows<float>&);
template SegmentSums<Gram> gram_in_segments<double>(const Portion&, Index, int,
                                                    const FillRows<double>&);
template void quadratic_forms<float>(const Portion&, Index, int, const FillRows<float>&,
                                     std::span<const double>, const VisitForms&);
template void quadratic_forms<double>(const Portion&, Index, int, const FillRows<double>&,
                                      std::span<const double>, const VisitForms&);

}  // namespace fwsr
