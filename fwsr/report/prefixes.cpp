#include "fwsr/report/prefixes.hpp"

#include <algorithm>
#include <cmath>

#include "fwsr/base/at.hpp"

namespace fwsr::report {

namespace {

/// Nobody has as many but points that were made for it: of 2000 exemplars in any order 8 are expected.
constexpr std::size_t longest_story = 64;

}  // namespace

PrefixGroups::PrefixGroups(std::vector<Index> rows, double weight)
    : rows_(std::move(rows)),
      stories_(rows_.size()),
      // All weights together are less than 2^52 units.
      unit_(weight > 0 && std::isfinite(weight) ? std::ilogb(weight) - 51 : 0) {}

void PrefixGroups::begin_run(Index first, Index exemplars) {
  first_ = first;
  exemplars_ = exemplars;
  if (exemplars > most_exemplars) known_ = false;
  flow_ = std::vector<std::atomic<std::int64_t>>(known_ ? at(exemplars * exemplars) : 0);
}

PrefixGroups::Story PrefixGroups::story_of(const double* values, const double* squares,
                                           Index nearest) {
  Story story;
  double least = 0;
  for (Index t = 0; t <= nearest; ++t) {
    const double apart = squares[t] - 2 * values[t];
    if (t > 0 && !(apart < least)) continue;
    least = apart;
    story.push_back(static_cast<std::int32_t>(t));
  }
  // It ends where the run says, also where rounding or a point that is an exemplar itself decide.
  if (story.empty() || story.back() != nearest) story.push_back(static_cast<std::int32_t>(nearest));
  return story;
}

PrefixGroups::Story PrefixGroups::to_be_kept(Story story) const {
  if (story.size() > longest_story) story.resize(longest_story + 1);
  for (std::int32_t& place : story) place += static_cast<std::int32_t>(first_);
  return story;
}

void PrefixGroups::add(Index point, const double* values, const double* squares, Index nearest,
                       double weight) {
  if (!known_) return;
  Story story = story_of(values, squares, nearest);
  const std::int64_t units = std::llround(std::ldexp(weight, -unit_));
  for (std::size_t s = 0; s < story.size(); ++s)
    flow_[at((s == 0 ? story[0] : story[s - 1]) * exemplars_ + story[s])] += units;
  const auto row = std::lower_bound(rows_.begin(), rows_.end(), point);
  if (row == rows_.end() || *row != point) return;
  stories_[at(row - rows_.begin())] = to_be_kept(std::move(story));
}

void PrefixGroups::keep(Index point, const double* values, const double* squares, Index nearest) {
  if (!known_) return;
  if (std::binary_search(rows_.begin(), rows_.end(), point)) return;
  late_[point] = to_be_kept(story_of(values, squares, nearest));
}

void PrefixGroups::end_run() {
  const auto too_long = [](const Story& story) { return story.size() > longest_story; };
  if (std::any_of(stories_.begin(), stories_.end(), too_long)) known_ = false;
  for (const auto& [point, story] : late_)
    if (too_long(story)) known_ = false;
  for (Index to = 0; known_ && to < exemplars_; ++to)
    for (Index from = 0; from <= to; ++from) {
      // Nobody moves on to where he is: the diagonal holds those who came first of all.
      const std::int64_t units = flow_[at(from * exemplars_ + to)];
      if (units == 0) continue;
      moves_.push_back({.from = static_cast<std::int32_t>(from == to ? -1 : first_ + from),
                        .to = static_cast<std::int32_t>(first_ + to),
                        .weight = std::ldexp(static_cast<double>(units), unit_)});
      if (moves_.size() > most_moves) known_ = false;
    }
  flow_.clear();
  if (known_) return;
  moves_.clear();
  late_.clear();
  stories_.assign(rows_.size(), {});
}

std::span<const std::int32_t> PrefixGroups::of(Index point) const {
  const auto row = std::lower_bound(rows_.begin(), rows_.end(), point);
  if (const auto late = late_.find(point); late != late_.end()) return late->second;
  if (row == rows_.end() || *row != point) return {};
  return stories_[at(row - rows_.begin())];
}

}  // namespace fwsr::report
