// Points that look like marks for missing values: -999, 1e20, 9.97e36. They are numbers like others, so that
// nothing fails; but they are the largest by far, and so the first to be chosen.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "fwsr/base/typical.hpp"
#include "fwsr/prep/marks.hpp"
#include "fwsr/prep/points.hpp"

namespace fwsr {

namespace {

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

/// A row of one value so many times larger than all rows that are not is a mark. Few features are equal by
/// chance now and then.
double far_away(Index features) {
  return features >= 4 ? 10 : 1e6;
}
/// The same for the norm of a point, beside that of most: what it leaves of them in double is six digits.
constexpr double huge = 1e10;

constexpr const char* advice =
    "if that marks a missing value, remove the point or fill in the value";

}  // namespace

void ConstantRows::see(Index point, const RowSums& row, Index features, bool centred) {
  const double all = static_cast<double>(features) * row.largest * row.largest;
  const bool constant = row.largest > 0 && features > 1 &&
                        (centred ? row.squares <= 1e-24 * all : row.squares >= (1 - 1e-12) * all);
  if (!constant)
    largest_other = std::max(largest_other, row.largest);
  else if (row.largest > largest)
    largest = row.largest, first = point;
}

void Points::look_for_marks(const std::vector<ConstantRows>& blocks) {
  double others = 0;
  for (const ConstantRows& b : blocks) others = std::max(others, b.largest_other);
  const double limit = far_away(features_) * others;
  if (!(others > 0) || !std::isfinite(limit)) return;
  const auto found = std::find_if(blocks.begin(), blocks.end(),
                                  [&](const ConstantRows& b) { return b.largest > limit; });
  if (found == blocks.end()) return;
  with_rows(found->first, found->first + 1, [&](Index, const auto& rows) {
    warning_ = fmt::format(
        "point {} is {:g} in every feature, {:.2g} times the largest number of all others: {}",
        source(found->first), static_cast<double>(rows.rows[0][0]), found->largest / others,
        advice);
  });
}

void Points::look_for_huge_points() {
  if (warning_ || prep_.normalize || prep_.scale == Scale::unit) return;
  const double median =
      typical(std::ssize(squared_norms_), [&](Index i) { return squared_norms_[at(i)]; });
  if (!(median > 0)) return;
  const auto found = std::find_if(squared_norms_.begin(), squared_norms_.end(),
                                  [&](double s) { return s / median > huge * huge; });
  if (found == squared_norms_.end()) return;
  const Index i = found - squared_norms_.begin();
  Index feature = 0;
  double largest = 0;
  const auto look = [&](Index l, double x) {
    if (std::abs(x) > std::abs(largest)) feature = l, largest = x;
  };
  if (sparse())
    for_entries(i, look);
  else
    with_rows(i, i + 1, [&](Index, const auto& rows) {
      for (Index l = 0; l < features_; ++l) look(l, static_cast<double>(rows.rows[0][l]));
    });
  warning_ = fmt::format(
      "point {} has {:g} in feature {} (both counted from 0), and is {:.0e} times as long as most "
      "points, beside which they are nothing: {}",
      source(i), largest, feature, std::sqrt(*found / median), advice);
}

void Points::drop_constant_points() {
  if (mean_.empty() || squared_norms_.empty()) return;
  const auto drop = [&](Index i) {
    if (outer_.empty()) outer_.assign(at(size_), 1.0);
    outer_[at(i)] = squared_norms_[at(i)] = 0;
  };
  // Features that were scaled are known to rounding, and so is what centring leaves of equal ones.
  constexpr double rounding = 4 * std::numeric_limits<double>::epsilon();
  for (Index i = 0; i < size_ && !weights_.empty(); ++i) {
    const double known = rounding * mean_[at(i)];
    if (squared_norms_[at(i)] <= known * known * static_cast<double>(features_)) drop(i);
  }
  if (!single() || sparse()) return;
  // Products with float32 points are centred afterwards, to within rounding of what centring takes away.
  constexpr double digits = 0x1p20;
  const double longest = std::sqrt(*std::max_element(squared_norms_.begin(), squared_norms_.end()));
  const double limit = digits * longest / std::sqrt(static_cast<double>(features_));
  for (Index i = 0; i < size_ && longest > 0; ++i) {
    if (squared_norms_[at(i)] == 0 && std::abs(mean_[at(i)]) > limit) drop(i);
  }
}

double Points::norm_taken_away(Index i) const {
  return outer(i) * (std::sqrt(static_cast<double>(features_)) * std::abs(mean(i)) + means_norm_);
}

}  // namespace fwsr
