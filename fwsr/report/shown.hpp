// How a point is shown: as picture, as text, or by the features that tell it from others; and its name.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fwsr/report/features.hpp"
#include "fwsr/report/images.hpp"
#include "fwsr/report/json_writer.hpp"
#include "fwsr/report/pictures.hpp"
#include "fwsr/report/rows.hpp"

namespace fwsr::report {

class Shown {
 public:
  /// `some`: the rows that will be shown, for the greys of images; of files as many of the first as have at most
  /// `room` bytes together.
  Shown(const Rows& rows, const std::vector<Index>& some, Pictures& pictures, std::size_t room);

  /// Markup.
  std::string face(Index row, std::size_t characters) const;
  /// "#17", or "#17 name".
  std::string name(Index row) const;

  /// Fields `text`, `picture` or `features` of an object of JSON; pictures out of numbers are on sheets.
  void add_face(JsonWriter& out, Index row, std::size_t characters) const;
  /// Null without images.
  const Images* images() const { return images_ ? &*images_ : nullptr; }

 private:
  const Rows& rows_;
  std::optional<Images> images_;
  std::map<Index, const PictureSource*> files_;
  std::unique_ptr<Features> features_;  // where there is nothing else
};

/// The sheets of images for the script, all within so many bytes.
void add_sheets(JsonWriter& out, const Shown& shown, const std::vector<Index>& rows,
                std::size_t most);

}  // namespace fwsr::report
