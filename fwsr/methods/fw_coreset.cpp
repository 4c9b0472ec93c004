// Coresets by Frank-Wolfe over the simplex (Clarkson 2010), in squared distances alone, D_ij = ||a_i - a_j||^2, so that
// any kernel will do and no origin matters. For x >= 0 with sum 1 over the exemplars, c = sum_t x_t a_t:
//
//   ||a_i - c||^2 = (D x)_i - 1/2 x^T D x
//
// problem = ball: the smallest ball that holds all points. Its dual is max_x 1/2 x^T D x, the square of its radius; a step
// adds the point with the largest entry of the gradient D x, which is the one farthest from c, and finds the best x over
// the exemplars so far (fully corrective). At every x
//
//   1/2 x^T D x  <=  radius^2 of the smallest ball  <=  max_i ||a_i - c||^2,
//
// and the difference is the gap of Frank-Wolfe. It ends when that is `tolerance` of the upper bound.
//
// problem = hull: points whose convex hull all others are near. A step adds the point that is farthest from the hull of
// those so far; its distance is min_x (D x)_i - 1/2 x^T D x, again by Frank-Wolfe, whose gap says how much less it may
// be. A hull that grows is only nearer: points whose distance was less before cannot be the farthest and are not
// looked at again until the others are no farther.
//
// Both small programs are solved by Frank-Wolfe with pairwise steps (simplex_program.hpp).
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/base/total.hpp"
#include "fwsr/methods/distances.hpp"
#include "fwsr/methods/point_count.hpp"
#include "fwsr/methods/simplex_program.hpp"
#include "fwsr/methods/ties.hpp"

namespace fwsr {

namespace {

/// Squared distances of the exemplars from all points, and from each other.
class Known {
 public:
  explicit Known(const Task& task)
      : distances_(task, "squared"), n_(task.size()), most_(task.exemplars) {}

  void add(Index point) {
    picks_.push_back(point);
    columns_.emplace_back(at(n_));
    distances_.column(point, columns_.back());
    columns_.back()[at(point)] = 0;
    chosen_.resize(at(n_));
    chosen_[at(point)] = true;
    const Index last = count() - 1;
    if (last == stride_) widen();
    for (Index t = 0; t <= last; ++t)
      own_[at(t * stride_ + last)] = own_[at(last * stride_ + t)] = square(t, point);
  }
  Index count() const { return static_cast<Index>(picks_.size()); }
  Index size() const { return n_; }
  double scale() const { return distances_.scale(); }
  const std::vector<Index>& picks() const { return picks_; }
  bool chosen(Index i) const { return chosen_[at(i)]; }
  /// D between exemplar t and point i.
  double square(Index t, Index i) const { return columns_[at(t)][at(i)]; }
  /// D between the exemplars.
  SquareDistances among() const { return {own_.data(), stride_}; }

 private:
  /// Room for twice as many exemplars.
  void widen() {
    const Index wide = std::min(most_, std::max<Index>(16, 2 * stride_));
    std::vector<double> own(at(wide * wide));
    for (Index t = 0; t < stride_; ++t) std::copy_n(among().row(t), stride_, own.data() + t * wide);
    own_ = std::move(own);
    stride_ = wide;
  }

