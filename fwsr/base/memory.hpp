// How much memory there is, how much is taken, and sizes in words.
#pragma once

#include <string>
#include <string_view>

#include "fwsr/base/index.hpp"
#include "fwsr/base/result.hpp"

namespace fwsr {

/// "1.5 GiB", "320 MiB", "17 bytes".
std::string format_bytes(double bytes);
/// "4G", "512M", "1.5GiB", "100000"; refuses anything else with a sentence.
Result<Index> parse_bytes(std::string_view text);

/// Memory this process may still take: the machine's available memory, or what its control groups
/// (version 1 or 2, each of those above it too) leave of it; as it was at most 20 ms ago.
Index available_memory();
/// The largest resident size this process has had, in bytes.
Index peak_memory();

}  // namespace fwsr
