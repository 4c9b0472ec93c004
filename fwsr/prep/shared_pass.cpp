// A pass over dense points that serves several runs: some rows at a time are brought near, multiplied
// with all vectors of all runs, and then every run has its scores.
#include <algorithm>
#include <limits>
#include <map>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/prep/points.hpp"

namespace fwsr {

namespace {

/// Rows at a time: 32 KiB of doubles, but not too many products.
constexpr Index tile_numbers = 4096;
/// Rows that a loop takes together.
constexpr Index few = 8;

}  // namespace

Points::SharedPass::SharedPass(const Points& points, std::span<const Update> updates)
    : points_(points),
      updates_(updates),
      one_by_one_(updates.size() < 2 ||
                  std::any_of(updates.begin(), updates.end(),
                              [](const Update& u) { return !u.with->in_digits.empty(); })) {
  if (one_by_one_ || points.sparse()) return;
  const Index d = points.features_;
  const auto before = [d](const double* a, const double* b) {
    return std::lexicographical_compare(a, a + d, b, b + d);
  };
  std::map<const double*, Index, decltype(before)> known(before);
  std::vector<const double*> all;
  const auto place = [&](const Direction& direction) {
    const auto [found, fresh] =
        known.try_emplace(direction.features.data(), static_cast<Index>(all.size()));
    if (fresh) all.push_back(found->first);
    return found->second;
  };
  for (const Update& u : updates)
    places_.push_back({.x = place(u.with->a), .y = place(u.with->av), .z = place(u.with->rv)});
  vectors_ = PackedVectors(all, d);
}

/// float32 rows are multiplied as they stand, float64 ones without their means.
template <class T>
void Points::SharedPass::load(Index first, const Rows<T>& rows, double* out) const {
  PointNumbers numbers[most_rows];
  if constexpr (std::is_same_v<T, float>) {
    std::fill_n(numbers, rows.count, PointNumbers{.inner = 1, .mean = 0, .outer = 1});
    load_rows(StoredRows<T>{rows, numbers}, out, rows.d);
  } else {
    const StoredRows<T> stored = points_.stored(first, rows, numbers);
    for (Index i = 0; i < rows.count; ++i) numbers[i].outer = 1;
    load_rows(stored, out, rows.d);
  }
}

void Points::SharedPass::run(Index block, Index first, Index last) const {
  for (const Update& u : updates_) u.block_max[block] = -std::numeric_limits<double>::infinity();
  if (one_by_one_) {
    run_one_by_one(block, first, last);
  } else if (points_.sparse()) {
    run_sparse(block, first, last);
  } else {
    run_dense(block, first, last);
  }
}

/// A single one, or such as multiply bytes in digits: of these some rows stay near while all have their turn.
void Points::SharedPass::run_one_by_one(Index block, Index first, Index last) const {
  const Index at_once = updates_.size() == 1 ? last - first : most_rows;
  for (Index begin = first; begin < last; begin += at_once)
    for (const Update& u : updates_)
      u.block_max[block] = std::max(u.block_max[block],
                                    u.points->pass(begin, std::min(begin + at_once, last), *u.with,
                                                   u.step, u.r + begin, u.c + begin, u.h + begin));
}

void Points::SharedPass::run_sparse(Index block, Index first, Index last) const {
  std::vector<double> a(at(points_.dim()));
  for (Index i = first; i < last; ++i) {
    points_.row(i, a.data());
    for (const Update& u : updates_) {
      const double scale = u.points->scale_against(points_);
      const Dots3 s = dot3(a.data(), u.with->a.features.data(), u.with->av.features.data(),
                           u.with->rv.features.data(), points_.features_);
      const double x = s.u * scale + u.with->a.last, y = s.v * scale + u.with->av.last,
                   z = s.w * scale + u.with->rv.last;
      u.block_max[block] = std::max(
          u.block_max[block], update_scores(u.step, 1, &x, &y, &z, u.r + i, u.c + i, u.h + i));
    }
  }
}

/// What the next rows will need, asked for a little at a time while these are multiplied.
template <class T>
class Points::SharedPass::Ahead {
 public:
  Ahead(const SharedPass& pass, const Rows<T>& next, Index first, Index times)
      : updates_(pass.updates_),
        next_(next),
        first_(first),
        updates_each_(block_count(static_cast<Index>(updates_.size()), times)),
        rows_each_(block_count(next.count, times)) {}

  void ask() {
    const auto updates = static_cast<Index>(updates_.size());
    for (const Index end = std::min(updates, update_ + updates_each_); update_ < end; ++update_) {
      const Update& u = updates_[at(update_)];
      for (Index i = first_; i < first_ + next_.count; i += line<double>)
        __builtin_prefetch(u.c + i, 1), __builtin_prefetch(u.h + i, 1);
    }
    for (const Index end = std::min(next_.count, row_ + rows_each_); row_ < end; ++row_)
      for (Index l = 0; l < next_.d; l += line<T>) __builtin_prefetch(next_.rows[row_] + l);
  }

 private:
  template <class Number>
  static constexpr Index line = 64 / static_cast<Index>(sizeof(Number));

  std::span<const Update> updates_;
  Rows<T> next_;
  Index first_, updates_each_, rows_each_;
  Index update_ = 0, row_ = 0;
};

void Points::SharedPass::run_dense(Index block, Index first, Index last) const {
  const Index d = points_.features_, vectors = vectors_.size();
  const Index height = std::clamp<Index>(tile_numbers / d / few * few, few, most_rows);
  AlignedVector<double> tile(at(height * d)), by_row(at(height * vectors)),
      by_vector(at(height * vectors));
  points_.with_rows(first, last, [&]<class T>(Index begin, const Rows<T>& rows) {
    for (Index t = 0; t < rows.count; t += height) {
      const auto some = [&](Index from) {
        return Rows<T>{.rows = rows.rows + from,
                       .count = std::clamp<Index>(rows.count - from, 0, height),
                       .d = d};
      };
      const Rows<T> here = some(t);
      load(begin + t, here, tile.data());
      Ahead<T> ahead(*this, some(t + height), begin + t + height,
                     block_count(vectors, packed_width) * block_count(here.count, few));
      for (Index k = 0; k < vectors; k += packed_width)
        for (Index i = 0; i < here.count; i += few) {
          ahead.ask();
          dots(tile.data() + i * d, std::min(few, here.count - i), d, vectors_.group(k),
               by_row.data() + i * vectors + k, vectors);
        }
      transpose(by_row.data(), here.count, vectors, by_vector.data(), height);
      update(block, begin + t, here.count, by_vector.data(), height);
    }
  });
}

/// The scores of points first, ... from the products, which stand `stride` apart.
void Points::SharedPass::update(Index block, Index first, Index count, const double* products,
                                Index stride) const {
  for (std::size_t t = 0; t < updates_.size(); ++t) {
    const Update& u = updates_[t];
    const auto product = [&](const Direction& direction) {
      PointProduct how = u.points->product_with(first, direction);
      if (!points_.single()) how.inner = nullptr, how.every_inner = 1;  // it is in the rows
      return how;
    };
    const auto [x, y, z] = places_[t];
    const double most =
        update_scores({.x = product(u.with->a), .y = product(u.with->av), .z = product(u.with->rv)},
                      u.step, count, products + x * stride, products + y * stride,
                      products + z * stride, u.r + first, u.c + first, u.h + first);
    u.block_max[block] = std::max(u.block_max[block], most);
  }
}

}  // namespace fwsr
