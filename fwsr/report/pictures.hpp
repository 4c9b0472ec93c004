// Files of pictures, as a page shows them.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "fwsr/report/rows.hpp"

namespace fwsr::report {

/// Larger files are not taken as they are.
inline constexpr std::size_t largest_file = 200'000;
/// A png or jpeg file as it is.
PictureSource embed_file(const std::string& path);

/// Each file is read once, and only when it is asked for.
class Pictures {
 public:
  explicit Pictures(const Rows& rows) : rows_(rows) {}
  const PictureSource& of(Index row);

 private:
  const Rows& rows_;
  std::map<Index, PictureSource> known_;
};

}  // namespace fwsr::report
