// The points as k-means meets them: a source of blocks of points with their products with some centres. Two kinds,
// with the same members, that Lloyd (kmeans_lloyd.hpp) and points_near (kmeans_nearest.hpp) are written for:
//
//   DenseSource<T>   rows less the mean of all, multiplied by BLAS in T
//   SparseSource     stored numbers only, multiplied with centres that are laid out by feature; in double
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/pass.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/methods/task.hpp"
#include "fwsr/methods/ties.hpp"

namespace fwsr::kmeans {

inline constexpr Index points_at_once = 256;
/// Every chunk of points adds up sums of its own. Part of the answer.
inline constexpr Index most_chunks = 64;
inline constexpr Index least_chunk = 4 * points_at_once;

/// What each cluster adds up to.
struct Sums {
  std::vector<double> rows;  // count x dim, every point times its weight
  std::vector<Index> sizes;  // of points that have a weight
  std::vector<double> mass;  // what these weigh
};

/// Chunks of neighbouring points, the same for any number of threads.
class Chunks {
 public:
  Chunks(Index n, const Task& task) : n_(n), task_(task) {}
  Index size() const { return n_; }
  const Task& task() const { return task_; }
  Index count() const { return block_count(n_, length()); }
  double weight(Index i) const { return task_.terms.weight(i); }
  double weight_of_all() const { return task_.terms.weight_of_all(n_); }
  std::vector<double> weights() const {
    return task_.terms.weighted() ? task_.terms.weights : std::vector<double>(at(n_), 1.0);
  }

  /// Calls use(chunk, first, last) for blocks of all points; those of a chunk in order, chunks in parallel, each with
  /// what begin() gives it.
  template <class Begin, class Use>
  void visit(const Begin& begin, const Use& use) const {
    for_tasks(task_.threads, count(), [&](Index c) {
      auto scratch = begin();
      const Index end = std::min(n_, (c + 1) * length());
      for (Index first = c * length(); first < end; first += points_at_once) {
        throw_if_cancelled(task_.keep_going);
        use(scratch, c, first, std::min(end, first + points_at_once));
      }
    });
  }

 private:
  Index length() const { return std::max(least_chunk, block_count(n_, most_chunks)); }
  Index n_;
  const Task& task_;
};

inline double weighted_sum(const Chunks& chunks, const std::vector<double>& values) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    sum += chunks.weight(static_cast<Index>(i)) * values[i];
  return sum;
}

/// The points less their mean, in blocks.
class Moved {
 public:
  explicit Moved(const Task& task)
      : points_(*task.points), chunks_(points_.size(), task), mean_(mean_of(task)) {}
  Index dim() const { return points_.dim(); }
  const Chunks& chunks() const { return chunks_; }

  void load(Index first, Index last, float* out) const { points_.rows(first, last, mean_, out); }
  void load(Index first, Index last, double* out) const {
    points_.rows(first, last, out);
    for (Index i = first; i < last; ++i) {
      double* const row = out + (i - first) * dim();
      for (Index l = 0; l < dim(); ++l) row[l] -= mean_[at(l)];
    }
  }

  /// Calls use(chunk, first, last, rows) as Chunks::visit does.
  template <class T, class Use>
  void visit(const Use& use) const {
    chunks_.visit([&] { return std::vector<T>(at(points_at_once * dim())); },
                  [&](std::vector<T>& rows, Index chunk, Index first, Index last) {
                    load(first, last, rows.data());
                    use(chunk, first, last, rows.data());
                  });
  }

 private:
  static std::vector<double> mean_of(const Task& task) {
    const Points& points = *task.points;
    const Chunks all(points.size(), task);
    std::vector<double> mean = points.combine(all.weights(), task.threads);
    mean.resize(at(padded_length(points.dim())));
    for (double& m : mean) m /= all.weight_of_all();
    return mean;
  }

  const Points& points_;
  Chunks chunks_;
  std::vector<double> mean_;
};

