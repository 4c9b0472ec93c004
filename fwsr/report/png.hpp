// Pictures out of numbers: PNG by zlib.
#pragma once

#include <cstdint>
#include <vector>

#include "fwsr/base/index.hpp"

namespace fwsr::report {

/// Bytes, row by row; one (grey) or three (red, green, blue) for a pixel.
struct Picture {
  Index height = 0, width = 0, channels = 1;
  std::vector<unsigned char> pixels;
};

/// The file. @pre channels is 1 or 3
std::vector<unsigned char> png_of(const Picture& picture);

}  // namespace fwsr::report
