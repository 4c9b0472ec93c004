#include "fwsr/report/images.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/report/sample.hpp"
#include "fwsr/report/text.hpp"

namespace fwsr::report {

Images::Images(const Rows& rows, std::span<const Index> shown) : rows_(rows), shape_(*rows.images) {
  step_ = std::max<Index>(
      1, (std::max(shape_.height, shape_.width) + thumbnail_side - 1) / thumbnail_side);
  height_ = std::max<Index>(1, shape_.height / step_);
  width_ = std::max<Index>(1, shape_.width / step_);
  low_ = std::numeric_limits<double>::infinity(), high_ = -low_;
  const auto look_at = [&](Index row) {
    for (const double v : rows.numbers(row)) low_ = std::min(low_, v), high_ = std::max(high_, v);
  };
  for (const Index row : evenly_spaced(rows.size(), 1000)) look_at(row);
  for (const Index row : shown) look_at(row);
  // Colours are as they are wherever the numbers are bytes or fractions.
  if (shape_.channels == 3 && low_ >= 0 && high_ <= 255) low_ = 0, high_ = high_ > 1 ? 255 : 1;
  if (!(high_ > low_)) high_ = low_ + 1;
}

Picture Images::of(Index row) const {
  const std::vector<double> x = rows_.numbers(row);
  Picture out{.height = height_, .width = width_, .channels = shape_.channels, .pixels = {}};
  out.pixels.reserve(at(height_ * width_ * shape_.channels));
  const auto place = [&](Index v, Index u, Index c) {
    return shape_.planes ? (c * shape_.height + v) * shape_.width + u
                         : (v * shape_.width + u) * shape_.channels + c;
  };
  for (Index v = 0; v < height_; ++v)
    for (Index u = 0; u < width_; ++u)
      for (Index c = 0; c < shape_.channels; ++c) {
        double sum = 0;
        for (Index dv = 0; dv < step_; ++dv)
          for (Index du = 0; du < step_; ++du)
            sum += x[at(place(std::min(v * step_ + dv, shape_.height - 1),
                              std::min(u * step_ + du, shape_.width - 1), c))];
        const double grey =
            (sum / static_cast<double>(step_ * step_) - low_) / (high_ - low_) * 255;
        out.pixels.push_back(static_cast<unsigned char>(std::lround(std::clamp(grey, 0.0, 255.0))));
      }
  return out;
}

std::vector<Sheet> make_sheets(const Images& images, std::span<const Index> rows,
                               std::size_t most_bytes) {
  std::vector<Sheet> sheets;
  std::size_t bytes = 0;
  for (std::size_t begin = 0; begin < rows.size(); begin += at(sheet_images)) {
    const auto some = rows.subspan(begin, std::min(at(sheet_images), rows.size() - begin));
    const Index down = (std::ssize(some) + sheet_across - 1) / sheet_across;
    Picture all{.height = down * images.height(),
                .width = sheet_across * images.width(),
                .channels = 1,
                .pixels = {}};
    for (std::size_t s = 0; s < some.size(); ++s) {
      const Picture one = images.of(some[s]);
      all.channels = one.channels;
      all.pixels.resize(at(all.height * all.width * all.channels));
      const Index line = one.width * one.channels;
      const Index top = static_cast<Index>(s) / sheet_across * one.height;
      const Index left = static_cast<Index>(s) % sheet_across * line;
      for (Index y = 0; y < one.height; ++y)
        std::copy_n(one.pixels.begin() + y * line, line,
                    all.pixels.begin() + (top + y) * sheet_across * line + left);
    }
    Sheet sheet{.rows = {some.begin(), some.end()}, .png = png_of(all)};
    bytes += sheet.png.size();
    if (bytes > most_bytes) break;
    sheets.push_back(std::move(sheet));
  }
  return sheets;
}

std::string png_source(const Picture& picture) {
  return "data:image/png;base64," + base64(png_of(picture));
}

}  // namespace fwsr::report
