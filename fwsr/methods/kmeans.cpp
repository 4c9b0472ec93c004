// k-means, then the nearest point to each centre:
//
//   minimise over centres c_1 .. c_k    sum_i min_t ||a_i - c_t||^2       (the inertia)
//
// by Lloyd's iteration (1982) from greedy k-means++ (Arthur and Vassilvitskii 2007): every further centre
// is the best of 2 + log k points drawn as likely as their squared distance from the centres so far.
// It ends when no point changes its cluster, or the centres move by less than `tolerance` times the mean variance of a
// feature (the sum of squares). The exemplars come from the largest cluster to the smallest, of equal ones the
// smaller index; where two centres have the same nearest point, the later takes the nearest that is left.
//
// Distances are products of blocks of points, less their mean, with the centres; in float32 when the points are. Where
// rounding may be most of a distance, or decide which centre is nearest, it is computed from the differences, in double.
// What is told at the end (inertia, nearest points) is computed in double.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <type_traits>

#include "fwsr/base/random.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/pass.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/methods/draw.hpp"
#include "fwsr/methods/task.hpp"
#include "fwsr/methods/ties.hpp"

namespace fwsr {

namespace {

constexpr Index points_at_once = 256;
/// Every chunk of points adds up sums of its own. Part of the answer.
constexpr Index most_chunks = 64;
constexpr Index least_chunk = 4 * points_at_once;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

Index trials_for(double k) {
  return 2 + static_cast<Index>(std::log(k));
}

/// The points less their mean, in blocks.
class Moved {
 public:
  explicit Moved(const Task& task)
      : points_(*task.points), task_(task), mean_(points_.combine(ones(), task.threads)) {
    mean_.resize(at(padded_length(dim())));
    for (double& m : mean_) m /= static_cast<double>(size());
  }
  Index size() const { return points_.size(); }
  Index dim() const { return points_.dim(); }
  const Task& task() const { return task_; }

  void load(Index first, Index last, float* out) const { points_.rows(first, last, mean_, out); }
  void load(Index first, Index last, double* out) const {
    points_.rows(first, last, out);
    for (Index i = first; i < last; ++i) move(out + (i - first) * dim());
  }
  void load(Index i, double* out) const {
    points_.row(i, out);
    move(out);
  }

  /// Calls use(chunk, first, last, rows) for blocks of all points; those of a chunk in order, chunks in
  /// parallel.
  template <class T, class Use>
  void visit(const Use& use) const {
    const Index chunk = chunk_size();
    for_tasks(task_.threads, chunks(), [&](Index c) {
      std::vector<T> rows(at(points_at_once * dim()));
      const Index end = std::min(size(), (c + 1) * chunk);
      for (Index first = c * chunk; first < end; first += points_at_once) {
        stop_unless(task_.alive);
        const Index last = std::min(end, first + points_at_once);
        load(first, last, rows.data());
        use(c, first, last, rows.data());
      }
    });
  }
  Index chunks() const { return block_count(size(), chunk_size()); }

 private:
  std::vector<double> ones() const { return std::vector<double>(at(size()), 1.0); }
  Index chunk_size() const { return std::max(least_chunk, block_count(size(), most_chunks)); }
  void move(double* row) const {
    for (Index l = 0; l < dim(); ++l) row[l] -= mean_[at(l)];
  }

  const Points& points_;
  const Task& task_;
  std::vector<double> mean_;
};

/// Some centres, ready for products with points.
template <class T>
struct Centres {
  Index count = 0;
  std::vector<T> rows;        // count x dim
  std::vector<double> norms;  // squared

  Centres(const std::vector<double>& from, Index number, Index dim)
      : count(number), rows(from.begin(), from.end()), norms(at(number)) {
    for (Index t = 0; t < number; ++t)
      norms[at(t)] = dot(from.data() + t * dim, from.data() + t * dim, dim);
  }
  /// out (points x count) = <row, centre>.
  void multiply_with(const T* points, Index number, Index dim, T* out) const {
    multiply(Product<T>{.op_b = Op::transpose,
                        .m = number,
                        .n = count,
                        .k = dim,
                        .left = points,
                        .left_stride = dim,
                        .right = rows.data(),
                        .right_stride = dim,
                        .out = out,
                        .out_stride = count});
  }
};

template <class T>
class Lloyd {
 public:
  explicit Lloyd(const Moved& points)
      : points_(points),
        n_(points.size()),
        d_(points.dim()),
        norms_(at(n_)),
        labels_(at(n_)),
        squares_(at(n_)) {
    points_.visit<T>([&](Index, Index first, Index last, const T* rows) {
      std::vector<double> wide(at(d_));
      for (Index i = first; i < last; ++i) {
        std::copy(rows + (i - first) * d_, rows + (i - first + 1) * d_, wide.begin());
        norms_[at(i)] = dot(wide.data(), wide.data(), d_);
      }
    });
    total_ = std::accumulate(norms_.begin(), norms_.end(), 0.0);
  }

