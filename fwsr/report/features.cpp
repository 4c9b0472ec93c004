#include "fwsr/report/features.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/base/quoted.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/report/sample.hpp"
#include "fwsr/solver/select.hpp"

namespace fwsr::report {

void check_rows(const Rows& rows) {
  const Index n = rows.size(), d = cols_of(rows.points);
  if (n < 1) throw Error("a page is of one point at least");
  const auto refuse = [&](const char* what, Index there, Index most) {
    throw Error(fmt::format("{} has {} {} of {} points with {} features; give {}",
                            in_quotes(rows.name), there, what, n, d, most));
  };
  // Points that conditions brought along stand behind the others, and have none of these.
  if (rows.labels && std::ssize(rows.labels->codes()) > n)
    refuse("labels", std::ssize(rows.labels->codes()), n);
  if (std::ssize(rows.ids) > n) refuse("ids", std::ssize(rows.ids), n);
  if (std::ssize(rows.texts) > n) refuse("texts", std::ssize(rows.texts), n);
  if (std::ssize(rows.pictures) > n) refuse("pictures", std::ssize(rows.pictures), n);
  if (!rows.columns.empty() && std::ssize(rows.columns) != d)
    refuse("names of features", std::ssize(rows.columns), d);
  if (rows.images &&
      (rows.images->size() != d || rows.images->height < 1 || rows.images->width < 1 ||
       (rows.images->channels != 1 && rows.images->channels != 3)))
    refuse("pixels in an image", rows.images->size(), d);
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
  const auto add_up = [&](auto&& add) {
    for (const Index i : some) {
      const std::vector<double> x = rows.numbers(i);
      for (std::size_t l = 0; l < d; ++l) add(l, x[l]);
    }
  };
  add_up([&](std::size_t l, double x) { mean_[l] += x / count; });
  add_up(
      [&](std::size_t l, double x) { deviation_[l] += (x - mean_[l]) * (x - mean_[l]) / count; });
  for (double& deviation : deviation_) deviation = std::sqrt(deviation);
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
