// Products of some vectors with all points, some points at a time: what asks every point for its part in a residual.
#pragma once

#include <algorithm>
#include <vector>

#include "fwsr/base/at.hpp"
#include "fwsr/base/index.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/methods/method.hpp"
#include "fwsr/prep/points.hpp"

namespace fwsr {

/// Room for one thread: make one in each.
class AllProducts {
 public:
  /// For up to `vectors` vectors at a time.
  AllProducts(const Points& points, Index vectors)
      : points_(points), products_(at(vectors * tile)) {
    if (!points.sparse()) rows_.resize(at(tile * points.dim()));
  }

  /// How many vectors of d numbers to take at a time: as many as fill a few megabytes. Part of the answer.
  static Index at_once(Index d) { return std::clamp<Index>((Index{1} << 19) / d, 16, 256); }
  static constexpr Index tile = 512;

  /// Calls use(begin, end, products): products[v * tile + j - begin] = <vector v, a_j> for j in begin .. end; `vectors`
  /// are rows of dim() numbers.
  template <class Use>
  void visit(const std::vector<double>& vectors, Index count, const Use& use) {
    if (points_.sparse()) return visit_sparse(vectors, count, use);
    const Index n = points_.size(), d = points_.dim();
    for (Index begin = 0; begin < n; begin += tile) {
      const Index end = std::min(n, begin + tile);
      points_.rows(begin, end, rows_.data());
      multiply(Product<double>{.op_b = Op::transpose,
                               .m = count,
                               .n = end - begin,
                               .k = d,
                               .left = vectors.data(),
                               .right = rows_.data(),
                               .out = products_.data(),
                               .out_stride = tile});
      use(begin, end, static_cast<const double*>(products_.data()));
    }
  }

 private:
  /// Every stored number meets its feature in all vectors.
  template <class Use>
  void visit_sparse(const std::vector<double>& vectors, Index count, const Use& use) {
    const Index n = points_.size();
    const Points::ByFeature laid_out(points_, vectors.data(), count, 1);
    std::vector<double> one(at(laid_out.padded()));
    for (Index begin = 0; begin < n; begin += tile) {
      const Index end = std::min(n, begin + tile);
      for (Index j = begin; j < end; ++j) {
        points_.sparse_products(j, laid_out, one.data());
        for (Index v = 0; v < count; ++v) products_[at(v * tile + j - begin)] = one[at(v)];
      }
      use(begin, end, static_cast<const double*>(products_.data()));
    }
  }

  const Points& points_;
  std::vector<double> rows_, products_;
};

/// For a plan: what a thread holds, and the operations of all products of `vectors` vectors with all points.
inline double all_products_bytes(const Sizes& s) {
  const auto at_once = static_cast<double>(AllProducts::at_once(static_cast<Index>(s.d)));
  const double tile = AllProducts::tile;
  return 8 * (s.sparse ? at_once * (tile + 2 * s.d) : tile * s.d + at_once * (tile + s.d));
}
inline double all_products_flops(const Sizes& s, double vectors) {
  return vectors * s.n * (s.pair() + 4);
}

}  // namespace fwsr
