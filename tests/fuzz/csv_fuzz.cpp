#include "fuzz.hpp"
#include "fwsr/data/csv.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fwsr;
  // The size chooses how to read, so that every input is read one way, and quickly.
  constexpr const char* labels[] = {"", "1", "y"};
  constexpr Header headers[] = {Header::automatic, Header::yes, Header::no};
  const ReadOptions options{.label_column = labels[size % 3], .header = headers[size / 3 % 3]};
  const auto whole = read_csv(fuzz::file_of({data, size}), options);
  fuzz::check(whole);
  const auto chunk = static_cast<Index>(1 + size / 9 % 8);
  fuzz::require(fuzz::is_same(whole, read_csv(fuzz::file_of({data, size}), options, chunk)),
                "small chunks give the same result");
  return 0;
}
