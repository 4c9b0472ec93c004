// A graphics card: its memory, the order of its work, and errors of CUDA as ours.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/cuda/cublas.hpp"

namespace fwsr::cuda {

/// Throws Error, or MemoryError where the card has no more memory; `doing` completes "while ...".
void check(cudaError_t status, const char* doing);

/// A sentence where there is no card that can be used; empty: there is.
std::string why_no_card();

/// What a card is; asked once, as that takes longer than a short run. Throws Error.
const cudaDeviceProp& properties_of(int number);

/// Why this card cannot be used; empty: it can.
std::string why_not(const cudaDeviceProp& card);

/// One card, and a stream on which its work is done in order. Everything that belongs to it ends before it does.
class Device {
 public:
  /// Throws Error when there is no such card, or it cannot be used: what was found, and what to do.
  /// `memory`: bytes that may be taken of the card; 0: all that are free.
  explicit Device(int number, Index memory = 0);
  ~Device();  // the thread then has the card it had before
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  /// For a device that another thread goes on with: this thread has the card it had before, that one works with ours.
  void leave() noexcept;
  void enter();

  cudaStream_t stream() const { return stream_; }
  /// A second one, for what is made ready meanwhile; events say who waits for whom.
  cudaStream_t beside() const { return beside_; }
  const Blas& blas() const { return *blas_; }
  int processors() const { return processors_; }        // streaming multiprocessors
  Index shared_bytes() const { return shared_bytes_; }  // of a block, at most
  const std::string& name() const { return name_; }
  int number() const { return number_; }

  /// Until everything asked for so far is done. Throws what went wrong on the way.
  void wait() const;

  /// Throws MemoryError, with what is free, before the card is asked for more than may be taken.
  void* take(Index bytes);
  void give_back(void* memory, Index bytes) noexcept;
  Index taken() const { return taken_; }
  Index most_taken() const { return most_taken_; }
  /// Bytes that may be taken in all, whatever others have taken of the card.
  Index memory() const { return memory_ > 0 ? memory_ : all_memory_; }

 private:
  Device() = default;  // so that what a constructor has taken is given back when it throws

  int number_ = 0, before_ = 0;
  bool entered_ = false;
  std::string name_;
  int processors_ = 0;
  Index shared_bytes_ = 0, all_memory_ = 0, memory_ = 0, taken_ = 0, most_taken_ = 0;
  cudaStream_t stream_ = nullptr, beside_ = nullptr;
  cudaMemPool_t pool_ = nullptr;  // our own: others' settings are left alone
  std::unique_ptr<Blas> blas_;
};

/// A moment in the work of a stream: all that was asked of it before is done. One that was never recorded has passed.
class Event {
 public:
  Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "beginning work"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(cudaStream_t stream) const {
    check(cudaEventRecord(event_, stream), "working on the card");
  }
  /// What is asked of a stream from now on comes after it.
  void hold(cudaStream_t stream) const noexcept { cudaStreamWaitEvent(stream, event_, 0); }
  void wait() const { check(cudaEventSynchronize(event_), "working on the card"); }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Some numbers in the memory of a card. What is copied is there when the call returns.
template <class T>
class Array {
 public:
  Array() = default;
  Array(Device& device, Index count) : device_(&device), count_(count) {
    if (count > 0) data_ = static_cast<T*>(device.take(bytes()));
  }
  Array(Device& device, std::span<const T> from) : Array(device, std::ssize(from)) { put(from); }
  ~Array() {
    if (data_) device_->give_back(data_, bytes());
  }
  Array(Array&& other) noexcept
      : device_(other.device_),
        count_(std::exchange(other.count_, 0)),
        data_(std::exchange(other.data_, nullptr)) {}
  Array& operator=(Array&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(count_, other.count_);
    std::swap(data_, other.data_);
    return *this;
  }

  T* get() const { return data_; }
  Index size() const { return count_; }
  bool empty() const { return count_ == 0; }

  /// @pre as many fit from `first` on
  void put(std::span<const T> from, Index first = 0) {
    if (from.empty()) return;
    check(cudaMemcpyAsync(data_ + first, from.data(), from.size_bytes(), cudaMemcpyHostToDevice,
                          device_->stream()),
          "copying to the card");
    check(cudaStreamSynchronize(device_->stream()), "copying to the card");
  }
  /// One number, wherever it stands in the memory of the card.
  static T read(const Device& device, const T* from) {
    T one;
    check(cudaMemcpyAsync(&one, from, sizeof(T), cudaMemcpyDeviceToHost, device.stream()),
          "copying from the card");
    device.wait();
    return one;
  }
  std::vector<T> get_all() const { return get_some(0, count_); }
  std::vector<T> get_some(Index first, Index count) const {
    std::vector<T> out(static_cast<std::size_t>(count));
    if (count == 0) return out;
    check(cudaMemcpyAsync(out.data(), data_ + first, out.size() * sizeof(T), cudaMemcpyDeviceToHost,
                          device_->stream()),
          "copying from the card");
    check(cudaStreamSynchronize(device_->stream()), "copying from the card");
    return out;
  }
  void set_to_zero() {
    if (count_ > 0)
      check(cudaMemsetAsync(data_, 0, static_cast<std::size_t>(bytes()), device_->stream()),
            "clearing memory of the card");
  }

 private:
  Index bytes() const { return count_ * static_cast<Index>(sizeof(T)); }

  Device* device_ = nullptr;
  Index count_ = 0;
  T* data_ = nullptr;
};

}  // namespace fwsr::cuda
