// Products with the preprocessed points that never form them: A x, A^T z, and inner products of
// sparse points. With y_i = inner_i weights o x_i the stored part of point i,
//
//   a_i          = outer_i (y_i - mean_i 1 - means)
//   <a_i, a_j>   = outer_i outer_j (<y_i, y_j> - d mean_i mean_j), centre point, or
//                  outer_i outer_j (<y_i, y_j> - <y_i, means> - <y_j, means> + ||means||^2), feature
#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/prep/points.hpp"

namespace fwsr {

std::vector<double> Points::combine(std::span<const double> x, int threads) const {
  // Some partial sums only: steps on sparse points of many features ask for this.
  const Index chunk = std::max(block_size, block_count(size_, 16));
  std::vector<double> total(at(features_ + 3));
  for (const std::vector<double>& sum : combine(x, chunk, threads))
    for (std::size_t l = 0; l < total.size(); ++l) total[l] += sum[l];
  return finish_sum(total);
}

SegmentSums<std::vector<double>> Points::sum(int threads) const {
  return combine(std::vector<double>(at(size_), 1.0), portion_.segment(), threads);
}

/// Chunk by chunk: the features, then sum_i x_i outer_i mean_i, then sum_i x_i outer_i, then sum_i x_i.
std::vector<std::vector<double>> Points::combine(std::span<const double> x, Index chunk,
                                                 int threads) const {
  threads = threads_for(threads, 2.0 * static_cast<double>(entries_));
  const Index d = features_;
  std::vector<std::vector<double>> partial(at(block_count(size_, chunk)));
  for_blocks(
      threads, size_,
      [&](Index b, Index first, Index last) {
        auto& sum = partial[at(b)];
        sum.assign(at(d + 3), 0.0);
        std::vector<double> a(sparse() ? 0 : at(copied_rows * dim()));
        for (Index i = first; i < last; ++i) {
          if (!sparse() && (i - first) % copied_rows == 0)
            rows(i, std::min(last, i + copied_rows), a.data());
          const double xi = x[at(i)];
          if (xi == 0) continue;
          sum[at(d + 2)] += xi;
          if (sparse()) {
            const double factor = xi * outer(i);
            const double entry = factor * inner(i);
            for_entries(i, [&](Index l, double v) { sum[at(l)] += entry * v; });
            sum[at(d)] += factor * mean(i);
            sum[at(d + 1)] += factor;
          } else {
            const double* from = a.data() + (i - first) % copied_rows * dim();
            for (Index l = 0; l < d; ++l) sum[at(l)] += xi * from[l];
          }
        }
      },
      chunk);
  return partial;
}

std::vector<double> Points::finish_sum(std::span<const double> total) const {
  const Index d = features_;
  std::vector<double> z(at(dim()));
  for (Index l = 0; l < d; ++l) {
    double v = total[at(l)];
    if (sparse()) {
      if (!weights_.empty()) v *= weights_[at(l)];
      v -= total[at(d)];
      if (!means_.empty()) v -= total[at(d + 1)] * means_[at(l)];
    }
    z[at(l)] = v;
  }
  if (eta_ != 0) z[at(d)] = eta_ * total[at(d + 2)];
  return z;
}

void Points::prepare(std::span<const double> z, Direction& out) const {
  out.features.assign(at(padded_length(features_)), 0.0);
  std::copy_n(z.begin(), features_, out.features.begin());
  out.last = eta_ != 0 ? eta_ * z[at(features_)] : 0.0;
  out.with_means = 0;
  if (sparse() || !single()) return;
  double* to = out.features.data();
  if (!means_.empty()) out.with_means = dot(means_.data(), to, features_);
  if (!mean_.empty()) {
    const double mean = std::accumulate(to, to + features_, 0.0) / static_cast<double>(features_);
    for (Index l = 0; l < features_; ++l) to[l] -= mean;
  }
  if (!weights_.empty())
    for (Index l = 0; l < features_; ++l) to[l] *= weights_[at(l)];
}

/// How <x_i, weights o z> of dense float32 points becomes <a_i, z>, from point `first` on. (Of float64
/// points only what is left to do after the means: `outer` and eta.)
PointProduct Points::product_with(Index first, const Direction& z) const {
  return {.inner = inner_.empty() ? nullptr : inner_.data() + first,
          .outer = outer_.empty() ? nullptr : outer_.data() + first,
          .every_inner = scale_,
          .every_outer = common_,
          .offset = z.with_means,
          .last = z.last};
}

void Points::rows(Index first, Index last, const std::vector<double>& shift, float* out,
                  const Direction& u, const Direction& v, const Direction& w, double* x, double* y,
                  double* z) const {
  if (sparse() || !single()) {
    rows(first, last, shift, out);
    project(first, last, u, x);
    project(first, last, v, y);
    project(first, last, w, z);
    return;
  }
  const Index stride = dim();
  with_stored(first, last, [&]<class T>(Index begin, const StoredRows<T>& rows) {
    const Index from = begin - first;
    load_rows(rows, out + from * stride, stride, shift.data());
    if constexpr (std::is_same_v<T, float>)
      dots(rows, u.features.data(), v.features.data(), w.features.data(), x + from, y + from,
           z + from);
  });
  finish_products(product_with(first, u), last - first, x);
  finish_products(product_with(first, v), last - first, y);
  finish_products(product_with(first, w), last - first, z);
  if (eta_ != 0)
    for (Index i = 0; i < last - first; ++i)
      out[i * stride + features_] = static_cast<float>(eta_ - shift[at(features_)]);
}

void Points::project(Index first, Index last, const Direction& z, double* out) const {
  if (sparse()) {
    std::vector<double> a(at(dim()));
    for (Index i = first; i < last; ++i) {
      row(i, a.data());
      out[i - first] = dot(a.data(), z.features.data(), features_) + z.last;
    }
    return;
  }
  const auto use = [&]<class T>(Index begin, const Rows<T>& rows) {
    double* to = out + (begin - first);
    if constexpr (!std::is_same_v<T, double>) {
      dots(rows, z.features.data(), to);
      finish_products(product_with(begin, z), rows.count, to);
    } else {
      PointNumbers numbers[chunk_rows];
      dots_of_points(stored(begin, rows, numbers), z.features.data(), to);
      for (Index i = 0; i < rows.count; ++i) to[i] += z.last;
    }
  };
  with_rows<Narrowness::as_stored>(first, last, use);
}

void Points::project_bytes(Index first, const Rows<std::uint8_t>& rows, const Directions& along,
                           double* x, double* y, double* z) const {
  along.in_digits.dots(rows, x, y, z);
  finish_products(product_with(first, along.a), rows.count, x);
  finish_products(product_with(first, along.av), rows.count, y);
  finish_products(product_with(first, along.rv), rows.count, z);
}

void Points::prepare(std::span<const double> a, std::span<const double> av,
                     std::span<const double> rv, bool coarse, Directions& out) const {
  prepare(a, out.a);
  prepare(av, out.av);
  prepare(rv, out.rv);
  out.in_digits.clear();
  if (coarse && in_bytes() && ByteVectors::there(features_))
    out.in_digits.set(out.a.features.data(), out.av.features.data(), out.rv.features.data(),
                      features_);
}

double Points::pass(Index first, Index last, const Directions& along, const ScoreStep& step,
                    const double* r, double* c, double* h) const {
  const Direction &a = along.a, &av = along.av, &rv = along.rv;
  double largest = -std::numeric_limits<double>::infinity();
  if (sparse()) {
    std::vector<double> row_i(at(dim()));
    for (Index i = first; i < last; ++i) {
      row(i, row_i.data());
      const Dots3 s =
          dot3(row_i.data(), a.features.data(), av.features.data(), rv.features.data(), features_);
      const double x = s.u + a.last, y = s.v + av.last, z = s.w + rv.last;
      const Index own = i - first;
      largest = std::max(largest, update_scores(step, 1, &x, &y, &z, r + own, c + own, h + own));
    }
    return largest;
  }
  PassVectors with{.u = a.features.data(), .v = av.features.data(), .w = rv.features.data()};
  const auto use = [&]<class T>(Index begin, const Rows<T>& rows) {
    const Index own = begin - first;
    if constexpr (std::is_same_v<T, double>) {
      PointNumbers numbers[chunk_rows];
      with.products = {.x = {.last = a.last}, .y = {.last = av.last}, .z = {.last = rv.last}};
      return pass_points(stored(begin, rows, numbers), with, step, r + own, c + own, h + own);
    } else {
      with.products = {
          .x = product_with(begin, a), .y = product_with(begin, av), .z = product_with(begin, rv)};
      if constexpr (sizeof(T) == 1)
        if (!along.in_digits.empty()) {
          double x[chunk_rows], y[chunk_rows], z[chunk_rows];
          along.in_digits.dots(rows, x, y, z);
          return update_scores(with.products, step, rows.count, x, y, z, r + own, c + own, h + own);
        }
      return pass_rows(rows, with, step, r + own, c + own, h + own);
    }
  };
  with_rows<Narrowness::as_stored>(first, last, [&](Index begin, const auto& rows) {
    largest = std::max(largest, use(begin, rows));
  });
  return largest;
}

void Points::project(std::span<const double> z, std::span<double> out, int threads) const {
  threads = threads_for(threads, 2.0 * static_cast<double>(entries_));
  const double last = eta_ != 0 ? eta_ * z[at(features_)] : 0.0;
  if (!sparse()) {
    Direction direction;
    prepare(z, direction);
    for_blocks(threads, size_, [&](Index, Index first, Index end) {
      project(first, end, direction, out.data() + first);
    });
    return;
  }
  std::vector<double> weighted(z.begin(), z.begin() + features_);
  double sum = 0, with_means = 0;
  for (Index l = 0; l < features_; ++l) {
    sum += z[at(l)];
    if (!means_.empty()) with_means += z[at(l)] * means_[at(l)];
    if (!weights_.empty()) weighted[at(l)] *= weights_[at(l)];
  }
  for_blocks(threads, size_, [&](Index, Index first, Index end) {
    for (Index i = first; i < end; ++i) {
      double stored = 0;
      for_entries(i, [&](Index l, double v) { stored += v * weighted[at(l)]; });
      out[at(i)] = outer(i) * (inner(i) * stored - mean(i) * sum - with_means) + last;
    }
  });
}

Points::SparseRows::SparseRows(const Points& points, std::span<const Index> chosen)
    : chosen_(chosen.begin(), chosen.end()), slot_(at(points.features_), -1) {
  std::int32_t used = 0;
  for (std::size_t b = 0; b < chosen_.size(); ++b) {
    const double inner = points.inner(chosen_[b]);
    points.for_entries(chosen_[b], [&](Index l, double v) {
      std::int32_t& slot = slot_[at(l)];
      if (slot < 0) {
        slot = used++;
        values_.resize(values_.size() + at(sparse_rows), 0.0);
      }
      const double weight = points.weights_.empty() ? 1.0 : points.weights_[at(l)];
      values_[at(slot) * at(sparse_rows) + b] = v * inner * weight;
    });
  }
}

void Points::sparse_products(const SparseRows& left, Index begin, Index end, double* out,
                             Index stride) const {
  const auto rows = static_cast<Index>(left.chosen_.size());
  const auto d = static_cast<double>(features_);
  // Entries of point j that some row of the block has too, some at a time.
  constexpr Index some = 256;
  std::int32_t slots[some];
  double y[some];
  for (Index j = begin; j < end; ++j) {
    double sums[sparse_rows] = {};
    const double inner_j = inner(j);
    Index count = 0;
    for_entries(j, [&](Index l, double v) {
      const std::int32_t slot = left.slot_[at(l)];
      slots[count] = slot;
      y[count] = v * inner_j * (weights_.empty() ? 1.0 : weights_[at(l)]);
      count += slot >= 0 ? 1 : 0;
      if (count == some) {
        add_sparse(slots, y, count, left.values_.data(), sums);
        count = 0;
      }
    });
    add_sparse(slots, y, count, left.values_.data(), sums);
    for (Index b = 0; b < rows; ++b) {
      const Index i = left.chosen_[at(b)];
      double inner_product = sums[b] - d * mean(i) * mean(j);
      if (!products_with_means_.empty())
        inner_product += means_squared_ - products_with_means_[at(i)] - products_with_means_[at(j)];
      out[b * stride + j - begin] = outer(i) * outer(j) * inner_product + eta_ * eta_;
    }
  }
}

}  // namespace fwsr
