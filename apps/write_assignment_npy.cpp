#include <cstdint>
#include <span>

#include "apps/select_writers.hpp"
#include "fwsr/data/write.hpp"

namespace fwsr::app {

void write_assignment_npy(std::ostream& out, const SelectResult& result, const WriteStyle&) {
  const std::vector<Index> all = assignment_of(result);
  const std::vector<std::int64_t> numbers(all.begin(), all.end());
  write_npy(out, std::span<const std::int64_t>(numbers));
}

}  // namespace fwsr::app
