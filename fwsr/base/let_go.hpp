// Mapped bytes that have been read. Internal.
#pragma once

#include <cstddef>
#include <span>

namespace fwsr {

/// Says that `bytes` have been read and are not needed soon: those that stand in a mapped file leave
/// the memory of this process, and are fetched again when they are. Nothing happens to other memory.
void let_go(std::span<const std::byte> bytes);
/// Copies `from` to `out`, letting go of it on the way. @pre they are of one size
void copy_and_let_go(std::span<const std::byte> from, std::span<std::byte> out);

}  // namespace fwsr
