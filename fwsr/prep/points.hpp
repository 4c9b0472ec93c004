// The points as the algorithm sees them: scaled, centred, with the eta row, all on the fly.
//
//   a_i = outer_i * (inner_i * weights o x_i - means - mean_i 1),   then one more feature: eta
//
//   x_i       the caller's numbers, never changed or copied
//   weights   1 / standard deviation of each feature (scale standard)
//   inner_i   1 / norm of each point (scale unit), times a power of two
//   means     mean of each feature (centre feature);  mean_i: mean of point i (centre point)
//   outer_i   1 / norm of each centred point (cosine kernel), times a power of two
//
// The powers of two bring the largest ||a_i|| near 1, so that fourth powers of the data neither
// overflow nor vanish; `unit()` says by how much a_i is larger than the point it stands for.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fwsr/base/aligned.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/base/index.hpp"
#include "fwsr/base/row_pieces.hpp"
#include "fwsr/linalg/byte_vectors.hpp"
#include "fwsr/linalg/packed.hpp"
#include "fwsr/linalg/pass.hpp"
#include "fwsr/prep/preprocessing.hpp"
#include "fwsr/prep/statistics.hpp"
#include "fwsr/prep/stream_buffer.hpp"

namespace fwsr {

struct PointCopies;

class Points {
 public:
  /// Looks at all points a few times to find means, norms and scale. `subset` (kept by the caller)
  /// chooses points by index; empty means all. Throws Error naming the first NaN or infinity.
  Points(const PointsView& view, std::span<const Index> subset, const Preprocessing& prep,
         int threads);

  /// The points of `other` with another eta, and with the unit that goes with it.
  Points(const Points& other, double eta, bool eta_relative, int threads);

  /// Some of the points of `other`, in this order, as they are there: means, norms and scale are those of all. They need
  /// nothing of `other` afterwards.
  Points(const Points& other, std::span<const Index> some);

  /// Some of the points of a set whose other portions live elsewhere: they know nothing of themselves until they have
  /// been asked (statistics.hpp). `rows_before`: how many rows of the caller's data come before those of `view`.
  Points(const PointsView& view, std::span<const Index> subset, const Preprocessing& prep,
         const Portion& portion, Index rows_before);
  /// The same of a view whose numbers are `storage`'s, which they keep.
  Points(const PointsView& view, std::shared_ptr<const void> storage, const Preprocessing& prep,
         const Portion& portion)
      : Points(view, std::span<const Index>{}, prep, portion, portion.first) {
    owned_ = std::move(storage);
  }
  /// The same with another eta, before they have learnt their scale.
  Points(const Points& other, double eta, bool eta_relative);

  ScanPoints::Reply answer(const ScanPoints& question, int threads);
  SumFeatures::Reply answer(const SumFeatures& question, int threads);
  FindNumbers::Reply answer(const FindNumbers& question, int threads);
  FindHuge::Reply answer(const FindHuge& question, int threads);
  DropConstant::Reply answer(const DropConstant& question, int threads);
  Told answer(const NormalizePoints& question, int threads);
  SumSquares::Reply answer(SumSquares question, int threads);
  Told answer(const SetScale& question, int threads);
  PointsShape shape() const;
  /// Which of all points these are.
  const Portion& portion() const { return portion_; }

  /// Those of some points (by their number among all) that are here (copies.hpp).
  PointCopies copies(std::span<const Index> wanted) const;
  template <class T>
  static std::unique_ptr<Points> from_copies(const std::vector<PointCopies>& parts);

  /// How often the first constructor looks at all points, dense ones.
  static Index visits(const Preprocessing& prep, bool single);
  /// What a thread holds of streamed points with this many features, in bytes.
  static Index stream_bytes(Index features, bool single);

  Index size() const { return size_; }
  Index features() const { return features_; }
  /// Length of a row: the features, and one more when eta is not zero.
  Index dim() const { return features_ + (eta_ != 0 ? 1 : 0); }
  bool sparse() const { return is_sparse(view_); }
  bool single() const { return is_single(view_); }

