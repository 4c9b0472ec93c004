// What whoever leads a run asks of the points, wherever they live, and what they answer: plain structs, each a question
// with its Reply. PointShard answers them for the points it holds; GatheredPoints asks, and adds up. Nothing of length n
// is told unless somebody asked for it (assignment, codes). docs/forms.md
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/kernel/kernel_tables.hpp"
#include "fwsr/linalg/gram.hpp"
#include "fwsr/linalg/pass.hpp"
#include "fwsr/prep/copies.hpp"
#include "fwsr/prep/statistics.hpp"
#include "fwsr/solver/exchange.hpp"
#include "fwsr/solver/linear_sweep.hpp"
#include "fwsr/solver/middle.hpp"
#include "fwsr/solver/regression.hpp"
#include "fwsr/solver/residual_rows.hpp"

namespace fwsr {

/// Some numbers of a question: the asker's where he is in the same process, else our own.
class Numbers {
 public:
  Numbers() = default;
  Numbers(std::span<const double> theirs) : theirs_(theirs) {}               // NOLINT
  Numbers(const std::vector<double>& theirs) : theirs_(theirs) {}            // NOLINT
  Numbers(std::vector<double>&& own) : own_(std::move(own)), here_(true) {}  // NOLINT

  std::span<const double> all() const { return here_ ? std::span<const double>(own_) : theirs_; }
  const double* data() const { return all().data(); }

