#include "fwsr/report/rows.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/base/quoted.hpp"
#include "fwsr/prep/frame.hpp"
#include "fwsr/report/sample.hpp"
#include "fwsr/report/text.hpp"
#include "fwsr/solver/select.hpp"

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

Classes::Classes(const Rows& rows) {
  if (!rows.has_classes()) return;
  const std::vector<Index> counts = rows.labels->counts();
  std::vector<Index> order;
  for (std::size_t c = 0; c < counts.size(); ++c)
    if (counts[c] > 0) order.push_back(static_cast<Index>(c));
  const std::vector<std::string>& all = rows.labels->names();
  std::sort(order.begin(), order.end(),
            [&](Index a, Index b) { return class_before(all[at(a)], all[at(b)]); });
  place.assign(counts.size(), -1);
  for (const Index c : order) {
    place[at(c)] = std::ssize(names);
    names.push_back(all[at(c)]);
    points.push_back(counts[at(c)]);
  }
}

Index Classes::of(const Rows& rows, Index row) const {
  // Points that conditions brought along have no class.
  if (names.empty() || row >= std::ssize(rows.labels->codes())) return -1;
  return place[at(rows.labels->codes()[at(row)])];
}

Features::Features(const Rows& rows) : rows_(rows) {
  const std::vector<Index> some = evenly_spaced(rows.size(), 2000);
  const std::size_t d = at(cols_of(rows.points));
  const auto count = static_cast<double>(std::max<std::size_t>(1, some.size()));
  mean_.assign(d, 0.0);
  deviation_.assign(d, 0.0);
  for (const Index i : some) {
    const std::vector<double> x = rows.numbers(i);
    for (std::size_t l = 0; l < d; ++l)
      mean_[l] += x[l] / count, deviation_[l] += x[l] * x[l] / count;
  }
  for (std::size_t l = 0; l < d; ++l)
    deviation_[l] = std::sqrt(std::max(0.0, deviation_[l] - mean_[l] * mean_[l]));
}

std::vector<Telling> Features::of(Index row, std::size_t most) const {
  const std::vector<double> x = rows_.numbers(row);
  std::vector<Telling> all;
  for (std::size_t l = 0; l < x.size(); ++l) {
    const double apart = x[l] - mean_[l];
    if (std::abs(apart) <= 1e-9 * std::abs(mean_[l])) continue;
    // Of a feature that is nothing in all points looked at, a stored number tells much, but not all.
    const double deviations = deviation_[l] > 0 ? apart / deviation_[l] : std::copysign(1.0, apart);
    all.push_back({.feature = static_cast<Index>(l), .value = x[l], .deviations = deviations});
  }
  const std::size_t count = std::min(most, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<Index>(count), all.end(),
                    [](const Telling& a, const Telling& b) {
                      const double left = std::abs(a.deviations), right = std::abs(b.deviations);
                      return left > right || (left == right && a.feature < b.feature);
                    });
  all.resize(count);
  return all;
}

}  // namespace fwsr::report
