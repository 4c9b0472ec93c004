// Stored rows that are not on the card, brought there block by block: while one is worked on, the next is read and copied
// into another place.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "fwsr/cuda/device.hpp"
#include "fwsr/cuda/pinned.hpp"
#include "fwsr/cuda/stored.hpp"

namespace fwsr::cuda {

class BroughtRows {
 public:
  /// `stored` is in the memory of this machine, or fetched. `threads`: that read from a file.
  BroughtRows(Device& device, std::shared_ptr<const Stored> stored, int threads);
  ~BroughtRows();
  BroughtRows(const BroughtRows&) = delete;
  BroughtRows& operator=(const BroughtRows&) = delete;

  /// Rows that fit a place.
  Index at_once() const { return at_once_; }
  /// Numbers from one row to the next, on the card.
  Index stride() const { return stride_; }
  bool whole_pieces() const { return whole_pieces_; }

  /// Rows first .. last of `subset`, or of all where that is empty, for what is asked of `stream` until `done`.
  /// @pre at most so many fit a place; only rows that are fetched have a subset
  const void* bring(std::span<const Index> subset, Index first, Index last, cudaStream_t stream);
  void done(cudaStream_t stream) { places_[turn_].used.record(stream); }

 private:
  struct Place {
    Array<unsigned char> rows;
    std::optional<Pinned> pinned;  // where the processor hands them on
    Event copied, used;
  };

  Device& device_;
  std::shared_ptr<const Stored> stored_;
  int threads_;
  Index stride_, at_once_;
  bool whole_pieces_;
  Place places_[2];
  int turn_ = 0;
};

/// Rows of `subset` from first to last, or of all where that is empty, as they are read: one after the other.
void read_rows(const Stored& stored, std::span<const Index> subset, Index first, Index last,
               std::byte* out);

}  // namespace fwsr::cuda