  /// Whether the numbers of the points are stored as bytes.
  bool in_bytes() const;
  /// Points of bytes that are all scaled alike, so that their products are those of whole numbers:
  ///   a_i = factor (x_i - mean of x_i, where `centred`) - times means, and eta
  struct Bytes {
    double factor = 1;
    bool centred = false;
    std::span<const double> means = {};  // features() numbers, or none
    double times = 1;
    bool is_signed = false;
  };
  std::optional<Bytes> bytes() const;
  /// Where the bytes of points first .. last stand; those of a stream are put into `room`. @pre bytes()
  void byte_rows(Index first, Index last, const std::byte** rows,
                 std::vector<std::byte>& room) const;

  double unit() const { return unit_; }
  /// How much larger a_i is here than in `other`, whose points are the same: a power of two.
  double scale_against(const Points& other) const { return common_ / other.common_; }
  /// eta times unit(): the last entry of every row.
  double eta() const { return eta_; }
  /// Root-mean-square norm of the centred points, without eta, times unit().
  double rms_norm() const { return rms_norm_; }
  /// What centring took away from point i, as a norm: the centred numbers are right to within rounding
  /// of this and of their own norm.
  double norm_taken_away(Index i) const;
  /// A sentence when points look like marks for missing values (-999, 1e20): rows of one value far from
  /// all others, or numbers beside which the others are nothing.
  const std::optional<std::string>& warning() const { return warning_; }
  /// ||a_i||^2 without eta.
  double squared_norm(Index i) const { return squared_norms_[static_cast<std::size_t>(i)]; }

  /// a_i, dim() numbers.
  void row(Index i, double* out) const;
  /// a_first .. a_last, row by row, dim() numbers each.
  void rows(Index first, Index last, double* out) const;
  void rows(Index first, Index last, float* out) const;
  /// The same less `shift` (dim() numbers, padded_length() of them there).
  void rows(Index first, Index last, const std::vector<double>& shift, float* out) const;
  /// The same, and in the same visit the products <a_i, u>, <a_i, v>, <a_i, w> of the points as they
  /// are in double.
  struct Direction;
  void rows(Index first, Index last, const std::vector<double>& shift, float* out,
            const Direction& u, const Direction& v, const Direction& w, double* x, double* y,
            double* z) const;

  /// A vector z made ready for passes over the points. Dense float32 numbers are multiplied with it as
  /// they stand, and scaled and centred afterwards: in double that keeps all the digits they have.
  ///   <a_i, z> = outer_i (inner_i <x_i, weights o z> - <means, z> - mean_i <1, z>) + eta z_last
  /// Points that are centred each by its mean do not see the mean of z: without it <1, z> is zero.
  struct Direction {
    AlignedVector<double> features;  // weights o (z less its mean) for those, else z; padded
    double last = 0;                 // its entry for the eta row, times eta
    double with_means = 0;           // <means, z>
  };
  void prepare(std::span<const double> z, Direction& out) const;

  /// out[i - first] = <a_i, z> for points first .. last.
  void project(Index first, Index last, const Direction& z, double* out) const;
  /// Three vectors made ready for the pass. `coarse`: scores begin with what float32 leaves of them, so that products of
  /// bytes may be those of byte_vectors.hpp.
  struct Directions {
    Direction a, av, rv;
    ByteVectors in_digits;  // or none
  };
  void prepare(std::span<const double> a, std::span<const double> av, std::span<const double> rv,
               bool coarse, Directions& out) const;
  /// The products x = <a_i, a>, y = <a_i, av> and z = <a_i, rv> of points first, ... from unsigned bytes that byte_rows has
  /// found. @pre bytes() without a sign, and directions in digits
  void project_bytes(Index first, const Rows<std::uint8_t>& rows, const Directions& along,
                     double* x, double* y, double* z) const;
  /// The fused pass over points first .. last: x = <a_i, a>, y = <a_i, av>, z = <a_i, rv>, then the
  /// scores (r, c and h begin with point `first`). Returns the largest c.
  double pass(Index first, Index last, const Directions& with, const ScoreStep& step,
              const double* r, double* c, double* h) const;

  /// One run's part of a pass that serves several: its points are these with another eta. r, c and h
  /// begin with point 0, `block_max` with the first block of block_size points.
  struct Update {
    const Points* points = nullptr;
    const Directions* with = nullptr;
    ScoreStep step;
    const double* r = nullptr;
    double *c = nullptr, *h = nullptr, *block_max = nullptr;
  };
  class SharedPass;

