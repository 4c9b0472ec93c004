#include "fwsr/cuda/gram.hpp"

#include <algorithm>

#include "fwsr/cuda/load.cuh"

namespace fwsr::cuda {

namespace {

// What was measured: bench/results/gpu.md.
constexpr Index widest_tile = 128;
constexpr Index least_rows = 128;   // of a product
constexpr Index products_each = 4;  // for every processor of the card

/// The last tile ends with the matrix, and may overlap the one before it.
FWSR_ANYWHERE Index start_of(Index tile, Index width, Index dim) {
  return tile * width < dim - width ? tile * width : dim - width;
}
/// Which of the pairs of tiles q <= r this is, row by row.
FWSR_ANYWHERE Index pair_of(Index q, Index r, Index tiles) {
  return q * tiles - q * (q - 1) / 2 + r - q;
}

}  // namespace

GramSum::GramSum(Device& device, Index dim, Index rows)
    : device_(device),
      dim_(dim),
      width_(std::min(dim, widest_tile)),
      tiles_((dim + width_ - 1) / width_),
      pairs_(tiles_ * (tiles_ + 1) / 2),
      shares_(std::max<Index>(
          1, std::min({products_each * device.processors() / pairs_, rows / least_rows,
                       device.memory() / 512 / (pairs_ * width_ * width_)}))),
      parts_(device, pairs_ * shares_ * width_ * width_),
      rest_(device, dim * dim),
      left_(device, pairs_ * shares_),
      right_(device, pairs_ * shares_),
      out_(device, pairs_ * shares_) {
  parts_.set_to_zero();
  rest_.set_to_zero();
}

void GramSum::add(const double* rows, Index count) {
  const Index shares = std::clamp<Index>(count / least_rows, 1, shares_), each = count / shares;
  const Index dim = dim_, width = width_, tiles = tiles_, all = shares_;
  const double **const left = left_.get(), **const right = right_.get();
  double *const parts = parts_.get(), **const out = out_.get();
  for_cells(device_, tiles * tiles, shares, [=] __device__(Index tile, Index s) {
    const Index q = tile / tiles, r = tile % tiles;
    if (q > r) return;
    const Index pair = pair_of(q, r, tiles);
    const double* const share = rows + s * each * dim;
    left[pair * shares + s] = share + start_of(q, width, dim);
    right[pair * shares + s] = share + start_of(r, width, dim);
    out[pair * shares + s] = parts + (pair * all + s) * width * width;
  });
  device_.blas().add_products({.left = left,
                               .right = right,
                               .out = out,
                               .rows = each,
                               .width = width,
                               .stride = dim,
                               .count = pairs_ * shares});
  const Index done = each * shares;
  const Matrix rest{rows + done * dim, count - done, dim, dim};
  device_.blas().multiply({.left = rest,
                           .left_transposed = true,
                           .right = rest,
                           .b = 1,
                           .out = rest_.get(),
                           .out_stride = dim});
}

std::vector<double> GramSum::total() {
  const Index dim = dim_, width = width_, tiles = tiles_, shares = shares_;
  const double* const parts = parts_.get();
  double* const sum = rest_.get();
  for_cells(device_, dim, dim, [=] __device__(Index k, Index l) {
    if (l < k) return;
    const Index q = k / width, r = l / width;
    const Index at = (k - start_of(q, width, dim)) * width + l - start_of(r, width, dim);
    const double* const from = parts + pair_of(q, r, tiles) * shares * width * width + at;
    double all = sum[k * dim + l];
    for (Index s = 0; s < shares; ++s) all += from[s * width * width];
    sum[k * dim + l] = all;
  });
  return rest_.get_all();
}

}  // namespace fwsr::cuda