  struct Clusters {
    std::vector<double> centres;  // count x dim
    std::vector<Index> sizes = {};
    double inertia = 0;
    Index iterations = 0;
    bool converged = false;
  };

  Clusters run(Rng& rng) {
    const Task& task = points_.task();
    Clusters found{.centres = first_centres(rng)};
    const Index most = task.settings.whole("max_iterations");
    const double still = task.settings.number("tolerance") * total_ /
                         (static_cast<double>(n_) * static_cast<double>(d_));
    std::vector<Index> before;
    bool settled = false;  // labels belong to the centres
    while (!found.converged && found.iterations < most) {
      ++found.iterations;
      before = labels_;
      Sums sums = assign(found.centres);
      settled = found.iterations > 1 && labels_ == before;
      std::vector<double> moved = means(std::move(sums));
      const double shift =
          squared_distance(moved.data(), found.centres.data(), static_cast<Index>(moved.size()));
      found.converged = settled || shift <= still;
      if (!settled) found.centres = std::move(moved);
    }
    if (!settled) assign(found.centres);
    found.sizes.assign(found.centres.size() / at(d_), 0);
    for (const Index t : labels_) ++found.sizes[at(t)];
    found.inertia = inertia(found.centres);
    return found;
  }

 private:
  /// What each cluster adds up to.
  struct Sums {
    std::vector<double> rows;  // count x dim
    std::vector<Index> sizes;
  };

  /// How wrong ||a||^2 + ||c||^2 - 2 <a, c> may be, in parts of the norms.
  static constexpr double width = sizeof(T) == 4 ? rough_width : sum_width;
  static constexpr double noise = 8 * static_cast<double>(std::numeric_limits<T>::epsilon());

  /// ||a - c||^2 from the differences.
  template <class C>
  double exact_square(const T* a, const C* c) const {
    double sum = 0;
    for (Index l = 0; l < d_; ++l) {
      const double gap = static_cast<double>(a[l]) - static_cast<double>(c[l]);
      sum += gap * gap;
    }
    return sum;
  }

  // ---- Greedy k-means++ ----

  /// Fewer than k when all points are copies of those.
  std::vector<double> first_centres(Rng& rng) {
    const Task& task = points_.task();
    const Index trials = trials_for(static_cast<double>(task.exemplars));
    std::vector<Index> draws{static_cast<Index>(rng.below(at(n_)))};
    std::vector<double> near(at(n_), std::numeric_limits<double>::infinity()), centres;
    for (Index t = 0; t < task.exemplars; ++t) {
      if (t > 0) {
        const Lottery lottery(near);
        if (!(lottery.total() > 0)) break;
        draws.clear();
        for (Index r = 0; r < trials; ++r) draws.push_back(lottery.draw(rng));
      }
      const std::vector<double> best = add_best(draws, near);
      centres.insert(centres.end(), best.begin(), best.end());
    }
    return centres;
  }