  /// sum_i x_i a_i, dim() numbers.
  std::vector<double> combine(std::span<const double> x, int threads) const;
  /// What the points at hand add to sum_i a_i, and the dim() numbers that the sums of all come to.
  SegmentSums<std::vector<double>> sum(int threads) const;
  std::vector<double> finish_sum(std::span<const double> total) const;
  /// out_i = <a_i, z> for all points.
  void project(std::span<const double> z, std::span<double> out, int threads) const;

  /// Sparse points: <a_i, a_j> for the points i of `left` (at most sparse_rows) and j in begin .. end,
  /// to out[(i - first) * stride + j - begin], eta included.
  static constexpr Index sparse_rows = sparse_width;
  class SparseRows;
  void sparse_products(const SparseRows& left, Index begin, Index end, double* out,
                       Index stride) const;
  /// Sparse points: <a_i, z> for all vectors z of `right`, eta included; out has right.padded() numbers.
  class ByFeature;
  void sparse_products(Index i, const ByFeature& right, double* out) const;
  /// Sparse points: the sum of some of them, dim() numbers, each times its number of `times`; empty: 1 each.
  void sparse_sum(std::span<const Index> chosen, double* out,
                  std::span<const double> times = {}) const;
  /// Sparse points: ||a_i - a_j||^2 from the differences of their stored numbers. `scratch` is features() zeros
  /// before and after.
  double sparse_square(Index i, Index j, std::vector<double>& scratch) const;

 private:
  /// Answers of a set that is all here.
  template <class Question>
  std::vector<typename Question::Reply> alone(const Question& question, int threads) {
    std::vector<typename Question::Reply> answers;
    answers.push_back(answer(question, threads));
    return answers;
  }
  /// Where point i stands in the caller's data.
  Index reported(Index i) const { return rows_before_ + source(i); }
  Index source(Index i) const { return subset_.empty() ? i : subset_[static_cast<std::size_t>(i)]; }
  double inner(Index i) const {
    return inner_.empty() ? scale_ : inner_[static_cast<std::size_t>(i)];
  }
  double mean(Index i) const { return mean_.empty() ? 0 : mean_[static_cast<std::size_t>(i)]; }
  double outer(Index i) const {
    return outer_.empty() ? common_ : outer_[static_cast<std::size_t>(i)];
  }

  static constexpr Index chunk_rows = 512;  // long streams for the pass
  static constexpr Index copied_rows = 64;  // where a copy of them is to stay near
  /// Rows of narrow numbers as float32 in a buffer of the thread, or as they stand.
  enum class Narrowness { widened, as_stored };
  template <class Visit>
  void for_entries(Index i, Visit&& visit) const;
  template <Narrowness narrowness = Narrowness::widened, class Use>
  void with_rows(Index first, Index last, Use&& use, Index at_once = chunk_rows) const;
  /// Of this thread, until it asks again.
  static float* widened_room(Index count);
  template <class Use>
  void with_widened(const NarrowView& view, Index first, Index last, Use&& use,
                    Index at_once) const;
  template <class Use>
  void with_stored(Index first, Index last, Use&& use, Index at_once = chunk_rows) const;
  PointProduct product_with(Index first, const Direction& z) const;
  template <class T>
  StoredRows<T> stored(Index first, const Rows<T>& rows, PointNumbers* numbers) const;
  template <class T>
  void load(Index first, Index last, T* out, const double* shift) const;
  std::vector<std::vector<double>> combine(std::span<const double> x, Index chunk,
                                           int threads) const;
  template <class Add>
  SegmentSums<std::vector<double>> sum_over_points(Index length, Add&& add, int threads) const;
  void refuse_if_not_finite(Index i) const;
  [[noreturn]] void refuse_changed_entries(Index i) const;
  void make_room(const Preprocessing& prep);
  void adopt(const Common& common);
  double largest_square() const;
  ScanPoints::Reply scan(int threads, bool numbers);
  SumFeatures::Reply sum_beyond_means(int threads) const;
  SumFeatures::Reply sum_deviations(int threads) const;
  void find_point_numbers(int threads);
  void find_sparse_numbers(Index first, Index last, bool unit_norm, bool center);
  void normalize();

