// Vectors laid out for products of many rows with all of them.
#pragma once

#include <algorithm>
#include <span>

#include "fwsr/base/aligned.hpp"
#include "fwsr/base/index.hpp"
#include "fwsr/linalg/pass.hpp"

namespace fwsr {

class PackedVectors {
 public:
  PackedVectors() = default;
  /// Vectors of d numbers each, which are copied.
  PackedVectors(std::span<const double* const> vectors, Index d);

  /// Vectors, the zero ones that fill them up to a multiple of pass_lanes too.
  Index size() const { return size_; }
  /// Those from vector `first` on that are multiplied at a time. @pre a multiple of packed_width
  PackedView group(Index first) const {
    return {.numbers = numbers_.data() + first * d_,
            .vectors = std::min(packed_width, size_ - first),
            .d = d_};
  }

 private:
  Index size_ = 0, d_ = 0;
  AlignedVector<double> numbers_;
};

}  // namespace fwsr
