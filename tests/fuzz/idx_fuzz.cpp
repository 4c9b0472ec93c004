#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fwsr;
  fuzz::check(idx_format().read(fuzz::file_of({data, size}), {}));
  fuzz::check(idx_labels(fuzz::file_of({data, size})));
  return 0;
}
