// Points as rows of doubles, block by block: while one block is worked on, the next is written out beside it.
#pragma once

#include <algorithm>

#include "fwsr/cuda/device.hpp"
#include "fwsr/cuda/device_points.hpp"
#include "fwsr/cuda/statistics.hpp"

namespace fwsr::cuda {

class RowBlocks {
 public:
  /// Blocks of `at_once` points.
  RowBlocks(Device& device, const DevicePoints& points, Index at_once)
      : device_(device), points_(points), at_once_(std::min(at_once, points.size())) {
    for (Array<double>& rows : rows_)
      if (&rows == rows_ || points.size() > at_once_)
        rows = Array<double>(device, at_once_ * points.dim());
    const Event there;
    there.record(device.stream());
    there.hold(device.beside());
    write(0, 0);
  }
  /// What is being written is waited for before its memory goes.
  ~RowBlocks() {
    for (const Event& e : written_) e.hold(device_.stream());
  }
  RowBlocks(const RowBlocks&) = delete;
  RowBlocks& operator=(const RowBlocks&) = delete;

  /// The rows of the block that begins with point `first`. Blocks are asked for in order, each once.
  double* rows_from(Index first) {
    const Index block = first / at_once_;
    written_[block % 2].hold(device_.stream());
    const Event reached;  // all that was asked of the block before is done then
    reached.record(device_.stream());
    reached.hold(device_.beside());
    write(first + at_once_, (block + 1) % 2);
    return rows_[block % 2].get();
  }

 private:
  void write(Index first, Index turn) {
    const Index last = std::min(points_.size(), first + at_once_);
    if (first >= last) return;
    const Index most = points_.brought() > 0 ? points_.brought() : at_once_;
    try {
      write_parts(first, last, most, turn);
    } catch (...) {  // these may not go while something is still written
      cudaStreamSynchronize(device_.beside());
      throw;
    }
    written_[turn].record(device_.beside());
  }
  void write_parts(Index first, Index last, Index most, Index turn) {
    for (Index begin = first; begin < last; begin += most) {
      const Index end = std::min(last, begin + most);
      points_.with_part(begin, end, device_.beside(), [&](const Rows& part) {
        launch_fill(device_.beside(), part, 0, end - begin,
                    rows_[turn].get() + (begin - first) * points_.dim());
      });
    }
  }

  Device& device_;
  const DevicePoints& points_;
  Index at_once_;
  Array<double> rows_[2];
  Event written_[2];
};

}  // namespace fwsr::cuda
