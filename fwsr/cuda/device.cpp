#include "fwsr/cuda/device.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "fwsr/base/memory.hpp"
#include "fwsr/base/result.hpp"

namespace fwsr::cuda {

namespace {

Index free_bytes() {
  std::size_t free = 0, all = 0;
  check(cudaMemGetInfo(&free, &all), "asking for the memory of the card");
  return static_cast<Index>(free);
}

}  // namespace

void check(cudaError_t status, const char* doing) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // what is not sticky is over
  if (status == cudaErrorMemoryAllocation)
    throw MemoryError(fmt::format(
        "the card has no memory left ({}); choose from fewer points at a time, or end what else "
        "uses it",
        doing));
  throw Error(fmt::format("CUDA said '{}' while {}", cudaGetErrorString(status), doing));
}

std::string why_no_card() {
  int count = 0, driver = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) return {};
  cudaGetLastError();
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0)
    return "no NVIDIA driver is installed here";
  if (status == cudaErrorInsufficientDriver)
    return fmt::format(
        "the NVIDIA driver is for CUDA {}.{}, and this program needs one for {}.{} or later",
        driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
  return fmt::format("no CUDA card was found ({})",
                     status == cudaSuccess ? "there is none" : cudaGetErrorString(status));
}

const cudaDeviceProp& properties_of(int number) {
  static std::mutex mutex;
  static std::map<int, cudaDeviceProp> known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(number); found != known.end()) return found->second;
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, number), "asking what card this is");
  return known[number] = properties;
}

std::string why_not(const cudaDeviceProp& card) {
  if (card.major >= 8) return {};
  return fmt::format("{} has compute capability {}.{}, and 8.0 (Ampere) or later is needed",
                     card.name, card.major, card.minor);
}

Device::Device(int number, Index memory) : Device() {
  number_ = number;
  memory_ = memory;
  if (const std::string why = why_no_card(); !why.empty())
    throw Error(why + "; use device cpu, or look with nvidia-smi what is there");
  int count = 0;
  check(cudaGetDeviceCount(&count), "counting the cards");
  if (number < 0 || number >= count)
    throw Error(fmt::format("there is no card {}; the cards are 0 to {}", number, count - 1));
  const cudaDeviceProp& properties = properties_of(number);
  if (const std::string why = why_not(properties); !why.empty())
    throw Error(why + "; use device cpu");
  enter();
  name_ = properties.name;
  processors_ = properties.multiProcessorCount;
  shared_bytes_ = static_cast<Index>(properties.sharedMemPerBlockOptin);
  all_memory_ = static_cast<Index>(properties.totalGlobalMem);
  for (cudaStream_t* stream : {&stream_, &beside_})
    check(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking), "beginning work on the card");
  cudaMemPoolProps pool{};
  pool.allocType = cudaMemAllocationTypePinned;
  pool.location = {.type = cudaMemLocationTypeDevice, .id = number};
  check(cudaMemPoolCreate(&pool_, &pool), "asking for memory of the card");
  // What was given back stays until all is done, so that the next block has it at once.
  std::uint64_t all = ~std::uint64_t{0};
  check(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &all),
        "asking for memory of the card");
  blas_ = std::make_unique<Blas>(stream_);
}

void Device::enter() {
  check(cudaGetDevice(&before_), "asking which card is in use");
  check(cudaSetDevice(number_), "choosing the card");
  entered_ = true;
}

void Device::leave() noexcept {
  constexpr std::size_t kept = std::size_t{1} << 28;  // others may need the rest
  cudaStreamSynchronize(stream_);
  cudaMemPoolTrimTo(pool_, kept);
  cudaSetDevice(before_);
  entered_ = false;
}

Device::~Device() {
  for (cudaStream_t stream : {beside_, stream_})
    if (stream) cudaStreamSynchronize(stream);
  blas_.reset();
  if (pool_) cudaMemPoolDestroy(pool_);
  for (cudaStream_t stream : {beside_, stream_})
    if (stream) cudaStreamDestroy(stream);
  if (entered_) cudaSetDevice(before_);
}

void Device::wait() const {
  check(cudaStreamSynchronize(stream_), "working on the card");
}

void* Device::take(Index bytes) {
  if (memory_ > 0 && bytes > memory_ - taken_)
    throw MemoryError(fmt::format(
        "{} more were needed on the card, where {} of the {} that may be used are taken; allow "
        "more with device-memory, or choose from fewer points",
        format_bytes(static_cast<double>(bytes)), format_bytes(static_cast<double>(taken_)),
        format_bytes(static_cast<double>(memory_))));
  void* memory = nullptr;
  const cudaError_t status =
      cudaMallocFromPoolAsync(&memory, static_cast<std::size_t>(bytes), pool_, stream_);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw MemoryError(fmt::format(
        "{} more were needed on the card ({}), which has {} free; choose from fewer points, or end "
        "what else uses it",
        format_bytes(static_cast<double>(bytes)), name_,
        format_bytes(static_cast<double>(free_bytes()))));
  }
  check(status, "taking memory of the card");
  taken_ += bytes;
  most_taken_ = std::max(most_taken_, taken_);
  return memory;
}

void Device::give_back(void* memory, Index bytes) noexcept {
  cudaFreeAsync(memory, stream_);
  taken_ -= bytes;
}

}  // namespace fwsr::cuda
