#include "fwsr/report/rows.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/base/quoted.hpp"
#include "fwsr/prep/frame.hpp"

namespace fwsr::report {

Result<ImageShape> parse_image_shape(std::string_view text) {
  std::vector<Index> sides;
  std::string_view rest = text;
  const Failure wrong{fmt::format(
      "{} is no shape of an image; write 28x28, 32x32x3, or 3x32x32 for colours one after the "
      "other",
      in_quotes(text))};
  while (true) {
    Index side = 0;
    const std::size_t end = std::min(rest.find('x'), rest.size());
    const auto [last, code] = std::from_chars(rest.data(), rest.data() + end, side);
    if (code != std::errc{} || last != rest.data() + end || side < 1 || side > 1'000'000)
      return wrong;
    sides.push_back(side);
    if (end == rest.size()) break;
    rest.remove_prefix(end + 1);
  }
  if (sides.size() == 2) return ImageShape{.height = sides[0], .width = sides[1]};
  if (sides.size() != 3) return wrong;
  const auto is_colours = [](Index count) { return count == 1 || count == 3; };
  if (is_colours(sides[2]))
    return ImageShape{.height = sides[0], .width = sides[1], .channels = sides[2]};
  if (!is_colours(sides[0])) return wrong;
  return ImageShape{
      .height = sides[1], .width = sides[2], .channels = sides[0], .planes = sides[0] == 3};
}

std::vector<double> Rows::numbers(Index row) const {
  std::vector<double> out(at(cols_of(points)));
  load_in_frame({}, points, row, row + 1, out.data());
  return out;
}

std::string Rows::column(Index feature) const {
  return columns.empty() ? fmt::format("x{}", feature) : columns[at(feature)];
}

}  // namespace fwsr::report
