// One run of the algorithm on the card: its state, and the kernels that move it. One launch takes many steps, and ends
// when the run waits for the host. A step is
//
//   decide   the leader, less what included exemplars take of it; w = E^T a_j; C w; R v = E C w / nu; then exact_step, as
//            the loop on the host would take it (decide.cuh)
//   pass     x = a_i.a_j, y = a_i.(A v), z = a_i.(R v) of every point, c and h, the best of every 32 points; and the
//            matrices of E after the step (pass.cu)
//
// Points that are copied to the card for every step have them in launches of their own. `accept` is a step of the host's
// choice. Memory moved by a step: the points once, 40 bytes of r, c and h a point, and 96 d^2 bytes of matrices.
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
  double drift = 0, trace = 0;               // fixed: of scores; tr C
  double f = 0, tr_ec = 0;
  Index point = -1;  // the step under way
  Probe probe;
  double along = 0;                          // a.(C w)
  double gamma = 0, length = 0, factor = 0;  // factor = length / nu
  double offset[3] = {}, last[3] = {};       // of products with a, A v and R v (finish in pass.cu)
  Waits waits = Waits::no;
  int recorded = 0;  // steps in the record
};

/// Beside the best score of some groups of points: the best of the others, the same where several points of its group are
/// within a tie of it; and its point.
struct BestPoint {
  double next;
  Index point;
};

inline constexpr int most_ahead = 256;   // steps of one launch, and room in the record
inline constexpr int group_points = 32;  // whose best is kept
inline constexpr int pass_threads = 128;
inline constexpr int kept_shared = 8 << 10;  // bytes of a block for what kernels name themselves

/// Where everything of a run stands. All in the memory of the card.
struct RunView {
  Rows rows;
  double tie = 0;  // scores that differ by less than this part are equal
  RunState* state = nullptr;
  StepRecord* record = nullptr;
  const double* given = nullptr;       // the leader, where its row cannot be read; else null
  const double* covariance = nullptr;  // C, dim x dim
  const double* rest = nullptr;        // I less the projection on what is included; null: I
  double *et = nullptr, *ec = nullptr, *ce = nullptr,
         *ece = nullptr;  // E^T, E C, C E^T and E C E^T; null: not kept
  double *a = nullptr, *w = nullptr, *cw = nullptr,
         *rv = nullptr;       // of the step: a_j, w, C w and nu R v; dim each
  double* vectors = nullptr;  // a, A v, R v made ready for the points, `padded` each
  Index padded = 0;           // features, rounded up to whole units of the pass
  const double* r = nullptr;
  double *c = nullptr, *h = nullptr;
  const double* prices = nullptr;  // null: 1
  double* group_best = nullptr;
  double* block_best = nullptr;  // of every block of the pass ...
  BestPoint* block_point = nullptr;
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
/// As many steps as were announced, or until the run has to wait.
void launch_steps(const Device& device, const RunView& run);
/// The point of the state becomes the leader.
void launch_lead(const Device& device, const RunView& run);
/// What decides on one: `take`: the step, too, whose pass is still to come.
void launch_decide(const Device& device, const RunView& run, bool take);
/// Takes the step that `decide` found, so far.
void launch_accept(const Device& device, const RunView& run, double gamma, double length);
/// @pre `vectors` and the numbers of the step in the state
void launch_pass(const Device& device, const RunView& run);
/// group_best, block_best and block_point from c.
void launch_find_best(const Device& device, const RunView& run);

}  // namespace fwsr::cuda
