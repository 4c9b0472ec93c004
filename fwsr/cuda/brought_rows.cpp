#include "fwsr/cuda/brought_rows.hpp"

#include <algorithm>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"

namespace fwsr::cuda {

namespace {

constexpr Index piece = 16;  // bytes

/// From one row to the next, in whole pieces where rows are handed on.
Index stride_of(const Stored& stored) {
  if (!stored.read) return stored.stride;
  const Index size = bytes_of(stored.number);
  return (stored.features * size + piece - 1) / piece * piece / size;
}

}  // namespace

BroughtRows::BroughtRows(Device& device, std::shared_ptr<const Stored> stored, int threads)
    : device_(device),
      stored_(std::move(stored)),
      threads_(threads),
      stride_(stride_of(*stored_)),
      whole_pieces_(stored_->read || stored_->whole_pieces) {
  constexpr Index bytes_at_once = Index{64} << 20, group = 1024;
  const Index each = stride_ * bytes_of(stored_->number);
  const Index most = std::max<Index>(1, std::min(bytes_at_once, device.memory() / 64) / each);
  at_once_ = std::min(most > group ? most / group * group : std::max<Index>(32, most / 32 * 32),
                      (stored_->rows + 31) / 32 * 32);
  for (Place& place : places_) {
    place.rows = Array<unsigned char>(device, at_once_ * each);
    place.rows.set_to_zero();  // behind the last feature it stays so
    if (stored_->read)
      place.pinned.emplace(at_once_ * stored_->features * bytes_of(stored_->number));
    place.used.record(device.stream());
  }
}

BroughtRows::~BroughtRows() {
  for (const Place& place : places_) {
    place.copied.hold(device_.stream());
    cudaStreamSynchronize(device_.beside());
  }
}

const void* BroughtRows::bring(std::span<const Index> subset, Index first, Index last,
                               cudaStream_t stream) {
  turn_ = 1 - turn_;
  Place& place = places_[turn_];
  const Index size = bytes_of(stored_->number), row = stored_->features * size,
              pitch = stride_ * size, count = last - first;
  const void* from = nullptr;
  Index from_pitch = row;
  if (place.pinned) {
    place.copied.wait();  // what was handed on before
    auto* const to = reinterpret_cast<std::byte*>(place.pinned->get());
    const Index each = std::max<Index>(1, (Index{2} << 20) / row);
    for_blocks(
        threads_, count,
        [&](Index, Index begin, Index end) {
          read_rows(*stored_, subset, first + begin, first + end, to + begin * row);
        },
        each);
    from = to;
  } else {
    from = static_cast<const std::byte*>(stored_->data) + first * pitch;
    from_pitch = pitch;
  }
  place.used.hold(device_.beside());
  if (from_pitch == pitch)  // the last row may end with its last feature
    check(cudaMemcpyAsync(place.rows.get(), from, at((count - 1) * pitch + row), cudaMemcpyDefault,
                          device_.beside()),
          "copying points to the card");
  else
    check(cudaMemcpy2DAsync(place.rows.get(), at(pitch), from, at(from_pitch), at(row), at(count),
                            cudaMemcpyDefault, device_.beside()),
          "copying points to the card");
  place.copied.record(device_.beside());
  place.copied.hold(stream);
  return place.rows.get();
}

void read_rows(const Stored& stored, std::span<const Index> subset, Index first, Index last,
               std::byte* out) {
  const Index row = stored.features * bytes_of(stored.number);
  if (subset.empty()) return stored.read(first, last, out);
  for (Index i = first; i < last;) {  // neighbours at once
    Index end = i + 1;
    while (end < last && subset[at(end)] == subset[at(end - 1)] + 1) ++end;
    stored.read(subset[at(i)], subset[at(end - 1)] + 1, out + (i - first) * row);
    i = end;
  }
}

}  // namespace fwsr::cuda
