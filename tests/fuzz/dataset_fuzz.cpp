#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fwsr;
  fuzz::check(read_dataset(fuzz::file_of({data, size})));
  return 0;
}