template <class T>
class DenseSource {
 public:
  using Held = T;  // squared distances, where there are many
  /// Sums of centres and squares keep this many digits ...
  static constexpr double width = sizeof(T) == 4 ? rough_width : sum_width;
  /// ... and ||a||^2 + ||c||^2 - 2 <a, c> may be wrong by this part of the norms. Below `doubtful` of them it is mostly
  /// rounding.
  static constexpr double epsilon = static_cast<double>(std::numeric_limits<T>::epsilon());
  static constexpr double noise = 8 * epsilon, doubtful = noise;

  explicit DenseSource(const Moved& points) : points_(points) {}
  const Chunks& chunks() const { return points_.chunks(); }
  Index dim() const { return points_.dim(); }

  /// Some centres, ready for products with points.
  struct Centres {
    Index count = 0;
    std::vector<double> exact;  // count x dim
    std::vector<T> rows;        // the same
    std::vector<double> norms;  // squared
  };
  Centres centres(const std::vector<double>& from) const {
    const Index d = dim(), count = static_cast<Index>(from.size()) / d;
    Centres c{.count = count,
              .exact = from,
              .rows = std::vector<T>(from.begin(), from.end()),
              .norms = std::vector<double>(at(count))};
    for (Index t = 0; t < count; ++t)
      c.norms[at(t)] = dot(from.data() + t * d, from.data() + t * d, d);
    return c;
  }
  /// Some of the points as centres.
  Centres drawn(const std::vector<Index>& draws) const {
    std::vector<double> rows(draws.size() * at(dim()));
    for (std::size_t r = 0; r < draws.size(); ++r)
      load_as_met(draws[r], rows.data() + r * at(dim()));
    return centres(rows);
  }
  void load(Index i, double* out) const { points_.load(i, i + 1, out); }
  /// As it is in the blocks, so that copies are at distance 0.
  void load_as_met(Index i, double* out) const {
    std::vector<T> row(at(dim()));
    points_.load(i, i + 1, row.data());
    std::copy(row.begin(), row.end(), out);
  }

  /// Some points, and their products with centres.
  struct Block {
    Index chunk, first, last, dim;
    const T* rows;
    const Centres& with;
    std::vector<T> products;

    double product(Index i, Index t) const {
      return static_cast<double>(products[at((i - first) * with.count + t)]);
    }
    const T* row(Index i) const { return rows + (i - first) * dim; }
    double norm(Index i) const {
      if constexpr (std::is_same_v<T, double>) return dot(row(i), row(i), dim);
      const std::vector<double> wide(row(i), row(i) + dim);
      return dot(wide.data(), wide.data(), dim);
    }
    /// ||a_i - c_t||^2 from the differences.
    double square(Index i, Index t) const {
      const double* const c = with.exact.data() + t * dim;
      if constexpr (std::is_same_v<T, double>) return squared_distance(row(i), c, dim);
      double sum = 0;
      for (Index l = 0; l < dim; ++l) {
        const double gap = static_cast<double>(row(i)[l]) - c[l];
        sum += gap * gap;
      }
      return sum;
    }
  };
  template <class Use>
  void visit(const Centres& with, const Use& use) const {
    points_.template visit<T>([&](Index chunk, Index first, Index last, const T* rows) {
      Block block{
          chunk, first, last, dim(), rows, with, std::vector<T>(at((last - first) * with.count))};
      multiply(Product<T>{.op_b = Op::transpose,
                          .m = last - first,
                          .n = with.count,
                          .k = dim(),
                          .left = rows,
                          .right = with.rows.data(),
                          .out = block.products.data()});
      use(block);
    });
  }

  std::vector<double> norms() const {
    std::vector<double> norms(at(chunks().size()));
    const Centres none;
    points_.template visit<T>([&](Index chunk, Index first, Index last, const T* rows) {
      const Block block{chunk, first, last, dim(), rows, none, {}};
      for (Index i = first; i < last; ++i) norms[at(i)] = block.norm(i);
    });
    return norms;
  }
  /// What the rounding of the squared norm of point i is relative to.
  double extent(Index, double norm) const { return norm; }
  /// The sum of squared distances from the mean of all.
  double spread(const std::vector<double>& norms) const { return weighted_sum(chunks(), norms); }