  /// The draw that leaves the least sum of squared distances from the centres, of equal ones the first;
  /// `near` are those distances.
  std::vector<double> add_best(const std::vector<Index>& draws, std::vector<double>& near) const {
    const auto count = static_cast<Index>(draws.size());
    std::vector<double> rows(at(count * d_));
    std::vector<T> row(at(d_));  // as in the blocks, so that copies are at distance 0
    for (Index r = 0; r < count; ++r) {
      points_.load(draws[at(r)], draws[at(r)] + 1, row.data());
      std::copy(row.begin(), row.end(), rows.begin() + r * d_);
    }
    const Centres<T> drawn(rows, count, d_);
    std::vector<T> nearer(at(n_ * count));
    std::vector<double> partial(at(points_.chunks() * count));
    points_.visit<T>([&](Index chunk, Index first, Index last, const T* block) {
      T* const products = nearer.data() + first * count;
      drawn.multiply_with(block, last - first, d_, products);
      for (Index i = first; i < last; ++i)
        for (Index r = 0; r < count; ++r) {
          T& p = products[(i - first) * count + r];
          const double terms = norms_[at(i)] + drawn.norms[at(r)];
          double square = terms - 2 * static_cast<double>(p);
          if (!(square > noise * terms))
            square = exact_square(block + (i - first) * d_, drawn.rows.data() + r * d_);
          p = static_cast<T>(std::min(near[at(i)], square));
          partial[at(chunk * count + r)] += static_cast<double>(p);
        }
    });
    std::vector<double> sums(at(count));
    for (std::size_t p = 0; p < partial.size(); ++p) sums[p % at(count)] += partial[p];
    const Index best = first_least(sums, width * *std::min_element(sums.begin(), sums.end()));
    for (Index i = 0; i < n_; ++i) near[at(i)] = static_cast<double>(nearer[at(i * count + best)]);
    near[at(draws[at(best)])] = 0;
    return {rows.begin() + best * d_, rows.begin() + (best + 1) * d_};
  }

  // ---- Lloyd's iteration ----

  /// Every point to its nearest centre, of equal ones the first; the sums of the clusters.
  Sums assign(const std::vector<double>& from) {
    const Index k = static_cast<Index>(from.size()) / d_;
    const Centres<T> centres(from, k, d_);
    std::vector<Sums> parts(at(points_.chunks()));
    points_.visit<T>([&](Index chunk, Index first, Index last, const T* rows) {
      Sums& part = parts[at(chunk)];
      part.rows.resize(from.size());
      part.sizes.resize(at(k));
      std::vector<T> products(at((last - first) * k));
      centres.multiply_with(rows, last - first, d_, products.data());
      for (Index i = first; i < last; ++i) {
        const T* const row = rows + (i - first) * d_;
        label(i, row, from, centres, products.data() + (i - first) * k);
        const Index t = labels_[at(i)];
        double* const sum = part.rows.data() + t * d_;
        for (Index l = 0; l < d_; ++l) sum[l] += static_cast<double>(row[l]);
        ++part.sizes[at(t)];
      }
    });
    Sums all = std::move(parts[0]);
    for (std::size_t c = 1; c < parts.size(); ++c) {
      for (std::size_t e = 0; e < all.rows.size(); ++e) all.rows[e] += parts[c].rows[e];
      for (std::size_t t = 0; t < all.sizes.size(); ++t) all.sizes[t] += parts[c].sizes[t];
    }
    return all;
  }

  void label(Index i, const T* row, const std::vector<double>& from, const Centres<T>& centres,
             const T* products) {
    double least = std::numeric_limits<double>::infinity(), second = least;
    Index nearest = 0;
    for (Index t = 0; t < centres.count; ++t) {  // ||a - c||^2 less ||a||^2
      const double far = centres.norms[at(t)] - 2 * static_cast<double>(products[t]);
      second = std::min(second, std::max(far, least));
      if (far < least) least = far, nearest = t;
    }
    labels_[at(i)] = nearest;
    squares_[at(i)] = norms_[at(i)] + least;
    const double doubt = 2 * noise * (norms_[at(i)] + centres.norms[at(nearest)]);
    if (squares_[at(i)] > doubt && second > least + doubt) return;
    squares_[at(i)] = std::numeric_limits<double>::infinity();
    for (Index t = 0; t < centres.count; ++t) {
      if (centres.norms[at(t)] - 2 * static_cast<double>(products[t]) > least + doubt) continue;
      const double square = exact_square(row, from.data() + t * d_);
      if (square < squares_[at(i)] * (1 - width)) squares_[at(i)] = square, labels_[at(i)] = t;
    }
  }

  /// The means of the clusters. An empty one gets the point farthest from its centre, which leaves its
  /// own cluster.
  std::vector<double> means(Sums sums) const {
    const std::size_t k = sums.sizes.size();
    std::vector<Index> empty;
    for (std::size_t t = 0; t < k; ++t)
      if (sums.sizes[t] == 0) empty.push_back(static_cast<Index>(t));
    const std::vector<Index> farthest = farthest_points(empty.size());
    std::vector<double> row(at(d_));
    for (std::size_t e = 0; e < farthest.size(); ++e) {
      const Index from = labels_[at(farthest[e])], to = empty[e];
      if (sums.sizes[at(from)] == 1) continue;
      points_.load(farthest[e], row.data());
      for (Index l = 0; l < d_; ++l) {
        sums.rows[at(from * d_ + l)] -= row[at(l)];
        sums.rows[at(to * d_ + l)] = row[at(l)];
      }
      --sums.sizes[at(from)], ++sums.sizes[at(to)];
    }
    for (std::size_t t = 0; t < k; ++t)
      for (std::size_t l = 0; l < at(d_); ++l)
        sums.rows[t * at(d_) + l] /= static_cast<double>(std::max<Index>(1, sums.sizes[t]));
    return std::move(sums.rows);
  }

