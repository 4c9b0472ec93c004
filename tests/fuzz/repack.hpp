// Mutations inside compressed parts. A flipped bit in deflated data is nearly always refused by zlib, so
// that the fuzzers would never see what a reader does with what comes out of it. Here a file is taken
// apart (gzip, zip members, variables of MATLAB files), one part is changed, and the file is put
// together again with right lengths and right compression.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace fwsr::fuzz {

using Buffer = std::vector<std::uint8_t>;

/// `file` with one of its parts changed by `change`, chosen by `seed`; nothing when it has no parts that
/// we know of.
std::optional<Buffer> change_part(const Buffer& file, unsigned seed,
                                  const std::function<void(Buffer&)>& change);

}  // namespace fwsr::fuzz
