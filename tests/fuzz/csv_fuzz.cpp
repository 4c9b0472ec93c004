#include "fuzz.hpp"
#include "fwsr/data/csv.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fwsr;
  // The size chooses how to read, so that every input is read one way, and quickly.
  constexpr const char* labels[] = {"", "1", "y"};
  constexpr Header headers[] = {Header::automatic, Header::yes, Header::no};
  ReadOptions options{.label_column = labels[size % 3], .header = headers[size / 3 % 3]};
  if (size % 5 == 1) options.columns = {"1-2"};
  if (size % 5 == 2) options.exclude_columns = {"2", "y-b"};
  const auto whole = read_csv(fuzz::file_of({data, size}), options);
  fuzz::check(whole);
  if (whole) {
    const TableReading& table = whole->table.value();
    fuzz::require(!table.header_why.empty() && describe(table).size() > 20,
                  "it says how it was read");
    fuzz::require(
        options.header == Header::automatic || table.header == (options.header == Header::yes),
        "the header is what was said");
    fuzz::require(table.header || whole->columns.empty(), "names have a header");
  }
  const auto chunk = static_cast<Index>(1 + size / 9 % 8);
  fuzz::require(fuzz::is_same(whole, read_csv(fuzz::file_of({data, size}), options, chunk)),
                "small chunks give the same result");
  return 0;
}
