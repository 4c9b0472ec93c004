#include "fwsr/kernel/kernel_matrix.hpp"

#include <algorithm>

#include "fwsr/base/blocks.hpp"
#include "fwsr/linalg/rows.hpp"

namespace fwsr {

void KernelMatrix::column(Index j, std::span<double> out) const {
  scan(j, j + 1, [&](Index begin, Index end, const double* tile, Index) {
    std::copy(tile, tile + (end - begin), out.data() + begin);
  });
}

void KernelMatrix::multiply(std::span<const double> x, std::span<double> out, int threads) const {
  const auto n = static_cast<double>(size());
  for_blocks(
      threads_for(threads, 2 * n * n), size(),
      [&](Index, Index first, Index last) {
        std::fill(out.data() + first, out.data() + last, 0.0);
        scan(first, last, [&](Index begin, Index end, const double* tile, Index stride) {
          for (Index i = first; i < last; ++i)
            out[static_cast<std::size_t>(i)] +=
                dot(tile + (i - first) * stride, x.data() + begin, end - begin);
        });
      },
      row_block());
}

}  // namespace fwsr
