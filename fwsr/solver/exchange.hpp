// Exchange: from exemplars T, however chosen, to a choice that no exchange of one exemplar for one other point improves,
// by the ridge form of the paper's Eq. (1) for a fixed number of exemplars:
//
//   g(T) = min_X ||A - A_T X||^2 + mu ||X||^2 = tr(P C)       P = (I + A_T A_T^T / mu)^-1     C = A A^T
//
// In the kernel's space, with M = (K_TT + mu)^-1, b_i = K_Ti, w_i = (K K)_Ti and G = (K K)_TT, every point i has
//
//   y_i = M b_i     x_i = w_i - G y_i     e_i = M x_i
//   s_i = a_i^T P a_i = K_ii - b_i.y_i                 t_i = a_i^T P C P a_i = r_i - (w_i + x_i).y_i,   r_i = (K K)_ii
//
// and dropping p, then adding i changes g by (docs/algorithm.md)
//
//   kappa_p - (t_i + (2 y_ip e_ip + y_ip^2 kappa_p) / M_pp) / (mu + s_i + y_ip^2 / M_pp),     kappa_p = (M G M)_pp / M_pp
//
// So one visit to all points tries all exchanges (ExchangePoints::offers). Those that gain most are candidates, and
// among these few the search goes on without the points (Candidates), until a visit finds nothing more. Then exemplars may
// move to the middle of the points that they stand for (middle.hpp).
//
// Under conditions (conditions.hpp) a_i is what the included exemplars leave of it, C counts points by their weights,
// C = sum_i s_i a_i a_i^T and K K becomes K S K; only candidates come in, and only where that is permitted (permitted.hpp).
// The ridge is mu sum_i s_i ||x_i||^2: a weight of 2 is the same as two points. Included exemplars have none: they are
// free here as in the run before.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/index.hpp"
#include "fwsr/solver/permitted.hpp"

namespace fwsr {

/// What every point is tried with: small, and the same wherever the points live.
struct ExchangeTables {
  Index k = 0;
  double mu = 0;
  double step = 0;                   // gains are told apart in steps of this
  std::vector<Index> exemplars;      // T
  std::vector<double> m, g;          // M and G, k x k
  std::vector<double> kappa, per_m;  // kappa_p and 1 / M_pp
  Partners partners = {};
};

/// Who would be best in the place of an exemplar, and by how much g falls.
struct Offer {
  Index point = -1;
  double gain = 0;

  /// Larger gains first, of equal ones the smaller index. Offers may be compared in any order.
  void see(const Offer& other, double step);
};
/// Sees rows of candidates first .. first + rows: `b` and `w` are rows x k, `squares` K_ii, `r` as above.
struct OfferRows {
  Index first = 0, rows = 0;
  const Terms& terms;  // of the points at hand ...
  Index before = 0;    // ... which are behind so many others
  const double* b = nullptr;
  const double* w = nullptr;
  const double* squares = nullptr;
  const double* r = nullptr;
};
void see_rows(const ExchangeTables& z, const OfferRows& given, std::vector<Offer>& offers);

class MiddlePoints;  // middle.hpp
class Recorder;      // recorder.hpp

/// K and K K of a few points.
struct Among {
  std::vector<double> k, kk;
};

/// What exchange asks of the points, wherever they live.
class ExchangePoints {
 public:
  virtual ~ExchangePoints() = default;
  virtual double trace() const = 0;   // tr K = ||A||^2, every point by its weight
  virtual double whole() const = 0;   // the same with what the included exemplars take
  virtual double weight() const = 0;  // of all points
  virtual Among among(std::span<const Index> points) = 0;
  /// For every exemplar the best offer of all other candidates.
  virtual std::vector<Offer> offers(const ExchangeTables& z) = 0;
};

struct ExchangeOptions {
  double mu = 0;
  double tie = 1e-10;  // of the whole tr K: exchanges that gain no more than this are none
  Index rounds = 0;    // visits to the points at most, of the middle too; 0: until nothing changes
  bool middle =
      false;  // afterwards exemplars move to the middle of their points, as many rounds at most
  Permitted permitted = {};
  /// What else these exemplars have to be; those that the exchanges begin with are.
  std::function<bool(const std::vector<Index>&)> keeps = {};
  Recorder* recorder = nullptr;  // not with `keeps`
};
struct Exchanged {
  std::vector<Index> exemplars;  // by what each adds to those before it
  double mu = 0;
  double before = 0, after = 0;  // g
  double after_exchange = 0;     // g before the middle
  Index exchanges = 0, rounds = 0;
  Index moves = 0, middle_rounds = 0;
  bool local_optimum = false;
  bool interrupted = false;
  bool only_refused = false;  // it ended because `keeps` refused all that was found
  std::vector<double> m;      // (K_TT + mu)^-1: codes X = M K_T
  double radius = 0;          // sum_t cost_t ||X_t||
};
/// Told before every round: how many exchanges so far, and g. False: no more of it.
using WatchExchange = std::function<bool(Index rounds, Index exchanges, double g)>;
/// Who is interrupted answers with the best so far. `middle`: where exemplars move afterwards; null: nowhere.
/// @pre the points' matrices are products on one thread (SerialBlas)
Exchanged exchange(ExchangePoints& points, std::vector<Index> exemplars,
                   const ExchangeOptions& options, const WatchExchange& watch = {},
                   MiddlePoints* middle = nullptr);

/// The matrices R = A^T P A and Q = A^T P C P A of a few points; adding and dropping an exemplar changes P by q q^T.
class Candidates {
 public:
  /// None is an exemplar yet.
  Candidates(const Among& among, Index count, double mu);

  double gain(Index j) const;  // of adding j: g falls by this
  double loss(Index p) const;  // of dropping p: g rises by this
  double gain_of_exchange(Index p, Index j) const;
  void add(Index j);
  void drop(Index p);
  double fallen() const { return fallen_; }  // tr K - g

 private:
  void change(Index j, double sign);
  Index n_;
  double mu_, fallen_ = 0;
  std::vector<double> r_, q_;
};

}  // namespace fwsr