  Distances distances_;
  Index n_, most_;
  std::vector<Index> picks_;
  std::vector<std::vector<double>> columns_;
  std::vector<double> own_;  // of these the rows of the exemplars, close to each other
  Index stride_ = 0;
  std::vector<bool> chosen_;
};

/// The point farthest from the first: a place to begin that is at the edge.
Index begin_at(const Task& task) {
  const Distances distances(task, "squared");
  std::vector<double> from(at(task.size()));
  distances.column(0, from);
  const Index far = first_largest(task.size(), [&](Index i) { return from[at(i)]; });
  return std::max<Index>(0, far);
}

// ---- The smallest ball ---------------------------------------------------------------------------

Picks choose_ball(const Task& task) {
  const double tolerance = task.settings.number("tolerance");
  Known known(task);
  known.add(begin_at(task));
  Combination centre{.x = {1.0}};
  std::vector<double> squares(at(task.size()));
  double farthest = 0, gap = 0;
  Picks picks;
  for (;;) {
    const std::vector<double> nothing(at(known.count()));
    centre = minimise_on_simplex(known.among(), nothing, std::move(centre.x),
                                 {.enough = 1e-13, .least = 0});
    const double within = -centre.value;  // 1/2 x^T D x
    for_blocks(task.threads, task.size(), [&](Index, Index first, Index last) {
      throw_if_cancelled(task.keep_going);
      for (Index i = first; i < last; ++i) {
        double sum = -within;
        for (Index t = 0; t < known.count(); ++t)
          if (centre.x[at(t)] > 0) sum += centre.x[at(t)] * known.square(t, i);
        squares[at(i)] = std::max(0.0, sum);
      }
    });
    farthest = *std::max_element(squares.begin(), squares.end());
    gap = std::max(0.0, farthest - within);
    picks.strength.push_back(std::sqrt(farthest * known.scale()));
    task.report(known.count());
    if (known.count() == task.exemplars || gap <= tolerance * farthest) break;
    const Index next = first_largest(  // a gap of 1e-13 leaves the centre half of the digits
        task.size(), [&](Index i) { return known.chosen(i) ? 0.0 : squares[at(i)]; }, rough_width);
    if (next < 0) break;
    known.add(next);
    centre.x.push_back(0);
  }
  picks.exemplars = known.picks();
  picks.importance = centre.x;
  if (known.count() < task.exemplars)
    picks.warnings.push_back(
        fmt::format("the smallest ball of {} holds all others to within the tolerance; a "
                    "smaller tolerance may give more",
                    point_count(known.count())));
  picks.facts = {{"radius", std::sqrt(farthest * known.scale())},
                 {"radius_bound", std::sqrt(std::max(0.0, farthest - gap) * known.scale())},
                 {"gap", gap * known.scale()}};
  return picks;
}

// ---- The hull ------------------------------------------------------------------------------------

class Hull {
 public:
  Hull(const Task& task, double tolerance)
      : task_(task),
        tolerance_(tolerance),
        width_(std::max(tie_width, 4 * tolerance)),
        known_(task),
        upper_(at(task.size()), std::numeric_limits<double>::infinity()) {}

  void add(Index point) {
    known_.add(point);
    double most = 0;  // rounding is relative to the squares of these
    for (Index i = 0; i < known_.size(); ++i) most = std::max(most, known_.square(0, i));
    rounding_ = 1e-13 * most;
  }
  const Known& known() const { return known_; }

  /// The squared distance of point i from the hull; less exact where it is below `futile`.
  Combination distance(Index i, double futile) const {
    const Index m = known_.count();
    std::vector<double> h(at(m)), x(at(m));
    for (Index t = 0; t < m; ++t) h[at(t)] = known_.square(t, i);
    x[at(std::min_element(h.begin(), h.end()) - h.begin())] = 1;
    Combination found =
        minimise_on_simplex(known_.among(), h, std::move(x),
                            {.enough = tolerance_, .least = rounding_, .futile = futile});
    found.value = std::max(0.0, found.value);
    return found;
  }
  /// What a gap may be beside the largest squared distance.
  double allowed(double largest) const { return std::max(tolerance_ * largest, rounding_); }

  /// The point that is farthest, of equal ones the first, and its squared distance; -1: all are in the hull. Distances
  /// from before are upper bounds: points are looked at from the largest down, some at a time, until all others are nearer.
  std::pair<Index, double> farthest() {
    const Index n = known_.size();
    std::vector<Index> order(at(n));
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](Index a, Index b) { return upper_[at(a)] > upper_[at(b)]; });
    double most = 0;
    for (Index first = 0; first < n;) {
      if (upper_[at(order[at(first)])] < most * (1 - width_)) break;
      const Index last = std::min(n, first + some);
      const double futile = most * (1 - 2 * width_);
      for_blocks(
          task_.threads, last - first,
          [&](Index, Index begin, Index end) {
            throw_if_cancelled(task_.keep_going);
            for (Index p = first + begin; p < first + end; ++p) {
              double& bound = upper_[at(order[at(p)])];
              bound = std::min(bound, distance(order[at(p)], futile).value);
            }
          },
          block);
      for (Index p = first; p < last; ++p) most = std::max(most, upper_[at(order[at(p)])]);
      first = last;
    }
    if (most <= 10 * rounding_) return {-1, most};
    const Index next = first_largest(
        n, [&](Index i) { return known_.chosen(i) ? 0.0 : upper_[at(i)]; }, width_);
    return {next, most};
  }

 private:
  static constexpr Index some = 2048, block = 64;
  const Task& task_;
  double tolerance_;
  double width_;  // distances that agree to this part are equal
  double rounding_ = 0;
  Known known_;
  std::vector<double> upper_;  // squared distances, as they were when last looked at
};