 private:
  std::span<const double> theirs_;
  std::vector<double> own_;
  bool here_ = false;
};

/// A question of preprocessing (statistics.hpp) to the points of one set.
template <class Question>
struct OfSet {
  Index set = 0;
  Question question;
  using Reply = typename Question::Reply;
};
/// From now on there is a set `set`: the points of set `of` with another eta, which do not know their scale yet.
struct MakeSet {
  Index set = 0, of = 0;
  double eta = 0;
  bool eta_relative = false;
  using Reply = Told;
};

/// Which points a shard holds, and of what kind.
struct WhichPoints {
  Index set = 0;
  struct Reply {
    Index first = 0, size = 0, of = 0, features = 0;
    bool sparse = false, single = false;
    bool in_double = false;  // all products are, whatever the points are stored in
  };
};

/// From now on the points of a set count by these weights, only some may be picked, and at these costs: one number for
/// each of all points, or none at all; candidates by their number. Before a covariance of the set is asked for.
struct Narrow {
  Index set = 0;
  Numbers weights, costs;
  bool some = false;  // only `candidates` may be picked
  std::vector<Index> candidates;
  std::vector<Index> groups;  // of all points; empty: none
  using Reply = Told;
};
/// From now on the scores of a run are squares times these, one for each of all points; 0: not to be picked.
struct SetPrices {
  Index run = 0;
  Numbers prices;
  using Reply = Told;
};

/// Of set, covariance or run number `id` nothing more will be asked.
struct Forget {
  enum class What : std::int32_t { set, covariance, run };
  What what = What::run;
  Index id = 0;
  using Reply = Told;
};

/// Some points, by their number among all; a shard answers for those it holds.
struct RowsOf {
  Index set = 0;
  std::vector<Index> points;
  bool rows_too = true;  // not their squares alone
  struct Reply {
    std::vector<Index> which;        // of those that were asked for
    std::vector<double> rows;        // a_i, dim numbers each
    std::vector<double> squares;     // ||a_i||^2 without eta
    std::vector<double> taken_away;  // what centring took, as a norm
  };
};

/// The same points as they are stored (copies.hpp).
struct CopiesOf {
  Index set = 0;
  std::vector<Index> points;
  using Reply = PointCopies;
};

/// sum_i b_i b_i^T and sum_i b_i, b_i = a_i - shift: in float32, or without a shift in double.
struct Moments {
  Index set = 0;
  bool single = false;
  Numbers shift;
  using Reply = SegmentSums<Gram>;
};

/// r_i = a_i^T C a_i of all points, kept as that of covariance `id`.
struct KeepForms {
  Index set = 0, id = 0;
  Numbers c;
  using Reply = double;  // the largest
};
/// The same from float32 products (covariance.cpp).
struct KeepFormsInSingle {
  Index set = 0, id = 0;
  Numbers b, m, s, cm;  // B, and vectors of dim numbers
  struct Reply {
    double most = 0, longest = 0;  // of all b_i^T B b_i and ||b_i||^2
  };
};
/// sum_i a_i, as Points::finish_sum takes it.
struct SumPoints {
  Index set = 0;
  using Reply = SegmentSums<std::vector<double>>;
};
/// r with an eta from that without.
struct KeepBordered {
  Index set = 0, without = 0;    // sets
  Index id = 0, id_without = 0;  // covariances
  Numbers sum;                   // all that SumPoints of `without` told
  struct Reply {
    std::vector<double> s;  // sum_i a_i without eta
    double largest = -std::numeric_limits<double>::infinity();
  };
};

/// A run at X = 0.
struct BeginRun {
  Index set = 0, covariance = 0, run = 0;
  using Reply = Told;
};
struct LargestScore {
  Index run = 0;
  using Reply = double;
};
/// The first point whose score is at least this.
struct FirstScore {
  Index run = 0;
  double enough = 0;
  struct Reply {
    Index point = -1;
    double square = 0;
  };
};
/// Both at once, of shards that are far away: the largest score of those here, and the first of them that is within a
/// relative `tie` of it, with its row.
struct Lead {
  Index run = 0;
  double tie = 0;
  struct Reply {
    double largest = -std::numeric_limits<double>::infinity();
    double score = 0;  // of the first
    FirstScore::Reply first;
    std::vector<double> row;  // a_i
  };
};
/// Some more exemplars of a set: from now on a run is how far its candidates are from all exemplars, squared
/// (distances.hpp), and these are its scores; prices of 0 are not to be picked, and others are as good as 1.
struct LowerDistances {
  Index set = 0, run = 0;
  std::vector<Index> exemplars;
  Numbers rows, squares;  // dim numbers each; ||a_t||^2 without eta
  using Reply = Told;
};
/// One step of every run, or some of one.
struct Advance {
  struct Step {
    Index run = 0, covariance = 0;
    Numbers a, av, rv;
    ScoreStep step;
  };
  Index set = 0;
  std::vector<Step> steps;
  bool in_turn = false;  // of one run, one after the other
  using Reply = Told;
};
/// c and h from E and C alone.
struct Rescore {
  Index run = 0;
  Numbers c, e;
  using Reply = Told;
};

/// What the codes say about the points (linear_sweep.hpp).
struct DescribeCodes {
  Index set = 0, covariance = 0;
  SweepTables tables;
  Wanted wanted;
  using Reply = SweepAnswer;
};
/// The codes as vectors (residual_rows.hpp).
struct ResidualSquares {
  Index set = 0;
  ResidualVectors codes;
  using Reply = SegmentSums<double>;
};
struct ResidualMoments {
  Index set = 0;
  ResidualVectors codes;
  using Reply = SegmentSums<Gram>;
};
/// sum_i <a_i, w>^2 of some vectors w, all together
struct ProjectedSquares {
  Index set = 0;
  Numbers w;
  using Reply = SegmentSums<double>;
};
/// a_i^T (R R^T) a_i of all points: the largest, and how large it is at least and at most.
struct ResidualScores {
  Index set = 0;
  Numbers rr;    // R R^T ...
  double f = 0;  // ... and its trace
  struct Reply {
    double largest = 0, least = 0, most = 0;
  };
};
/// The points that may have the largest of these, `few` and one more at most. Ends what ResidualScores began.
struct ResidualLeaders {
  Index set = 0;
  double f = 0, least = 0;
  Index few = 0;
  using Reply = std::vector<Index>;
};
/// ||a_i||^2 less what some orthonormal vectors of `dim` numbers take of it, of every candidate: kept for TryExchanges.
struct KeepLeft {
  Index set = 0;
  Numbers orthonormal;
  using Reply = Told;
};
/// Who would be best in the place of each exemplar (exchange.hpp).
struct TryExchanges {
  Index set = 0, covariance = 0;
  ExchangeTables tables;
  Numbers with;  // the k exemplars, then k rows A_T^T C, unless who is asked makes these himself
  using Reply = std::vector<Offer>;
};
/// The points of every exemplar: their sum, and how many they are (middle.hpp). Who stands for whom is kept.
struct SumGroups {
  Index set = 0;
  MiddleTables tables;
  using Reply = SegmentSums<std::vector<double>>;
};
/// Who is in the middle of each of these groups. Ends what SumGroups began.
struct FindMiddles {
  Index set = 0;
  MiddleTables tables;
  using Reply = std::vector<Offer>;
};
/// What is left of the points beyond some orthonormal vectors of `features` numbers.
struct BeyondSpan {
  Index set = 0;
  Numbers orthonormal;
  using Reply = BeyondSpanSums;
};

/// gamma times the largest squared distance from the shift of these few: whether float32 will do (kernel_tables.hpp).
struct FarthestFrom {
  Index set = 0;
  KernelTables tables;
  using Reply = double;
};
/// From now on there is a set `set`, rows of a factor (kernel/factor.hpp): those of V G^-T for the points of set `of`,
/// which know nothing of themselves yet.
struct MakeFactor {
  Index set = 0, of = 0;
  KernelTables tables;
  bool single = false;  // in float32 ...
  bool wide = false;    // ... from products in double
  struct Reply {
    SegmentSums<double> trace, lost;  // of v_ii, and less the squares of the rows
  };
};
/// What is left of the points in the kernel's space beyond the span of these few.
struct ProjectInKernel {
  Index set = 0;
  KernelTables tables;
  using Reply = BeyondSpanSums;
};
/// Who of these few is the nearest in the kernel's space.
struct NearestInKernel {
  Index set = 0;
  KernelTables tables;
  std::vector<Index> exemplars;  // who they are: they stand for themselves
  bool assignment = false;       // of every point, too
  struct Reply {
    SegmentSums<std::vector<double>> counts;  // of their weights
    std::vector<Index> assignment;
  };
};

}  // namespace fwsr
