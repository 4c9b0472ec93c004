#include "fwsr/cuda/stored.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/base/memory.hpp"
#include "fwsr/base/narrow_source.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/cuda/brought_rows.hpp"
#include "fwsr/cuda/pinned.hpp"

namespace fwsr::cuda {

namespace {

constexpr Index piece = 16;  // bytes

Number number_of(NarrowNumber narrow) {
  switch (narrow) {
    case NarrowNumber::uint8:
      return Number::uint8;
    case NarrowNumber::int8:
      return Number::int8;
    case NarrowNumber::uint16:
      return Number::uint16;
    case NarrowNumber::int16:
      return Number::int16;
    case NarrowNumber::float16:
      return Number::float16;
    default:
      return Number::bfloat16;
  }
}

Number number_of(DeviceNumber number) {
  switch (number) {
    case DeviceNumber::float32:
      return Number::float32;
    case DeviceNumber::float64:
      return Number::float64;
    case DeviceNumber::float16:
      return Number::float16;
    case DeviceNumber::bfloat16:
      return Number::bfloat16;
    case DeviceNumber::uint8:
      return Number::uint8;
    case DeviceNumber::int8:
      return Number::int8;
    case DeviceNumber::uint16:
      return Number::uint16;
    default:
      return Number::int16;
  }
}

[[noreturn]] void refuse_sparse() {
  throw Error("the card takes dense points; give sparse ones to device cpu");
}

/// `put(row, own)` writes a row's numbers, `cols` of type T.
template <class T, class Put>
void copy_rows(Device& device, Index cols, std::span<const Index> subset, Index count, Index stride,
               unsigned char* to, int threads, const Put& put) {
  const Index row_bytes = stride * static_cast<Index>(sizeof(T));
  const Index at_once =
      std::clamp<Index>((Index{8} << 20) / row_bytes, 1, std::max<Index>(1, count));
  const Pinned room(2 * at_once * row_bytes);
  const Event sent[2];
  for (Index first = 0, turn = 0; first < count; first += at_once, ++turn) {
    const Index rows = std::min(at_once, count - first);
    unsigned char* const part = room.get() + turn % 2 * at_once * row_bytes;
    if (turn >= 2) sent[turn % 2].wait();
    for_blocks(threads_for(threads, static_cast<double>(rows * cols)), rows,
               [&](Index, Index begin, Index end) {
                 for (Index i = begin; i < end; ++i) {
                   const Index row = subset.empty() ? first + i : subset[at(first + i)];
                   auto* const own = reinterpret_cast<T*>(part + i * row_bytes);
                   put(row, own);
                   std::fill(own + cols, own + stride, T{});
                 }
               });
    check(cudaMemcpyAsync(to + first * row_bytes, part, at(rows * row_bytes),
                          cudaMemcpyHostToDevice, device.stream()),
          "copying points to the card");
    sent[turn % 2].record(device.stream());
  }
  device.wait();
}

}  // namespace

Stored Stored::room(Device& device, Number number, Index rows, Index features) {
  const Index size = bytes_of(number);
  Stored stored;
  stored.number = number;
  stored.rows = rows;
  stored.features = features;
  stored.stride = (features * size + piece - 1) / piece * piece / size;
  stored.whole_pieces = true;
  stored.own = Array<unsigned char>(device, rows * stored.stride * size);
  stored.data = stored.own.get();
  return stored;
}

std::shared_ptr<const Stored> Stored::copy(Device& device, const PointsView& points,
                                           std::span<const Index> subset, int threads) {
  auto stored = std::make_shared<Stored>();
  std::visit(
      [&](const auto& v) {
        if constexpr (requires { v.data; }) {
          using T = std::decay_t<decltype(*v.data)>;
          *stored = room(device, sizeof(T) == 4 ? Number::float32 : Number::float64,
                         subset.empty() ? v.rows : std::ssize(subset), v.cols);
          copy_rows<T>(device, v.cols, subset, stored->rows, stored->stride, stored->own.get(),
                       threads, [&](Index row, T* to) {
                         std::memcpy(to, v.data + row * v.stride, at(v.cols) * sizeof(T));
                       });
        } else if constexpr (requires { v.numbers; }) {
          const Index count = subset.empty() ? v.rows : std::ssize(subset);
          const auto copy_as = [&]<class Bits>(Bits) {
            *stored = room(device, number_of(v.number), count, v.cols);
            copy_rows<Bits>(device, v.cols, subset, count, stored->stride, stored->own.get(),
                            threads, [&](Index row, Bits* to) {
                              std::memcpy(to, v.address(row), at(v.cols) * sizeof(Bits));
                            });
          };
          if (fwsr::bytes_of(v.number) == 1)
            copy_as(std::uint8_t{});
          else
            copy_as(std::uint16_t{});
        } else if constexpr (requires { v.source; }) {
          const std::shared_ptr<const Stored> file = in_place(points);
          const Index count = subset.empty() ? v.rows : std::ssize(subset);
          *stored = room(device, file->number, count, v.cols);
          stored->own.set_to_zero();
          BroughtRows rows(device, file, threads);
          for (Index first = 0; first < count; first += rows.at_once()) {
            const Index last = std::min(count, first + rows.at_once());
            const void* const there = rows.bring(subset, first, last, device.stream());
            const Index row = stored->stride * bytes_of(stored->number);
            check(cudaMemcpyAsync(stored->own.get() + first * row, there, at((last - first) * row),
                                  cudaMemcpyDeviceToDevice, device.stream()),
                  "copying points to the card");
            rows.done(device.stream());
          }
        } else {
          refuse_sparse();
        }
      },
      points);
  return stored;
}

namespace {

/// What a source of rows reads.
template <class T>
T* numbers_of(const RowSource<T>*);

/// Rows that somebody has, `stride` numbers apart.
std::shared_ptr<Stored> rows_at(const void* data, Number number, Index rows, Index cols,
                                Index stride) {
  auto stored = std::make_shared<Stored>();
  stored->data = data;
  stored->number = number;
  stored->rows = rows;
  stored->features = cols;
  stored->stride = stride;
  const Index size = bytes_of(number);
  stored->whole_pieces = reinterpret_cast<std::uintptr_t>(data) % piece == 0 &&
                         stride * size % piece == 0 && cols * size % piece == 0;
  return stored;
}

/// From now on the card reads these bytes by itself; until the answer is dropped, unless others had seen to that before.
/// False: they cannot be held in place, as those of a file that is mapped to be read alone.
bool hold_in_place(const void* data, Index bytes, std::shared_ptr<void>& held) {
  void* const memory = const_cast<void*>(data);  // NOLINT: nothing is written
  const cudaError_t status =
      cudaHostRegister(memory, static_cast<std::size_t>(bytes), cudaHostRegisterMapped);
  if (status == cudaSuccess)
    held = {memory, [](void* registered) { cudaHostUnregister(registered); }};
  else
    cudaGetLastError();
  return status == cudaSuccess || status == cudaErrorHostMemoryAlreadyRegistered;
}

}  // namespace

std::shared_ptr<const Stored> Stored::in_place(const PointsView& points) {
  std::shared_ptr<Stored> stored;
  const auto hold = [&](const void* numbers, Number kind, const auto& v) {
    const Index size = bytes_of(kind), bytes = ((v.rows - 1) * v.stride + v.cols) * size;
    stored = rows_at(numbers, kind, v.rows, v.cols, v.stride);
    if (!hold_in_place(numbers, bytes, stored->registered)) {
      stored->data = nullptr;
      stored->read = [numbers, size, row = v.stride * size, cols = v.cols](Index first, Index last,
                                                                           std::byte* out) {
        for (Index i = first; i < last; ++i)
          std::memcpy(out + (i - first) * cols * size,
                      static_cast<const std::byte*>(numbers) + i * row, at(cols * size));
      };
      return;
    }
    void* there = nullptr;
    check(cudaHostGetDevicePointer(&there, const_cast<void*>(numbers), 0),  // NOLINT: as above
          "asking where the card sees the points");
    stored->data = there;
    stored->on_host = true;
  };
  std::visit(
      [&](const auto& v) {
        if constexpr (requires { v.data; }) {
          hold(v.data, sizeof(*v.data) == 4 ? Number::float32 : Number::float64, v);
        } else if constexpr (requires { v.numbers; }) {
          hold(v.numbers, number_of(v.number), v);
        } else if constexpr (requires { v.source; }) {
          const NarrowSource* const narrow = narrow_source(points);
          const Number kind = narrow ? number_of(narrow->number())
                              : std::holds_alternative<StreamView<float>>(points) ? Number::float32
                                                                                  : Number::float64;
          stored = rows_at(nullptr, kind, v.rows, v.cols, v.cols);
          stored->read = [narrow, source = v.source](Index first, Index last, std::byte* out) {
            using T = std::remove_pointer_t<decltype(numbers_of(source))>;
            if (narrow)
              narrow->read_stored(first, last, out);
            else
              source->read(first, last, reinterpret_cast<T*>(out));
          };
        } else {
          refuse_sparse();
        }
      },
      points);
  return stored;
}

std::shared_ptr<const Stored> Stored::borrow(const DeviceView& points) {
  return rows_at(points.data, number_of(points.number), points.rows, points.cols, points.stride);
}

}  // namespace fwsr::cuda
