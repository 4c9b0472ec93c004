// Who stands for a point when only the first 1, 2, ... exemplars are there. It goes to the nearest of these, and moves on
// whenever a later one is nearer than all before it: about log k times, so that its whole story is short.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "fwsr/base/index.hpp"

namespace fwsr::report {

/// So much weight goes over when exemplar `to` is added; from -1: it was nobody's.
struct Move {
  std::int32_t from = -1, to = 0;
  double weight = 0;
  friend bool operator==(const Move&, const Move&) = default;
};

class PrefixGroups {
 public:
  /// `rows`: points whose stories are kept, ascending. `weight`: of all points.
  explicit PrefixGroups(std::vector<Index> rows = {}, double weight = 0);

  /// The exemplars of the next run, `first` behind those of the runs before it.
  void begin_run(Index first, Index exemplars);
  /// A point of this run: K_it and K_tt of its exemplars, the one it goes to when all are there, and its weight.
  /// From many threads, each point once.
  void add(Index point, const double* values, const double* squares, Index nearest, double weight);
  /// Keeps the story of a point that was not among `rows`. @pre it was given to add()
  void keep(Index point, const double* values, const double* squares, Index nearest);
  void end_run();

  /// False where there are too many exemplars, or points that moved on too often, to tell it all.
  bool known() const { return known_; }
  /// The exemplars it goes to, one after the other, numbered over all runs; empty: not kept.
  std::span<const std::int32_t> of(Index point) const;
  const std::vector<Move>& moves() const { return moves_; }

  /// Of one run.
  static constexpr Index most_exemplars = 1000;
  static constexpr std::size_t most_moves = 30'000;

 private:
  using Story = std::vector<std::int32_t>;
  static Story story_of(const double* values, const double* squares, Index nearest);
  /// Numbered over all runs, and cut off where it is too long to be told.
  Story to_be_kept(Story story) const;

  std::vector<Index> rows_;
  std::vector<Story> stories_;
  std::map<Index, Story> late_;                  // of keep()
  std::vector<std::atomic<std::int64_t>> flow_;  // k x k: from, to
  std::vector<Move> moves_;
  Index first_ = 0, exemplars_ = 0;
  int unit_ = 0;  // weights are counted in units of 2^unit_: whole numbers add up in any order
  bool known_ = true;
};

}  // namespace fwsr::report
