// One step of exact line search, from five numbers. Compiled for the processor and for cards alike, so that who steps on a
// card (fwsr/cuda) steps as Algorithm 1 does here.
#pragma once

#include <limits>

#include "fwsr/base/anywhere.hpp"

namespace fwsr {

/// Five numbers that describe f along the segment from X to S = beta e_j v^T, for every beta.
struct Probe {
  double score = 0;  // <v, p_j> = nu
  double self = 0;   // K_jj ||v||^2, so that <S, K S> = beta^2 self
  double cross = 0;  // <v, (K X)_j>, so that <S, K X> = beta cross
  double xp = 0;     // <X, P>
  double xkx = 0;    // <X, K X>
};

/// One step of exact line search from X towards S (paper section 4.1.4).
struct Move {
  double gap = 0;        // 2 <S - X, P>
  double curvature = 0;  // ||A (S - X)||^2
  double gamma = 0;      // line 15
  double length = 0;     // gamma beta / cost_j
};

/// beta infinite is the matching-pursuit limit.
FWSR_ANYWHERE inline Move exact_step(const Probe& probe, double beta) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Move move;
  if (beta == infinity) {
    move.gap = move.curvature = infinity;
    move.length = probe.self > 0 ? probe.score / probe.self : 0.0;
    return move;
  }
  const double descent = beta * probe.score - probe.xp;  // <S - X, P>
  move.gap = 2 * descent;
  move.curvature = beta * beta * probe.self - 2 * beta * probe.cross + probe.xkx;
  if (move.curvature > 0) {
    const double best = descent / move.curvature;
    move.gamma = best < 0.0 ? 0.0 : 1.0 < best ? 1.0 : best;
  }
  move.length = move.gamma * beta;
  return move;
}

/// By how much f changes with X <- (1 - gamma) X + length e_j v^T: -2 <D, P> + <D, K D>, D the change of X.
FWSR_ANYWHERE inline double change_of_objective(const Probe& q, double gamma, double length) {
  return -2 * (length * q.score - gamma * q.xp) + length * length * q.self -
         2 * length * gamma * q.cross + gamma * gamma * q.xkx;
}

}  // namespace fwsr
