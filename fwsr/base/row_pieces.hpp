// Rows that lie in several pieces of memory, one piece after the other. Who reads them gets a copy, as of any source;
// points (prep/points.hpp) use them where they stand.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "fwsr/base/index.hpp"

namespace fwsr {

template <class T>
class RowPieces final : public RowSource<T> {
 public:
  struct Piece {
    Index first = 0;  // the number of its first row among all
    MatrixView<const T> there;
    bool has(Index row) const { return row >= first && row - first < there.rows; }
  };

  /// The numbers are the caller's. @pre all pieces have as many columns
  explicit RowPieces(const std::vector<MatrixView<const T>>& pieces) {
    for (const MatrixView<const T>& piece : pieces) {
      if (piece.rows == 0) continue;
      pieces_.push_back({.first = rows_, .there = piece});
      rows_ += piece.rows;
    }
  }
  Index rows() const { return rows_; }

  /// The piece that a row is in. @pre there is such a row
  const Piece& with(Index row) const {
    const auto next = std::upper_bound(pieces_.begin(), pieces_.end(), row,
                                       [](Index r, const Piece& piece) { return r < piece.first; });
    return *std::prev(next);
  }
  void read(Index first, Index last, T* out) const override {
    for (Index row = first; row < last; ++row) {
      const Piece& piece = with(row);
      const auto numbers = piece.there.row(row - piece.first);
      out = std::copy(numbers.begin(), numbers.end(), out);
    }
  }

 private:
  std::vector<Piece> pieces_;
  Index rows_ = 0;
};

}  // namespace fwsr