  /// The sums of the clusters, added up chunk by chunk while the rows are there.
  class Adding {
   public:
    Adding(const DenseSource& source, Index k)
        : chunks_(source.chunks()), k_(k), d_(source.dim()), parts_(at(chunks_.count())) {}
    void add(const Block& block, Index i, Index t) {
      Sums& part = parts_[at(block.chunk)];
      part.rows.resize(at(k_ * d_));
      part.sizes.resize(at(k_));
      part.mass.resize(at(k_));
      const double weight = chunks_.weight(i);
      if (weight == 0) return;
      double* const sum = part.rows.data() + t * d_;
      const T* const row = block.row(i);
      for (Index l = 0; l < d_; ++l) sum[l] += weight * static_cast<double>(row[l]);
      ++part.sizes[at(t)];
      part.mass[at(t)] += weight;
    }
    Sums finish(const std::vector<Index>&) {
      Sums all = std::move(parts_[0]);
      for (std::size_t c = 1; c < parts_.size(); ++c) {
        for (std::size_t e = 0; e < all.rows.size(); ++e) all.rows[e] += parts_[c].rows[e];
        for (std::size_t t = 0; t < all.sizes.size(); ++t) all.sizes[t] += parts_[c].sizes[t];
        for (std::size_t t = 0; t < all.mass.size(); ++t) all.mass[t] += parts_[c].mass[t];
      }
      return all;
    }

   private:
    const Chunks& chunks_;
    Index k_, d_;
    std::vector<Sums> parts_;
  };

  double inertia(const std::vector<double>& centres, const std::vector<Index>& labels) const {
    std::vector<double> partial(at(chunks().count()));
    points_.template visit<double>([&](Index chunk, Index first, Index last, const double* rows) {
      for (Index i = first; i < last; ++i)
        partial[at(chunk)] +=
            chunks().weight(i) * squared_distance(rows + (i - first) * dim(),
                                                  centres.data() + labels[at(i)] * dim(), dim());
    });
    return std::accumulate(partial.begin(), partial.end(), 0.0);
  }

 private:
  const Moved& points_;
};

class SparseSource {
 public:
  using Held = double;
  static constexpr double width = sum_width;
  static constexpr double epsilon = std::numeric_limits<double>::epsilon();
  /// Points are not moved to their mean, which would fill them: the norms may be far larger than distances.
  static constexpr double noise = 8 * epsilon, doubtful = 1e-6;

  explicit SparseSource(const Task& task) : points_(*task.points), chunks_(points_.size(), task) {}
  const Chunks& chunks() const { return chunks_; }
  Index dim() const { return points_.dim(); }

  struct Centres {
    Index count = 0;
    const std::vector<double>& exact;  // count x dim, the caller's
    Points::ByFeature rows;
    std::vector<double> norms;
  };
  Centres centres(const std::vector<double>& from) const {
    const Index d = dim(), count = static_cast<Index>(from.size()) / d;
    Centres c{.count = count,
              .exact = from,
              .rows = Points::ByFeature(points_, from.data(), count, chunks_.task().threads),
              .norms = std::vector<double>(at(count))};
    for (Index t = 0; t < count; ++t)
      c.norms[at(t)] = dot(from.data() + t * d, from.data() + t * d, d);
    return c;
  }
  struct Drawn {
    Index count = 0;
    std::vector<Index> points;
    Points::SparseRows rows;
    std::vector<double> norms;
  };
  Drawn drawn(const std::vector<Index>& draws) const {
    Drawn d{.count = static_cast<Index>(draws.size()),
            .points = draws,
            .rows = Points::SparseRows(points_, draws),
            .norms = {}};
    for (const Index i : draws) d.norms.push_back(points_.squared_norm(i));
    return d;
  }
  void load(Index i, double* out) const { points_.row(i, out); }
  void load_as_met(Index i, double* out) const { points_.row(i, out); }

  template <class Centres>
  struct Block {
    Index chunk, first, last, stride;
    const Points& points;
    const Centres& with;
    std::vector<double> products = {};
    mutable std::vector<double> scratch = {};

