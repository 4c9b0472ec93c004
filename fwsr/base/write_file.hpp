// Whole files out.
#pragma once

#include <functional>
#include <ostream>
#include <string>

#include "fwsr/base/result.hpp"

namespace fwsr {

/// Writes `path` whole or not at all: `write` fills a temporary file beside it, which then takes
/// its place. On failure (also a full disk) what was there before stays. Devices and pipes such as
/// /dev/stdout are written directly.
Result<Done> write_whole(const std::string& path, const std::function<void(std::ostream&)>& write);

}  // namespace fwsr