  /// From the farthest down, of equal ones the smaller index first.
  std::vector<Index> farthest_points(std::size_t count) const {
    if (count == 0) return {};
    std::vector<Index> order(at(n_));
    std::iota(order.begin(), order.end(), Index{0});
    std::partial_sort(order.begin(), order.begin() + static_cast<Index>(count), order.end(),
                      [&](Index a, Index b) {
                        const double x = squares_[at(a)], y = squares_[at(b)];
                        return x != y ? x > y : a < b;
                      });
    order.resize(count);
    return order;
  }

  double inertia(const std::vector<double>& centres) const {
    std::vector<double> partial(at(points_.chunks()));
    points_.visit<double>([&](Index chunk, Index first, Index last, const double* rows) {
      for (Index i = first; i < last; ++i)
        partial[at(chunk)] +=
            squared_distance(rows + (i - first) * d_, centres.data() + labels_[at(i)] * d_, d_);
    });
    return std::accumulate(partial.begin(), partial.end(), 0.0);
  }

  const Moved& points_;
  Index n_, d_;
  std::vector<double> norms_;  // ||a_i||^2
  double total_ = 0;           // their sum
  std::vector<Index> labels_;
  std::vector<double> squares_;  // of the distances from the centres
};

// ---- The nearest points ----

struct Nearest {
  double square = std::numeric_limits<double>::infinity();
  Index point = -1;
};

/// Whether a squared distance is less than another by more than the rounding of a centre makes of it: the
/// two points of a small cluster are equally far from its centre.
bool clearly_less(double square, double than, double squared_norms, double epsilon) {
  return square + 8 * epsilon * std::sqrt(square * squared_norms) < than;
}

/// For each of some centres, which carry a rounding of `epsilon`, the nearest point that is not taken, of
/// equal ones the first. Products find the few points for which the distance is computed from the differences.
std::vector<Nearest> nearest_points(const Moved& points, const std::vector<double>& from,
                                    const std::vector<bool>& taken, double epsilon) {
  const Index d = points.dim(), k = static_cast<Index>(from.size()) / d;
  const Centres<double> centres(from, k, d);
  std::vector<std::vector<Nearest>> parts(at(points.chunks()), std::vector<Nearest>(at(k)));
  points.visit<double>([&](Index chunk, Index first, Index last, const double* rows) {
    std::vector<double> products(at((last - first) * k));
    centres.multiply_with(rows, last - first, d, products.data());
    for (Index i = first; i < last; ++i) {
      if (taken[at(i)]) continue;
      const double* const row = rows + (i - first) * d;
      const double norm = dot(row, row, d);
      for (Index t = 0; t < k; ++t) {
        Nearest& best = parts[at(chunk)][at(t)];
        const double terms = norm + centres.norms[at(t)];
        const double about = terms - 2 * products[at((i - first) * k + t)];
        if (about > best.square + 1e-12 * terms) continue;
        const double exact = squared_distance(row, from.data() + t * d, d);
        if (clearly_less(exact, best.square, terms, epsilon)) best = {exact, i};
      }
    }
  });
  std::vector<Nearest> all = std::move(parts[0]);
  for (std::size_t c = 1; c < parts.size(); ++c)
    for (std::size_t t = 0; t < at(k); ++t)
      if (clearly_less(parts[c][t].square, all[t].square, 2 * centres.norms[t], epsilon))
        all[t] = parts[c][t];
  return all;
}

/// A point of its own for each centre, those of large clusters first.
std::vector<Index> points_near(const Moved& points, const std::vector<double>& centres,
                               const std::vector<Index>& sizes, double epsilon) {
  const Index d = points.dim();
  std::vector<bool> taken(at(points.size()));
  std::vector<Index> found(sizes.size(), -1), open;
  for (std::size_t t = 0; t < sizes.size(); ++t)
    if (sizes[t] > 0) open.push_back(static_cast<Index>(t));
  std::vector<Index> order = open;
  while (!open.empty()) {
    std::vector<double> rows;
    for (const Index t : open)
      rows.insert(rows.end(), centres.begin() + t * d, centres.begin() + (t + 1) * d);
    const std::vector<Nearest> nearest = nearest_points(points, rows, taken, epsilon);
    std::vector<std::size_t> turns(open.size());
    std::iota(turns.begin(), turns.end(), std::size_t{0});
    std::stable_sort(turns.begin(), turns.end(), [&](std::size_t a, std::size_t b) {
      return sizes[at(open[a])] > sizes[at(open[b])];
    });
    std::vector<Index> left;
    for (const std::size_t turn : turns) {
      const Index p = nearest[turn].point;
      if (p < 0)
        throw Error(
            "distances between these points are no numbers; multiply the points by a constant");
      if (taken[at(p)]) {
        left.push_back(open[turn]);
        continue;
      }
      taken[at(p)] = true;
      found[at(open[turn])] = p;
    }
    open = std::move(left);
  }
  std::sort(order.begin(), order.end(), [&](Index a, Index b) {
    return sizes[at(a)] != sizes[at(b)] ? sizes[at(a)] > sizes[at(b)] : found[at(a)] < found[at(b)];
  });
  std::vector<Index> exemplars;
  for (const Index t : order) exemplars.push_back(found[at(t)]);
  return exemplars;
}

template <class T>
Picks choose_in(const Task& task) {
  using Clusters = typename Lloyd<T>::Clusters;
  const Moved points(task);
  Lloyd<T> lloyd(points);
  Rng rng(task.seed);
  std::optional<Clusters> best;
  for (Index r = 0; r < task.settings.whole("restarts"); ++r) {
    Rng own = rng.split(static_cast<std::uint64_t>(r));
    Clusters found = lloyd.run(own);
    if (!best || found.inertia < best->inertia * (1 - sum_width)) best = std::move(found);
  }
  constexpr auto epsilon = static_cast<double>(std::numeric_limits<T>::epsilon());
  Picks picks{.exemplars = points_near(points, best->centres, best->sizes, epsilon)};
  if (!best->converged) picks.status = Status::iteration_limit;
  picks.facts = {{"inertia", best->inertia / task.unit() / task.unit()},
                 {"iterations", static_cast<double>(best->iterations)}};
  return picks;
}

Picks choose(const Task& task) {
  return task.points->single() ? choose_in<float>(task) : choose_in<double>(task);
}

Cost cost(const Sizes& s, const Settings& settings) {
  const double trials = static_cast<double>(trials_for(s.k));
  const double chunks =
      std::min(static_cast<double>(most_chunks), std::ceil(s.n / static_cast<double>(least_chunk)));
  const double rounds = static_cast<double>(settings.whole("restarts"));
  const double iterations = std::min(40.0, static_cast<double>(settings.whole("max_iterations")));
  return {.bytes = s.n * (5 * 8 + s.number * trials) + 8 * s.k * s.d * (chunks + 4) +
                   8 * s.crew(points_at_once) * s.held(points_at_once) * (s.d + s.k),
          .flops =
              rounds * s.n * (s.d + 4) * (2 * s.k * trials + iterations * (2 * s.k + 8) + 4 * s.k) +
              2 * s.n * s.d * s.k,
          .how =
              "passes over all points, k for the first centres and one an iteration; holds sums of "
              "every cluster"};
}

}  // namespace

Method kmeans_method() {
  return {.name = "kmeans",
          .title = "k-means, nearest points",
          .about =
              "the point nearest to each centre of k-means from greedy k-means++ (Arthur and "
              "Vassilvitskii 2007)",
          .knobs = {{.name = "restarts",
                     .value = Index{1},
                     .about = "the best of so many runs is taken",
                     .least = 1,
                     .most = 1e6},
                    {.name = "max_iterations",
                     .value = Index{300},
                     .about = "of Lloyd's algorithm, at most",
                     .least = 1,
                     .most = 1e9},
                    {.name = "tolerance",
                     .value = 1e-4,
                     .about = "ends when the centres move by less, in variances of a feature",
                     .least = 0}},
          .random = true,
          .cost = cost,
          .choose = choose};
}

}  // namespace fwsr
