// Narrow numbers that are fetched when they are needed: as float32, as from any source, and as they are stored, for who
// knows what to do with them.
#pragma once

#include <cstddef>

#include "fwsr/base/index.hpp"

namespace fwsr {

class NarrowSource : public RowSource<float> {
 public:
  virtual NarrowNumber number() const = 0;
  /// Rows first .. last, one after the other, bytes_of(number()) a number. As read() in all else.
  virtual void read_stored(Index first, Index last, std::byte* out) const = 0;
};

/// `source` as one of narrow numbers, or null.
inline const NarrowSource* narrow_source(const RowSource<float>* source) {
  return dynamic_cast<const NarrowSource*>(source);
}
inline const NarrowSource* narrow_source(const PointsView& view) {
  const auto* const stream = std::get_if<StreamView<float>>(&view);
  return stream ? narrow_source(stream->source) : nullptr;
}

}  // namespace fwsr
