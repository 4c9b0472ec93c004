// One run of the algorithm on the card: its state, and the three kernels that move it. A step is `decide` (who is best,
// and how far to go) and `pass` (the scores of all points after it); both are launched many times ahead, and do nothing
// once the run waits for the host.
//
//   decide   the leader, less what included exemplars take of it; w = E^T a_j; C w; R v = E C w / nu; then exact_step, as the loop on the host would take it
//   accept   instead of the last part: a step of the host's choice
//   pass     x = a_i.a_j, y = a_i.(A v), z = a_i.(R v) of every point, c and h, the best of every 32 points; and
//            E <- (1 - gamma) E + gamma I - factor a_j w^T
//
// Memory moved by a step: the points once, 40 bytes of r, c and h a point, and 48 d^2 bytes of C and E.
#pragma once

#include "fwsr/cuda/device.hpp"
#include "fwsr/cuda/rows.hpp"
#include "fwsr/solver/exact_step.hpp"

namespace fwsr::cuda {

/// Why a run waits for the host.
enum class Waits : int {
  no = 0,
  no_steps,  // as many were taken as the host had announced
  gap,       // closed, or no number: the probe is there, the step is not taken
  f,         // small enough, or no number
  drift,     // the score by recursion is not the exact one: to be computed anew
};

/// What the host is told of a step.
struct StepRecord {
  Index point = -1;
  Probe probe;
  double gamma = 0, length = 0;
  double f = 0;  // after it
};

/// On the card.
struct RunState {
  double beta = 0, closed = 0, least_f = 0;  // as the loop announced them
  Index steps = 0;                           // that may still be taken ahead
  double tie = 0, drift = 0, trace = 0;      // fixed: of scores, and tr C
  double f = 0, tr_ec = 0;
  Index point = -1;  // the step under way
  Probe probe;
  double along = 0;                          // a.(C w)
  double gamma = 0, length = 0, factor = 0;  // factor = length / nu
  double offset[3] = {}, last[3] = {};       // of products with a, A v and R v (finish in pass.cu)
  Waits waits = Waits::no;
  int recorded = 0;  // steps in the record
};

inline constexpr int most_ahead = 32;    // steps of one launch, and room in the record
inline constexpr int group_points = 32;  // whose best is kept
inline constexpr int pass_threads = 128;
inline constexpr int kept_shared = 8 << 10;  // bytes of a block for what kernels name themselves

/// Where everything of a run stands. All in the memory of the card.
struct RunView {
  Rows rows;
  RunState* state = nullptr;
  StepRecord* record = nullptr;
  const double* covariance = nullptr;  // C, dim x dim
  const double* rest = nullptr;        // I less the projection on what is included; null: I
  double *e = nullptr, *et = nullptr;  // E and its transpose; null: not kept
  double *a = nullptr, *w = nullptr, *cw = nullptr, *rv = nullptr;  // dim each
  double* vectors = nullptr;  // a, A v, R v made ready for the points, `padded` each
  Index padded = 0;           // features, rounded up to whole units of the pass
  const double* r = nullptr;
  double *c = nullptr, *h = nullptr;
  const double* prices = nullptr;  // null: 1
  double *group_best = nullptr, *block_best = nullptr;
  Index groups = 0;
  int blocks = 0;  // of the pass
};

/// Features rounded up as the pass wants its vectors.
Index padded_features(const Rows& rows);
/// Blocks of the pass that the card holds at a time, for points like these.
int pass_blocks(const Device& device, const Rows& rows);
/// The most features that the kernels have room for.
Index most_features(const Device& device);

/// The run goes on, with an empty record.
struct Announced {
  double beta = 0, closed = 0, least_f = 0;
  Index steps = 0;
};
void launch_announce(const Device& device, const RunView& run, const Announced& next);
/// Once before steps on a card.
void prepare_decide(const Device& device);
/// `ahead`: takes the step too, unless the run has to wait.
void launch_decide(const Device& device, const RunView& run, bool ahead);
/// Takes the step that `decide` found, so far.
void launch_accept(const Device& device, const RunView& run, double gamma, double length);
/// @pre `vectors` and the numbers of the step in the state
void launch_pass(const Device& device, const RunView& run);
/// group_best and block_best from c.
void launch_find_best(const Device& device, const RunView& run);

}  // namespace fwsr::cuda
