// Points as pictures: thumbnails of their numbers.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fwsr/report/png.hpp"
#include "fwsr/report/rows.hpp"

namespace fwsr::report {

/// The longest side of a thumbnail, in pixels.
inline constexpr Index thumbnail_side = 64;

class Images {
 public:
  /// `shown`: rows among the darkest and brightest of which the greys are spread. @pre rows.images
  Images(const Rows& rows, std::span<const Index> shown);

  Index height() const { return height_; }
  Index width() const { return width_; }
  Picture of(Index row) const;

 private:
  const Rows& rows_;
  ImageShape shape_;
  Index step_ = 1;  // pixels of the image to a pixel of the thumbnail, in each direction
  Index height_ = 0, width_ = 0;
  double low_ = 0, high_ = 1;
};

/// A sheet of thumbnails, in lines of `across`, as a PNG.
struct Sheet {
  std::vector<Index> rows;
  std::vector<unsigned char> png;
};
inline constexpr Index sheet_across = 16;
inline constexpr Index sheet_images = 256;

/// Sheets of these rows, in order, as long as all together stay within `most_bytes`.
std::vector<Sheet> make_sheets(const Images& images, std::span<const Index> rows,
                               std::size_t most_bytes);

std::string png_source(const Picture& picture);

}  // namespace fwsr::report
