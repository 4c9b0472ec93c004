// The points of a page as people know them: ids, classes, pictures, texts, names of features. All borrowed.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/base/labels.hpp"
#include "fwsr/base/result.hpp"

namespace fwsr::report {

/// How the numbers of a point are the pixels of an image.
struct ImageShape {
  Index height = 0, width = 0, channels = 1;
  bool planes = false;  // one colour after the other, and not pixel by pixel

  Index size() const { return height * width * channels; }
  friend bool operator==(const ImageShape&, const ImageShape&) = default;
};
/// "28x28", "32x32x3", or "3x32x32" for colours one after the other.
Result<ImageShape> parse_image_shape(std::string_view text);

/// A picture for the src of an image; or why there is none.
struct PictureSource {
  std::string source = {}, problem = {};
};

/// The points, and what is known of each.
struct Rows {
  std::string name;  // of the data
  PointsView points = {};
  const Labels* labels = nullptr;         // null or empty: there are none
  std::span<const std::string> ids = {};  // each of the next: one a point, or none
  std::span<const std::string> texts = {};
  std::span<const std::string> pictures = {};  // files with a picture of each point
  /// Makes a small picture out of a file; none: files are taken as they are, where they are not too large.
  std::function<PictureSource(const std::string& path)> thumbnail = {};
  std::span<const std::string> columns = {};  // names of the features, or none
  std::optional<ImageShape> images = {};

  Index size() const { return rows_of(points); }
  bool has_classes() const { return labels && !labels->empty(); }
  bool has_images() const { return images || !pictures.empty(); }
  /// Its numbers as they are.
  std::vector<double> numbers(Index row) const;
  /// "x3" where features have no names.
  std::string column(Index feature) const;
};

}  // namespace fwsr::report