  PointsView view_;
  std::shared_ptr<const void> owned_;                 // what the view shows, where it is our own
  std::shared_ptr<const std::vector<Index>> chosen_;  // what the subset is, where it is our own
  std::span<const Index> subset_;
  Portion portion_;
  Index rows_before_ = 0;
  Index size_ = 0;
  Index features_ = 0;
  Index entries_ = 0;  // stored numbers of the points in use
  Index stored_ = 0;   // sparse: of all points, also those not in use
  Preprocessing prep_;
  double scale_ = 1;   // power of two applied to the raw numbers
  double common_ = 1;  // power of two applied last
  double unit_ = 1;
  double eta_ = 0;
  double rms_norm_ = 0;
  std::vector<double> weights_, means_;       // features_ each, padded with zeros, or empty
  std::vector<double> inner_, mean_, outer_;  // size_ each, or empty
  std::vector<double> squared_norms_;         // size_
  std::vector<double> products_with_means_;   // sparse and centre feature: <y_i, means>
  double means_squared_ = 0;
  double means_norm_ = 0;
  std::optional<std::string> warning_;
};

/// Calls visit(feature, raw value) for every stored entry of point i. The indices are the caller's and
/// may change under our hands: none is followed out of the matrix. @pre sparse()
template <class Visit>
void Points::for_entries(Index i, Visit&& visit) const {
  const Index s = source(i);
  std::visit(
      [&](const auto& v) {
        if constexpr (requires { v.starts; }) {
          const auto begin = static_cast<Index>(v.starts[s]),
                     end = static_cast<Index>(v.starts[s + 1]);
          if (begin < 0 || end > stored_) refuse_changed_entries(i);
          for (Index e = begin; e < end; ++e) {
            const auto column = static_cast<Index>(v.columns[e]);
            if (column < 0 || column >= features_) refuse_changed_entries(i);
            visit(column, static_cast<double>(v.values[e]));
          }
        }
      },
      view_);
}

/// Calls use(begin, rows) for points first .. last as they are stored, at most `at_once` at a time:
/// `begin` is the first of those in `rows`. @pre !sparse() && at_once <= chunk_rows
template <Points::Narrowness narrowness, class Use>
void Points::with_rows(Index first, Index last, Use&& use, Index at_once) const {
  // fetch(begin, end, rows) has pointers to points begin .. end put into `rows`, and returns the end
  // of those that are there.
  const auto go = [&]<class T>(const T*, const auto& fetch) {
    const T* rows[chunk_rows];
    for (Index begin = first, end = first; begin < last; begin = end) {
      end = fetch(begin, begin + at_once < last ? begin + at_once : last, rows);
      use(begin, Rows<T>{.rows = rows, .count = end - begin, .d = features_});
    }
  };
  const auto stream = [&]<class T>(const StreamView<T>& v) {
    if (const auto* pieces = dynamic_cast<const RowPieces<T>*>(v.source)) {
      typename RowPieces<T>::Piece piece;
      go(static_cast<const T*>(nullptr), [&](Index begin, Index end, const T** rows) {
        for (Index i = begin; i < end; ++i) {
          const Index row = source(i);
          if (!piece.has(row)) piece = pieces->with(row);
          rows[i - begin] = piece.there.data + (row - piece.first) * piece.there.stride;
        }
        return end;
      });
      return;
    }
    StreamBuffer<T> buffer(v);
    go(static_cast<const T*>(nullptr), [&](Index begin, Index end, const T** rows) {
      return buffer.fetch(
          begin, end, last, [&](Index i) { return source(i); }, rows);
    });
  };
  std::visit(
      [&](const auto& v) {
        if constexpr (requires { v.data; }) {
          go(v.data, [&](Index begin, Index end, auto* rows) {
            for (Index i = begin; i < end; ++i) rows[i - begin] = v.data + source(i) * v.stride;
            return end;
          });
        } else if constexpr (requires { v.source; }) {
          stream(v);
        } else if constexpr (requires { v.numbers; }) {
          if constexpr (narrowness == Narrowness::widened)
            with_widened(v, first, last, use, at_once);
          else
            with_narrow(v.number, [&]<class T>(T) {
              const T* const data = static_cast<const T*>(v.numbers);
              go(data, [&](Index begin, Index end, const T** rows) {
                for (Index i = begin; i < end; ++i) rows[i - begin] = data + source(i) * v.stride;
                return end;
              });
            });
        }
      },
      view_);
}

/// Narrow rows as float32, as many at a time as stay near.
template <class Use>
void Points::with_widened(const NarrowView& view, Index first, Index last, Use&& use,
                          Index at_once) const {
  constexpr Index near = Index{1} << 14;  // numbers
  const Index d = features_;
  at_once = std::clamp<Index>(near / std::max<Index>(1, d), 1, at_once);
  float* const numbers = widened_room(at_once * d);
  const float* rows[chunk_rows];
  for (Index begin = first, end = first; begin < last; begin = end) {
    end = std::min(begin + at_once, last);
    for (Index i = begin; i < end; ++i) {
      float* const row = numbers + (i - begin) * d;
      widen(view.number, view.address(source(i)), d, row);
      rows[i - begin] = row;
    }
    use(begin, Rows<float>{.rows = rows, .count = end - begin, .d = d});
  }
}

/// `rows`, the first of which is point `first`, with what makes points of them; `numbers` is room.
template <class T>
StoredRows<T> Points::stored(Index first, const Rows<T>& rows, PointNumbers* numbers) const {
  for (Index i = 0; i < rows.count; ++i)
    numbers[i] = {.inner = inner(first + i), .mean = mean(first + i), .outer = outer(first + i)};
  return {rows, numbers, weights_.empty() ? nullptr : weights_.data(),
          means_.empty() ? nullptr : means_.data()};
}

/// with_rows, and with what makes points of the rows.
template <class Use>
void Points::with_stored(Index first, Index last, Use&& use, Index at_once) const {
  PointNumbers numbers[chunk_rows];
  with_rows(
      first, last, [&](Index begin, const auto& rows) { use(begin, stored(begin, rows, numbers)); },
      at_once);
}

/// `pass` for every run: each point is fetched once, and multiplied once with vectors that are the
/// same. The same bits as `pass` by `pass`.
class Points::SharedPass {
 public:
  /// `updates` are the caller's.
  SharedPass(const Points& points, std::span<const Update> updates);
  /// Points first .. last, which are block `block`.
  void run(Index block, Index first, Index last) const;

