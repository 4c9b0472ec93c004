// The rows of a matrix as a source of points that stay elsewhere.
#pragma once

#include <algorithm>

#include "fwsr/views.hpp"

namespace fwsr {

template <class T>
class LentRows final : public RowSource<T> {
 public:
  explicit LentRows(MatrixView<const T> m) : m_(m) {}
  void read(Index first, Index last, T* out) const override {
    for (Index i = first; i < last; ++i, out += m_.cols)
      std::copy_n(m_.row(i).data(), m_.cols, out);
  }
  PointsView view() const { return StreamView<T>{this, m_.rows, m_.cols}; }

 private:
  MatrixView<const T> m_;
};

}  // namespace fwsr
