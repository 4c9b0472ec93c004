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
/// (version 1 or 2, each of those above it too) leave of it.
Index available_memory();
/// The same by the files under `root`, as /proc and /sys are under "".
Index available_memory(const std::string& root);
/// Asks the system for large pages behind memory that is about to be written for the first time:
/// fewer page faults now, fewer address translations later. May do nothing.
void prefer_large_pages(void* start, Index bytes);
/// Has all threads write to every page of fresh memory: the system hands pages out at their first use,
/// and one thread would wait for that longer than it takes to fill them.
void touch_pages(void* start, Index bytes);
/// The largest resident size this process has had, in bytes.
Index peak_memory();
/// Gives memory that was freed back to the system, where the system's allocator can do that.
void release_free_memory();

}  // namespace fwsr
