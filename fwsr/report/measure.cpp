#include "fwsr/report/measure.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include "fwsr/base/at.hpp"
#include "fwsr/base/random.hpp"
#include "fwsr/kernel/formula.hpp"
#include "fwsr/kernel/kernel_matrix.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/prep/frame.hpp"
#include "fwsr/report/groups.hpp"
#include "fwsr/report/sample.hpp"
#include "fwsr/report/triangle.hpp"
#include "fwsr/solver/nearest_exemplar.hpp"
#include "fwsr/solver/prepared_problem.hpp"

namespace fwsr::report {

namespace {

constexpr Index rows_at_once = 256;

/// The kernel of a run: all points of it, by their place among them.
struct Space {
  std::unique_ptr<Points> points;
  std::unique_ptr<KernelMatrix> kernel;

  Space(const PointsView& view, const Run& run, int threads, const KeepGoing& keep_going) {
    SelectOptions o = run.options;
    const Plan& plan = run.selection->plan;
    if (plan.points > 0) o.kernel.type = plan.kernel;
    if (run.selection->gamma > 0) o.kernel.gamma = run.selection->gamma;
    o.eta = 0;
    if (o.kernel.type == KernelType::precomputed) {
      kernel = make_given_kernel(view, run.members, 0, false, threads);
      return;
    }
    points = std::make_unique<Points>(view, run.members, preprocessing_of(o), threads);
    kernel = make_tiled_kernel(*points, kernel_of(o, *points, threads),
                               {.threads = threads, .keep_going = keep_going});
  }
};

/// Sums over some points.
struct Explained {
  std::vector<double> by_each;  // beyond those before it
  double all = 0;               // squared norms

  void add(const Explained& other) {
    by_each.resize(std::max(by_each.size(), other.by_each.size()));
    for (std::size_t t = 0; t < other.by_each.size(); ++t) by_each[t] += other.by_each[t];
    all += other.all;
  }
};

/// Points by some exemplars, a block at a time.
class ByExemplars {
 public:
  ByExemplars(const KernelMatrix& kernel, std::vector<Index> exemplars)
      : kernel_(kernel),
        exemplars_(std::move(exemplars)),
        k_(std::ssize(exemplars_)),
        inverse_(inverse_triangle(kernel.values(exemplars_, exemplars_, Eta::left_out), k_)) {}

  /// visit(place in `rows`, values K_it, what is left of the squared norm, the squared norm), and the sums.
  template <class Visit>
  Explained look_at(std::span<const Index> rows, std::span<const double> weights,
                    Visit&& visit) const {
    const Index count = std::ssize(rows);
    Explained sums{.by_each = std::vector<double>(at(k_))};
    const std::vector<double> values = kernel_.values(rows, exemplars_, Eta::left_out);
    std::vector<double> solved(at(count * k_));
    if (k_ > 0 && count > 0)
      multiply(Product<double>{.op_b = Op::transpose,
                               .m = count,
                               .n = k_,
                               .k = k_,
                               .left = values.data(),
                               .right = inverse_.data(),
                               .out = solved.data()});
    for (Index r = 0; r < count; ++r) {
      const Index i = rows[at(r)];
      const double square = kernel_.diagonal(i, Eta::left_out);
      const double weight = weights.empty() ? 1 : weights[at(i)];
      double rest = square;
      for (Index t = 0; t < k_; ++t) {
        const double u = solved[at(r * k_ + t)];
        const double own = std::min(u * u, std::max(0.0, rest));  // no more than there is
        rest -= own;
        sums.by_each[at(t)] += weight * own;
      }
      sums.all += weight * square;
      visit(r, values.data() + r * k_, std::max(0.0, rest), square);
    }
    return sums;
  }

