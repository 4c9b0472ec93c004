// What to say about a file that no reader recognises. Internal.
#pragma once

#include <string>

#include "fwsr/base/files.hpp"

namespace fwsr {

/// "is a Parquet file; read it with pandas and save ...", or the first bytes of something unheard
/// of; without the file's name.
std::string describe_unknown(const FileBytes& file);

}  // namespace fwsr
