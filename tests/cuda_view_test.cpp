// Points that are on the card already, in any type and layout: the picks of the same numbers in the memory of the processor.
// Built where the library is built with CUDA; without a card these tests are skipped.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <random>

#include "fwsr/solver/device.hpp"
#include "fwsr/solver/select.hpp"

namespace {

using fwsr::DeviceNumber;
using fwsr::DeviceView;
using fwsr::Index;
using fwsr::MatrixView;
using fwsr::Selection;
using fwsr::SelectOptions;

/// Small numbers that every one of the types holds as they are: eighths up to 16.
std::vector<float> coarse_points(Index n, Index d, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int> eighths(-127, 127);
  std::vector<float> x(static_cast<std::size_t>(n * d));
  for (float& v : x) v = static_cast<float>(eighths(random)) / 8;
  return x;
}

std::uint16_t half_of(float x) {  // of normal numbers in its range
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if (x == 0) return static_cast<std::uint16_t>(bits >> 16);
  const std::uint32_t exponent = (bits >> 23 & 255) - 112, digits = bits >> 13 & 1023;
  return static_cast<std::uint16_t>((bits >> 16 & 0x8000) | exponent << 10 | digits);
}
std::uint16_t bfloat_of(float x) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16);
}

/// Bytes on the card, `offset` of them in front.
class OnCard {
 public:
  OnCard(const std::vector<unsigned char>& bytes, std::size_t offset) : offset_(offset) {
    if (cudaMalloc(&data_, bytes.size() + offset) != cudaSuccess) throw std::bad_alloc();
    cudaMemcpy(at(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice);
  }
  ~OnCard() { cudaFree(data_); }
  OnCard(const OnCard&) = delete;
  OnCard& operator=(const OnCard&) = delete;
  unsigned char* at() const { return static_cast<unsigned char*>(data_) + offset_; }

 private:
  void* data_ = nullptr;
  std::size_t offset_;
};

bool is_whole(DeviceNumber number) {
  return number >= DeviceNumber::uint8;
}
bool is_unsigned(DeviceNumber number) {
  return number == DeviceNumber::uint8 || number == DeviceNumber::uint16;
}

std::vector<unsigned char> stored(const std::vector<float>& x, Index n, Index d, Index stride,
                                  DeviceNumber number) {
  const bool one_byte = number == DeviceNumber::uint8 || number == DeviceNumber::int8;
  const std::size_t size = number == DeviceNumber::float64   ? 8
                           : number == DeviceNumber::float32 ? 4
                           : one_byte                        ? 1
                                                             : 2;
  std::vector<unsigned char> bytes(static_cast<std::size_t>(n * stride) * size,
                                   0xff);  // NaN between
  for (Index i = 0; i < n; ++i)
    for (Index l = 0; l < d; ++l) {
      const float v = x[static_cast<std::size_t>(i * d + l)];
      unsigned char* const to = bytes.data() + static_cast<std::size_t>(i * stride + l) * size;
      const double wide = v;
      const std::uint16_t narrow = is_whole(number)
                                       ? static_cast<std::uint16_t>(static_cast<int>(v))
                                   : number == DeviceNumber::float16 ? half_of(v)
                                                                     : bfloat_of(v);
      if (size == 8) std::memcpy(to, &wide, 8);
      if (size == 4) std::memcpy(to, &v, 4);
      if (size <= 2) std::memcpy(to, &narrow, size);  // of whole numbers the lower byte
    }
  return bytes;
}

TEST(CudaView, any_type_and_layout_gives_the_picks_of_the_processor) {
  if (const fwsr::Cards cards = fwsr::find_cards(); cards.names.empty())
    GTEST_SKIP() << cards.why_none;
  unsigned seed = 1;
  for (const DeviceNumber number :
       {DeviceNumber::float32, DeviceNumber::float64, DeviceNumber::float16, DeviceNumber::bfloat16,
        DeviceNumber::uint8, DeviceNumber::int8, DeviceNumber::uint16, DeviceNumber::int16})
    for (const auto& [d, more, offset] :
         {std::tuple<Index, Index, Index>{64, 0, 0}, {64, 8, 0}, {63, 0, 0}, {33, 3, 1}, {7, 0, 1}})
      for (const bool factor : {false, true}) {
        SCOPED_TRACE(testing::Message()
                     << "type " << static_cast<int>(number) << ", d " << d << ", stride + " << more
                     << ", offset " << offset << (factor ? ", rbf" : ""));
        const Index n = 3000, stride = d + more;
        std::vector<float> x = coarse_points(n, d, seed++);
        if (is_whole(number))
          for (float& v : x) v = 8 * v + (is_unsigned(number) ? 127 : 0);
        SelectOptions o{.exemplars = 12};
        o.precise = true;
        if (factor) {
          o.kernel.type = fwsr::KernelType::rbf;
          o.rank = 48;
          o.refine = fwsr::Refine::middle;
        }
        const Selection cpu = fwsr::select(MatrixView<const float>{x.data(), n, d}, o);
        const std::vector<unsigned char> bytes = stored(x, n, d, stride, number);
        const OnCard there(bytes, static_cast<std::size_t>(offset) *
                                      (bytes.size() / static_cast<std::size_t>(n * stride)));
        const DeviceView view{
            .data = there.at(), .number = number, .rows = n, .cols = d, .stride = stride};
        const Selection card = fwsr::select(view, o);
        EXPECT_EQ(card.exemplars, cpu.exemplars);
        EXPECT_EQ(card.weights, cpu.weights);
        EXPECT_NEAR(card.certificate->f, cpu.certificate->f, 1e-9 * cpu.f_at_zero);
      }
}

TEST(CudaView, views_that_are_none_are_refused) {
  const float x = 0;
  SelectOptions o{.exemplars = 1};
  for (const DeviceView view : {DeviceView{.data = &x, .rows = 0, .cols = 3, .stride = 3},
                                DeviceView{.data = &x, .rows = 3, .cols = 0, .stride = 3},
                                DeviceView{.data = &x, .rows = 3, .cols = 3, .stride = 2},
                                DeviceView{.data = nullptr, .rows = 3, .cols = 3, .stride = 3}})
    EXPECT_THROW(fwsr::select(view, o), fwsr::Error);
}

}  // namespace
