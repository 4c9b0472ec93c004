#include "fuzz.hpp"
#include "fwsr/data/csv.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fwsr;
  for (const char* label : {"", "1", "y"})
    for (const Header header : {Header::automatic, Header::yes, Header::no}) {
      const ReadOptions options{.label_column = label, .header = header};
      const auto whole = read_csv(fuzz::file_of({data, size}), options);
      fuzz::check(whole);
      for (const Index chunk : {1, 5})
        fuzz::require(fuzz::is_same(whole, read_csv(fuzz::file_of({data, size}), options, chunk)),
                      "small chunks give the same result");
    }
  return 0;
}
