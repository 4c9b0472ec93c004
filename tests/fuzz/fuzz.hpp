// What every fuzz target does: read the bytes as a file; on success everything in the result must
// hold together, on failure the message must name the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "fwsr/data/formats.hpp"

namespace fwsr::fuzz {

/// Ends the program, as libFuzzer wants it, when `kept` is false.
void require(bool kept, const char* promise);

/// The bytes as a file named "fuzz".
FileBytes file_of(std::span<const std::uint8_t> bytes);

void check(const Result<Dataset>& result);
void check(const Result<Labels>& labels);
void check(const Result<std::vector<std::string>>& labels);

/// True when both failed alike, or both hold the same numbers and words.
bool is_same(const Result<Dataset>& a, const Result<Dataset>& b);

}  // namespace fwsr::fuzz
