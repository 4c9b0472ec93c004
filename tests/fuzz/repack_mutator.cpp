// Makes libFuzzer change files with compressed parts from within, every second time.
#include <algorithm>

#include "repack.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  using fwsr::fuzz::Buffer;
  const auto change = [](Buffer& part) {
    const std::size_t before = part.size();
    part.resize(before + 64);
    part.resize(LLVMFuzzerMutate(part.data(), before, part.size()));
  };
  if (seed % 2 == 0) {
    const auto changed = fwsr::fuzz::change_part({data, data + size}, seed / 2, change);
    if (changed && changed->size() <= most) {
      std::copy(changed->begin(), changed->end(), data);
      return changed->size();
    }
  }
  return LLVMFuzzerMutate(data, size, most);
}
