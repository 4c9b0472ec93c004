// What a run has done so far, so that another run of the same request can go on from there: checkpoints. Only decisions are
// recorded, which are few numbers each; state of length n is made again from them, to the bit, in one read of the points.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fwsr/base/index.hpp"

namespace fwsr {

/// One step, as it was taken.
struct RecordedStep {
  Index pick = -1;
  double score = 0;       // of the pick
  double f = 0;           // after the step
  std::uint64_t row = 0;  // of the numbers of the picked point
  bool rescored = false;  // all scores were computed anew before the pick
};

/// Exemplars on their way to a local optimum, after a visit to the points, or then to the middle, after a round.
struct RecordedExchange {
  std::vector<Index> exemplars;              // now
  std::vector<Index> exemplars_of_exchange;  // before they moved to the middle
  Index rounds = 0, exchanges = 0;
  double before = 0, after = 0;  // g, before the middle
  bool local_optimum = false;
  std::vector<Index> refused;  // exchanges that the conditions do not permit, as in Partners ...
  Index fruitless = 0;         // ... and visits in a row that found no others
  Index middle_rounds = 0, moves = 0;
  bool in_the_middle = false;  // none moves any more
};

struct RunRecord {
  double f_at_zero = 0;
  std::vector<RecordedStep> steps;
  std::optional<RecordedExchange> exchange;
};

/// Who is told, and who knows what an earlier run was told. Not asked from several threads at a time.
class Recorder {
 public:
  virtual ~Recorder() = default;
  /// Of an earlier run of the same request; empty: there was none.
  virtual const RunRecord& known() const = 0;
  /// Steps of the earlier run are not told again.
  virtual void begin(double f_at_zero) = 0;
  virtual void step(const RecordedStep& step) = 0;
  virtual void exchange(const RecordedExchange& state) = 0;
};

}  // namespace fwsr
