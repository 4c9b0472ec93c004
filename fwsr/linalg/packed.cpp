#include "fwsr/linalg/packed.hpp"

#include <algorithm>

namespace fwsr {

PackedVectors::PackedVectors(std::span<const double* const> vectors, Index d)
    : size_(padded_length(static_cast<Index>(vectors.size()))),
      d_(d),
      numbers_(static_cast<std::size_t>(size_ * d)) {
  const auto count = static_cast<Index>(vectors.size());
  double* to = numbers_.data();
  for (Index group = 0; group < size_; group += packed_width) {
    const Index width = std::min(packed_width, size_ - group);
    const auto own = vectors.subspan(static_cast<std::size_t>(group),
                                     static_cast<std::size_t>(std::min(width, count - group)));
    for (Index first = 0; first < d; first += packed_depth)
      for (Index q = 0; q < pass_lanes; ++q)
        for (Index l = first + q; l < std::min(d, first + packed_depth); l += pass_lanes) {
          for (std::size_t k = 0; k < own.size(); ++k) to[k] = own[k][l];
          to += width;
        }
  }
}

}  // namespace fwsr