 private:
  const KernelMatrix& kernel_;
  std::vector<Index> exemplars_;
  Index k_;
  std::vector<double> inverse_;  // of Cholesky's factor of the kernel among the exemplars
};

/// Where points stand among the members.
std::vector<Index> places_of(const std::vector<Index>& points, std::span<const Index> members) {
  if (members.empty()) return points;
  std::vector<Index> places;
  for (const Index i : points)
    places.push_back(std::lower_bound(members.begin(), members.end(), i) - members.begin());
  return places;
}

/// The points of a run that lose most, by their place among its members.
std::vector<Index> worst_of(const Measured& out, std::span<const Index> members) {
  std::vector<Index> all;
  for (const std::vector<float>* values : {&out.left, &out.amount}) {
    std::vector<float> own;
    for (const Index i : members) own.push_back((*values)[at(i)]);
    const std::vector<Index> some = largest(members.empty() ? *values : own, most_worst_points);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

/// Everything about the points of one run; `first`: exemplars of runs before it.
Explained measure_run(const Space& space, const Run& run, Index first,
                      std::span<const double> weights, int threads, const KeepGoing& keep_going,
                      Measured& out) {
  const KernelMatrix& kernel = *space.kernel;
  const Selection& s = *run.selection;
  const Index n = kernel.size();
  const std::vector<Index> exemplars = places_of(s.exemplars, run.members);
  const double mean = std::max(square_of(kernel.rms_norm()), 1e-300);
  const ByExemplars by(kernel, exemplars);
  const NearestExemplar nearest(kernel, exemplars);
  std::vector<double> squares;
  for (const Index t : exemplars) squares.push_back(kernel.diagonal(t, Eta::left_out));
  std::vector<Explained> sums(at(block_count(n, rows_at_once)));
  out.prefixes.begin_run(first, std::ssize(exemplars));
  for_blocks(
      threads, n,
      [&](Index block, Index begin, Index end) {
        throw_if_cancelled(keep_going);
        const std::vector<Index> rows = index_range(begin, end);
        sums[at(block)] = by.look_at(
            rows, weights, [&](Index r, const double* values, double left, double square) {
              const Index i = begin + r, point = run.members.empty() ? i : run.members[at(i)];
              out.left[at(point)] = static_cast<float>(square > 0 ? left / square : 0);
              out.amount[at(point)] = static_cast<float>(left / mean);
              if (exemplars.empty()) return;
              const Index to = s.assignment.empty() ? nearest.of(i, values) : s.assignment[at(i)];
              if (to < 0) return;
              const double apart = square - 2 * values[to] + squares[at(to)];
              out.prefixes.add(point, values, squares.data(), to,
                               weights.empty() ? 1 : weights[at(i)]);
              out.group[at(point)] = static_cast<std::int32_t>(first + to);
              out.distance[at(point)] =
                  exemplars[at(to)] == i
                      ? 0.0F
                      : static_cast<float>(std::sqrt(std::max(0.0, apart / mean)));
            });
      },
      rows_at_once);
  for (const Index i : worst_of(out, run.members)) {
    const Index point = run.members.empty() ? i : run.members[at(i)];
    const std::vector<double> values = kernel.values(std::vector{i}, exemplars, Eta::left_out);
    if (out.group[at(point)] >= 0)
      out.prefixes.keep(point, values.data(), squares.data(), out.group[at(point)] - first);
  }
  out.prefixes.end_run();
  Explained all;
  for (const Explained& one : sums) all.add(one);
  return all;
}

/// As many points at random, over and over.
std::vector<Explained> draw_and_measure(const Space& space, Index exemplars, std::uint64_t key,
                                        std::span<const double> weights, int threads) {
  const Index n = space.kernel->size();
  const std::vector<Index> rows = evenly_spaced(n, random_points);
  std::vector<Explained> draws(at(random_draws));
  for_tasks(threads, random_draws, [&](Index draw) {
    Rng rng = Rng(0x5eed).split(key * at(random_draws) + at(draw));
    const ByExemplars by(*space.kernel, sample_without_replacement(n, exemplars, rng));
    for (std::size_t begin = 0; begin < rows.size(); begin += at(rows_at_once)) {
      const std::size_t count = std::min(at(rows_at_once), rows.size() - begin);
      draws[at(draw)].add(by.look_at(std::span(rows).subspan(begin, count), weights,
                                     [](Index, const double*, double, double) {}));
    }
  });
  return draws;
}

/// What the first 1, 2, ... leave of all.
std::vector<double> errors_of(const Explained& sums) {
  std::vector<double> errors;
  double rest = sums.all;
  for (const double own : sums.by_each) {
    rest -= own;
    errors.push_back(sums.all > 0 ? std::max(0.0, rest / sums.all) : 0);
  }
  return errors;
}

/// The groups of a matrix of dissimilarities.
void look_up(const PointsView& view, const Run& run, Measured& out) {
  const Selection& s = *run.selection;
  std::vector<double> row(at(cols_of(view)));
  for (Index i = 0; i < rows_of(view) && !s.exemplars.empty(); ++i) {
    load_in_frame({}, view, i, i + 1, row.data());
    const auto to = [&] {
      if (!s.assignment.empty()) return s.assignment[at(i)];
      Index best = 0;
      for (Index t = 1; t < std::ssize(s.exemplars); ++t)
        if (row[at(s.exemplars[at(t)])] < row[at(s.exemplars[at(best)])]) best = t;
      return best;
    }();
    if (to < 0) continue;
    out.group[at(i)] = static_cast<std::int32_t>(to);
    out.distance[at(i)] = static_cast<float>(row[at(s.exemplars[at(to)])]);
  }
}

}  // namespace

Measured measure(const PointsView& points, const std::vector<Run>& runs,
                 std::span<const double> weights, int threads, const KeepGoing& keep_going) {
  Measured out;
  const std::size_t n = at(rows_of(points));
  out.group.assign(n, -1);
  out.distance.assign(n, 0.0F);
  const bool spanned = !runs.empty() && !runs.front().dissimilarities;
  if (!spanned) {
    for (const Run& run : runs) look_up(points, run, out);
    return out;
  }
  std::vector<Index> followed = evenly_spaced(static_cast<Index>(n), most_points_in_map);
  for (const Run& run : runs)
    followed.insert(followed.end(), run.selection->exemplars.begin(),
                    run.selection->exemplars.end());
  std::sort(followed.begin(), followed.end());
  followed.erase(std::unique(followed.begin(), followed.end()), followed.end());
  out.prefixes = PrefixGroups(
      std::move(followed), weights.empty() ? static_cast<double>(n)
                                           : std::accumulate(weights.begin(), weights.end(), 0.0));
  out.left.assign(n, 1.0F);
  out.amount.assign(n, 0.0F);
  Explained chosen;
  std::vector<Explained> drawn(at(random_draws));
  Index first = 0;
  std::uint64_t key = 0;
  for (const Run& run : runs) {
    const Space space(points, run, threads, keep_going);
    std::vector<double> own;
    for (const Index i : run.members)
      if (!weights.empty()) own.push_back(weights[at(i)]);
    const std::span<const double> counted =
        run.members.empty() ? weights : std::span<const double>(own);
    const Index k = std::ssize(run.selection->exemplars);
    chosen.add(measure_run(space, run, first, counted, threads, keep_going, out));
    const std::vector<Explained> draws = draw_and_measure(space, k, key++, counted, threads);
    for (std::size_t d = 0; d < draws.size(); ++d) drawn[d].add(draws[d]);
    first += k;
  }
  out.error = errors_of(chosen);
  out.random.assign(out.error.size(), 0.0);
  for (const Explained& draw : drawn) {
    const std::vector<double> errors = errors_of(draw);
    for (std::size_t t = 0; t < errors.size(); ++t)
      out.random[t] += errors[t] / static_cast<double>(random_draws);
  }
  return out;
}

}  // namespace fwsr::report
