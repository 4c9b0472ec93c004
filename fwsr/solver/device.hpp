// Where the work is done: on the processor, or on a graphics card. What is behind it is fwsr/cuda, or its no_cuda.cpp where
// the library was built without.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/base/result.hpp"

namespace fwsr {

/// Which device the user wants.
struct DeviceChoice {
  enum class Kind {
    cpu,
    cuda,
    automatic,  ///< a card, where there is one that serves the request and the work is worth it
  };
  Kind kind = Kind::cpu;
  int number = 0;  ///< of the card
};
/// "cpu", "cuda", "cuda:1" or "auto".
Result<DeviceChoice> device_named(std::string_view name);
std::string text_of(const DeviceChoice& device);

/// How numbers in the memory of a card are stored.
enum class DeviceNumber { float32, float64, float16, bfloat16, uint8, int8, uint16, int16 };

/// Dense points that are in the memory of a card already, and written: work on them that is under way on a stream of the
/// caller's has to be waited for. Borrowed, never copied.
struct DeviceView {
  const void* data = nullptr;
  DeviceNumber number = DeviceNumber::float32;
  Index rows = 0, cols = 0;
  Index stride = 0;  ///< numbers from one row to the next
  int device = 0;    ///< which card
};

/// The cards of this machine, as "NVIDIA H200, 139.8 GiB".
struct Cards {
  std::vector<std::string> names;
  std::vector<Index> memory;  ///< bytes of each
  std::string why_none;       ///< a sentence, where there are none that can be used
};
Cards find_cards();
/// Until all work that others have begun on a card is done: their points may be read then.
void wait_for_card(int number);

}  // namespace fwsr