/// For all points how far they are, at most and at least, and how much they use of every exemplar.
void describe_hull(const Task& task, const Hull& hull, Picks& picks) {
  constexpr Index block = 256;
  const Index m = hull.known().count(), n = task.size();
  struct Part {
    std::vector<double> used;
    double most = 0, least = 0, gap = 0;
  };
  std::vector<double> gaps(at(n));
  std::vector<Part> parts(at(block_count(n, block)));
  for_blocks(
      task.threads, n,
      [&](Index b, Index first, Index last) {
        Part& part = parts[at(b)];
        part.used.resize(at(m));
        for (Index i = first; i < last; ++i) {
          throw_if_cancelled(task.keep_going);
          const Combination c = hull.distance(i, -1);
          for (Index t = 0; t < m; ++t) part.used[at(t)] += c.x[at(t)];
          part.most = std::max(part.most, c.value);
          part.least = std::max(part.least, c.value - c.gap);
          part.gap = std::max(part.gap, c.gap);
          gaps[at(i)] = c.gap;
        }
      },
      block);
  Part all{.used = std::vector<double>(at(m))};
  for (const Part& part : parts) {
    for (std::size_t t = 0; t < all.used.size(); ++t) all.used[t] += part.used[t];
    all.most = std::max(all.most, part.most);
    all.least = std::max(all.least, part.least);
    all.gap = std::max(all.gap, part.gap);
  }
  const double scale = hull.known().scale();
  const double allowed = hull.allowed(all.most) * (1 + 1e-9);
  const Index open = std::count_if(gaps.begin(), gaps.end(), [&](double g) { return g > allowed; });
  if (open > 0)
    picks.warnings.push_back(
        fmt::format("how far {} from the hull is known only to within the gap, not to the "
                    "tolerance: {} steps were not enough; the order of such points may be another",
                    point_count(open) + (open == 1 ? " is" : " are"), most_simplex_steps));
  picks.importance = std::move(all.used);
  picks.facts = {{"radius", std::sqrt(all.most * scale)},
                 {"radius_bound", std::sqrt(all.least * scale)},
                 {"gap", all.gap * scale}};
}

Picks choose_hull(const Task& task) {
  Hull hull(task, task.settings.number("tolerance"));
  hull.add(begin_at(task));
  Picks picks;
  for (;;) {
    const auto [next, square] = hull.farthest();
    picks.strength.push_back(std::sqrt(square * hull.known().scale()));
    task.report(hull.known().count());
    if (hull.known().count() == task.exemplars || next < 0) break;
    hull.add(next);
  }
  picks.exemplars = hull.known().picks();
  if (hull.known().count() < task.exemplars)
    picks.warnings.push_back(
        fmt::format("all points are in the hull of {} of them", hull.known().count()));
  describe_hull(task, hull, picks);
  return picks;
}

Picks choose(const Task& task) {
  return task.settings.word("problem") == "ball" ? choose_ball(task) : choose_hull(task);
}

Cost cost(const Sizes& s, const Settings& settings) {
  const bool ball = settings.word("problem") == "ball";
  // Of the hull, per point and exemplar: as measured, the part with `in_use` is that of the best over those in use.
  const double in_use = std::min(s.k, s.linear ? s.d + 1 : s.k);
  const double small =
      ball ? s.k * s.k * s.k * 2000 : s.n * s.k * s.k * (600 + in_use * in_use / 2);
  return {.bytes = 8 * s.n * (s.k + (ball ? 3 : 5)) + 10 * s.k * s.k,
          .flops = 60 * s.k * s.entries + s.n * s.k * s.k * 20 + small,
          .how =
              "holds the distances of all points from the exemplars; a step takes one pass over "
              "the points and a small program"};
}

}  // namespace

Method fw_coreset_method() {
  return {.name = "fw-coreset",
          .title = "Frank-Wolfe coreset",
          .about =
              "points whose smallest ball holds all others, or whose convex hull is near them, "
              "with the gap (Clarkson 2010)",
          .parameters = {{.name = "problem",
                          .value = std::string("hull"),
                          .about = "ball: of the smallest ball that holds all points; hull: a "
                                   "convex hull that all points are near",
                          .words = {"ball", "hull"}},
                         {.name = "tolerance",
                          .value = 1e-6,
                          .about = "ball: ends when the gap is this part of the squared radius; "
                                   "hull: how exact squared distances are, relatively",
                          .least = 1e-10,
                          .most = 1}},
          .any_kernel = true,
          .cost = cost,
          .choose = choose};
}

}  // namespace fwsr