    double product(Index i, Index t) const {
      if constexpr (std::is_same_v<Centres, Drawn>)
        return products[at(t * stride + i - first)];
      else
        return products[at((i - first) * stride + t)];
    }
    double norm(Index i) const { return points.squared_norm(i); }
    double square(Index i, Index t) const {
      scratch.resize(at(points.dim()));
      if constexpr (std::is_same_v<Centres, Drawn>)
        return points.sparse_square(i, with.points[at(t)], scratch);
      else
        return (
            points.row(i, scratch.data()),
            squared_distance(scratch.data(), with.exact.data() + t * points.dim(), points.dim()));
    }
  };
  template <class With, class Use>
  void visit(const With& with, const Use& use) const {
    const auto begin = [&] {
      return Block<With>{
          .chunk = 0, .first = 0, .last = 0, .stride = 0, .points = points_, .with = with};
    };
    chunks_.visit(begin, [&](Block<With>& block, Index chunk, Index first, Index last) {
      block.chunk = chunk, block.first = first, block.last = last;
      multiply(with, block);
      use(block);
    });
  }

  std::vector<double> norms() const {
    std::vector<double> norms(at(points_.size()));
    for (Index i = 0; i < points_.size(); ++i) norms[at(i)] = points_.squared_norm(i);
    return norms;
  }
  double extent(Index i, double norm) const {
    const double taken = points_.norm_taken_away(i);
    return norm + taken * taken;
  }
  double spread(const std::vector<double>& norms) const {
    const std::vector<double> sum = points_.combine(chunks_.weights(), chunks_.task().threads);
    return std::max(0.0, weighted_sum(chunks_, norms) -
                             dot(sum.data(), sum.data(), dim()) / chunks_.weight_of_all());
  }

  /// The sums of the clusters, one after the other: only stored numbers are added.
  class Adding {
   public:
    Adding(const SparseSource& source, Index k) : source_(source), k_(k) {}
    void add(const auto&, Index, Index) {}
    Sums finish(const std::vector<Index>& labels) const {
      const Index d = source_.dim();
      std::vector<std::vector<Index>> members(at(k_));
      Sums all{.rows = std::vector<double>(at(k_ * d)),
               .sizes = std::vector<Index>(at(k_)),
               .mass = std::vector<double>(at(k_))};
      const Task& task = source_.chunks_.task();
      for (std::size_t i = 0; i < labels.size(); ++i) {
        const double weight = source_.chunks_.weight(static_cast<Index>(i));
        if (weight == 0) continue;
        members[at(labels[i])].push_back(static_cast<Index>(i));
        all.mass[at(labels[i])] += weight;
      }
      for_tasks(task.threads, k_, [&](Index t) {
        throw_if_cancelled(task.keep_going);
        all.sizes[at(t)] = static_cast<Index>(members[at(t)].size());
        source_.points_.sparse_sum(members[at(t)], all.rows.data() + t * d, task.terms.weights);
      });
      return all;
    }

   private:
    const SparseSource& source_;
    Index k_;
  };

  double inertia(const std::vector<double>& from, const std::vector<Index>& labels) const {
    const Centres c = centres(from);
    std::vector<double> partial(at(chunks_.count()));
    visit(c, [&](const Block<Centres>& block) {
      for (Index i = block.first; i < block.last; ++i) {
        const Index t = labels[at(i)];
        const double terms = points_.squared_norm(i) + c.norms[at(t)];
        const double square = terms - 2 * block.product(i, t);
        partial[at(block.chunk)] +=
            chunks_.weight(i) *
            (square > doubtful * extent(i, terms) ? square : block.square(i, t));
      }
    });
    return std::accumulate(partial.begin(), partial.end(), 0.0);
  }

 private:
  void multiply(const Centres& with, Block<Centres>& block) const {
    block.stride = with.rows.padded();
    block.products.resize(at(points_at_once * block.stride));
    for (Index i = block.first; i < block.last; ++i)
      points_.sparse_products(i, with.rows,
                              block.products.data() + (i - block.first) * block.stride);
  }
  void multiply(const Drawn& with, Block<Drawn>& block) const {
    block.stride = points_at_once;
    block.products.resize(at(with.count * points_at_once));
    points_.sparse_products(with.rows, block.first, block.last, block.products.data(),
                            block.stride);
  }

  const Points& points_;
  Chunks chunks_;
};

}  // namespace fwsr::kmeans
