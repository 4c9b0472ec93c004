#include "fuzz.hpp"
#include "fwsr/data/libsvm.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fwsr;
  const auto whole = read_libsvm(fuzz::file_of({data, size}), {});
  fuzz::check(whole);
  for (const Index chunk : {1, 5})
    fuzz::require(fuzz::is_same(whole, read_libsvm(fuzz::file_of({data, size}), {}, chunk)),
                  "small chunks give the same result");
  return 0;
}
