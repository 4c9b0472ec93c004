#include "fwsr/linalg/gram.hpp"

#include <algorithm>
#include <type_traits>

#include "fwsr/base/blocks.hpp"
#include "fwsr/linalg/blas.hpp"

namespace fwsr {

namespace {

constexpr Index panel = 64;          // columns of the Gram matrix per task
constexpr Index load_rows = 64;      // rows per task when a block is loaded
constexpr Index product_rows = 384;  // rows per product, or fewer in steps of
constexpr Index product_step = 48;   // a multiple of every micro-kernel's height, so that equal
                                     // points get equal bits wherever they stand
/// Rows added in T before the sum goes on in double: some kernels add them all in one chain, and
/// float32 would lose a digit over 1024 of them.
template <class T>
constexpr Index chain = std::is_same_v<T, float> ? 64 : block_size;

std::size_t size(Index n) {
  return static_cast<std::size_t>(n);
}

}  // namespace

template <class T>
std::vector<double> gram_of_rows(Index n, Index d, int threads, const FillRows<T>& fill) {
  std::vector<double> gram(size(d * d));
  std::vector<T> block(size(std::min(n, block_size) * d));
  const Index panels = block_count(d, panel);
  std::vector<T> partial(size(d * d));
  for (Index first = 0; first < n; first += block_size) {
    const Index rows = std::min(block_size, n - first);
    for_blocks(
        threads, rows,
        [&](Index, Index a, Index b) { fill(first + a, first + b, block.data() + a * d); },
        load_rows);
    // Columns c .. e of the upper triangle, added to the sum.
    for_tasks(threads, panels, [&](Index p) {
      const Index c = (panels - 1 - p) * panel;  // the widest panel first
      const Index e = std::min(d, c + panel);
      for (Index r = 0; r < rows; r += chain<T>) {
        multiply(Product<T>{.op_a = Op::transpose,
                            .m = e,
                            .n = e - c,
                            .k = std::min(chain<T>, rows - r),
                            .left = block.data() + r * d,
                            .left_stride = d,
                            .right = block.data() + r * d + c,
                            .right_stride = d,
                            .out = partial.data() + c,
                            .out_stride = d});
        for (Index i = 0; i < e; ++i)
          for (Index j = std::max(c, i); j < e; ++j)
            gram[size(i * d + j)] += static_cast<double>(partial[size(i * d + j)]);
      }
    });
  }
  for (Index i = 0; i < d; ++i)
    for (Index j = 0; j < i; ++j) gram[size(i * d + j)] = gram[size(j * d + i)];
  return gram;
}

template <class T>
void visit_products(Index n, Index d, int threads, const FillRows<T>& fill,
                    const std::vector<double>& m, const std::vector<double>* second,
                    const VisitProducts<T>& visit) {
  const std::vector<T> first_matrix(m.begin(), m.end());
  std::vector<T> second_matrix;
  if (second) second_matrix.assign(second->begin(), second->end());
  const Index height = std::min(product_rows, block_count(n, product_step) * product_step);
  const auto product = [&](const std::vector<T>& left, const std::vector<T>& right,
                           std::vector<T>& out) {
    multiply(Product<T>{.m = height,
                        .n = d,
                        .k = d,
                        .left = left.data(),
                        .left_stride = d,
                        .right = right.data(),
                        .right_stride = d,
                        .out = out.data(),
                        .out_stride = d});
  };
  for_blocks(
      threads, n,
      [&](Index, Index first, Index last) {
        // Always a full block: the rows behind the last one are zero.
        std::vector<T> a(size(height * d)), y(size(height * d)), z(second ? size(height * d) : 0);
        fill(first, last, a.data());
        product(a, first_matrix, y);
        if (second) product(y, second_matrix, z);
        for (Index i = 0; i < last - first; ++i)
          visit(first + i, a.data() + i * d, y.data() + i * d, second ? z.data() + i * d : nullptr);
      },
      height);
}

template std::vector<double> gram_of_rows<float>(Index, Index, int, const FillRows<float>&);
template std::vector<double> gram_of_rows<double>(Index, Index, int, const FillRows<double>&);
template void visit_products<float>(Index, Index, int, const FillRows<float>&,
                                    const std::vector<double>&, const std::vector<double>*,
                                    const VisitProducts<float>&);
template void visit_products<double>(Index, Index, int, const FillRows<double>&,
                                     const std::vector<double>&, const std::vector<double>*,
                                     const VisitProducts<double>&);

}  // namespace fwsr
