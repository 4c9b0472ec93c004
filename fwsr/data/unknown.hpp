// What to say about a file that no reader recognises. Internal.
#pragma once

#include <optional>
#include <string>

#include "fwsr/base/files.hpp"
#include "fwsr/data/text.hpp"

namespace fwsr {

/// "is a Parquet file; read it with pandas and save ...", or the first bytes of something unheard
/// of; without the file's name.
std::string describe_unknown(const FileBytes& file);

/// True when it starts as a file of another kind does and has bytes that text has not: in the first 64 KiB.
bool is_known_binary(const FileBytes& file);

/// The first NUL byte of what is text otherwise, in the first 64 KiB.
std::optional<Trouble> find_nul_in_text(const FileBytes& file);

}  // namespace fwsr
