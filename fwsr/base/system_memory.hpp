// What the library itself asks of the system about memory. Internal: memory.hpp is for users.
#pragma once

#include <string>

#include "fwsr/base/index.hpp"

namespace fwsr {

/// As available_memory() by the files under `root`, as /proc and /sys are under "".
Index available_memory(const std::string& root);
/// Asks the system for large pages behind memory that is about to be written for the first time:
/// fewer page faults now, fewer address translations later. May do nothing.
void prefer_large_pages(void* start, Index bytes);
/// Has all threads write to every page of fresh memory: the system hands pages out at their first use,
/// and one thread would wait for that longer than it takes to fill them.
void touch_pages(void* start, Index bytes);
/// Gives memory that was freed back to the system, where the system's allocator can do that.
void release_free_memory();

}  // namespace fwsr