  static constexpr Index most_rows = 64;  // at a time, each with all its products

 private:
  void run_one_by_one(Index block, Index first, Index last) const;
  void run_sparse(Index block, Index first, Index last) const;
  void run_dense(Index block, Index first, Index last) const;
  template <class T>
  class Ahead;
  template <class T>
  void load(Index first, const Rows<T>& rows, double* out) const;
  void update(Index block, Index first, Index count, const double* products, Index stride) const;

  struct Places {
    Index x, y, z;
  };
  const Points& points_;
  std::span<const Update> updates_;
  bool one_by_one_;
  PackedVectors vectors_;       // all different ones
  std::vector<Places> places_;  // among them, of every update
};

/// Up to sparse_rows sparse points laid out by feature, for products with all others.
class Points::SparseRows {
 public:
  SparseRows(const Points& points, std::span<const Index> chosen);

 private:
  friend class Points;
  std::vector<Index> chosen_;
  std::vector<std::int32_t> slot_;  // per feature: its place in values_, or -1
  std::vector<double> values_;      // slots x sparse_rows: inner_i weights_l x_il
};

/// Some vectors of dim() numbers laid out by feature: one stored number of a sparse point then meets its feature in
/// all of them side by side.
class Points::ByFeature {
 public:
  /// `vectors` are rows of dim() numbers, which are copied.
  ByFeature(const Points& points, const double* vectors, Index count, int threads);
  /// Vectors, with the zero ones that fill them up to whole groups.
  Index padded() const { return block_count(count_, sparse_rows) * sparse_rows; }

 private:
  friend class Points;
  Index count_;
  std::vector<double> values_;                     // groups x features x sparse_rows: weights_l z_l
  std::vector<double> sums_, with_means_, lasts_;  // <1, z>, <means, z>, eta times the last entry
};

}  // namespace fwsr
