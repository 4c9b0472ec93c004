#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fwsr;
  fuzz::check(mat_format().read(fuzz::file_of({data, size}), {}));
  fuzz::check(
      mat_format().read(fuzz::file_of({data, size}), {.label_column = "y", .variable = "x"}));
  fuzz::check(mat_labels(fuzz::file_of({data, size})));
  return 0;
}
