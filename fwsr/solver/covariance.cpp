#include "fwsr/solver/covariance.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>

#include "fwsr/base/at.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/byte_forms.hpp"
#include "fwsr/linalg/byte_gram.hpp"
#include "fwsr/linalg/pass.hpp"
#include "fwsr/linalg/projection.hpp"
#include "fwsr/linalg/rows.hpp"

namespace fwsr {

namespace {

FillRows<double> rows_of(const Points& points, const KeepGoing& keep_going) {
  return [&](Index first, Index last, double* out) {
    throw_if_cancelled(keep_going);
    points.rows(first, last, out);
  };
}

std::vector<double> padded(std::span<const double> v) {
  std::vector<double> result(v.begin(), v.end());
  result.resize(at(padded_length(std::ssize(v))));
  return result;
}

/// The sums of points of bytes less `shift` (dim numbers, or none) by whole numbers; nothing where these do not serve.
std::optional<SegmentSums<Gram>> moments_of_bytes(const Points& points,
                                                  std::span<const double> shift, int threads,
                                                  const KeepGoing& keep_going) {
  constexpr Index enough = 32;  // columns, below which most of a panel would be empty
  const auto bytes = points.bytes();
  const Index d = points.features();
  if (!bytes || d < enough || d > most_byte_columns) return std::nullopt;
  std::vector<double> offset(at(d));
  for (std::size_t l = 0; l < offset.size(); ++l)
    offset[l] = (bytes->means.empty() ? 0 : bytes->times * bytes->means[l]) +
                (shift.empty() ? 0 : shift[l]);
  const bool bordered = points.dim() > d;
  const ByteRows rows{
      .fetch = [&](Index first, Index last, const std::byte** to,
                   std::vector<std::byte>& room) { points.byte_rows(first, last, to, room); },
      .d = d,
      .is_signed = bytes->is_signed,
      .centred = bytes->centred,
      .factor = bytes->factor,
      .offset = offset,
      .bordered = bordered,
      .border = bordered ? points.eta() - (shift.empty() ? 0 : shift[at(d)]) : 0};
  return byte_gram_in_segments(points.portion(), rows, threads, keep_going);
}

}  // namespace

SegmentSums<Gram> moments_in_double(const Points& points, const std::vector<double>& weights,
                                    int threads, const KeepGoing& keep_going) {
  if (weights.empty())
    if (auto sums = moments_of_bytes(points, {}, threads, keep_going)) return std::move(*sums);
  const FillRows<double> plain = rows_of(points, keep_going);
  const FillRows<double> fill = [&](Index first, Index last, double* out) {
    plain(first, last, out);
    times_roots(weights, first, last, points.dim(), out);
  };
  return gram_in_segments<double>(points.portion(), points.dim(), threads, fill);
}

void times_roots(const std::vector<double>& weights, Index first, Index last, Index dim,
                 double* rows) {
  for (Index i = first; i < last && !weights.empty(); ++i) {
    const double root = std::sqrt(weights[at(i)]);
    for (Index l = 0; l < dim; ++l) rows[(i - first) * dim + l] *= root;
  }
}

std::vector<double> forms_in_double(const Points& points, std::span<const double> c, int threads,
                                    const KeepGoing& keep_going) {
  std::vector<double> r(at(points.size()));
  if (std::all_of(c.begin(), c.end(), [](double v) { return v == 0; })) return r;
  quadratic_forms<double>(points.portion(), points.dim(), threads, rows_of(points, keep_going), c,
                          [&](Index first, Index last, const double* forms) {
                            std::copy_n(forms, last - first, r.begin() + first);
                          });
  return r;
}

SegmentSums<Gram> moments_in_single(const Points& points, std::span<const double> m, int threads,
                                    const KeepGoing& keep_going) {
  if (auto sums = moments_of_bytes(points, m, threads, keep_going)) return std::move(*sums);
  const std::vector<double> shift = padded(m);
  const FillRows<float> fill = [&](Index first, Index last, float* out) {
    throw_if_cancelled(keep_going);
    points.rows(first, last, shift, out);
  };
  return gram_in_segments<float>(points.portion(), points.dim(), threads, fill);
}

SingleCovariance covariance_from(const Gram& gram, const std::vector<double>& m, Index n) {
  const auto size = static_cast<double>(n);
  const std::vector<double>& s = gram.rows;
  const auto dim = static_cast<Index>(s.size());
  SingleCovariance result{.c = gram.products, .cm = std::vector<double>(s.size())};
  for (Index i = 0; i < dim; ++i)
    for (Index j = i; j < dim; ++j)
      result.c[at(i * dim + j)] +=
          m[at(i)] * s[at(j)] + s[at(i)] * m[at(j)] + size * m[at(i)] * m[at(j)];
  mirror(dim, result.c);
  multiply_vector(Op::none, {result.c.data(), dim, dim, dim}, m.data(), result.cm.data());
  return result;
}

namespace {

/// Whether the digits of B leave as much of b^T B b as float32 does: unsigned bytes that spread over a good part of their
/// range, so that the u_i of b_i = factor (u_i - ...) - ... are not much longer than the b_i.
bool forms_serve(const Points& points) {
  constexpr Index enough = 64;
  constexpr double spread = 4, largest = 255;
  const auto bytes = points.bytes();
  const Index d = points.features();
  return bytes && !bytes->is_signed && d >= enough && d <= most_byte_columns &&
         ByteForms::there() && ByteVectors::there(d) &&
         largest * bytes->factor * std::sqrt(static_cast<double>(d)) <= spread * points.rms_norm();
}

/// b_i^T B b_i with b_i = f (u_i - mu_i 1) - v, then one more number e for all points: u_i are bytes, mu_i their mean (0
/// where points are not centred), v what else is taken away. With A the part of B without the last row and column c,
///
///   b^T B b = f^2 u^T A u + u.g + mu (u.h) + mu^2 f^2 1^T A 1 + mu (2 f 1^T A v - 2 e f 1^T c) + v^T A v - 2 e v.c + e^2 B_dd
///   g = 2 f (e c - A v)    h = -2 f^2 A 1
class FormsOfBytes {
 public:
  FormsOfBytes(const Points& points, std::span<const double> shift, std::span<const double> b)
      : d_(points.features()), bytes_(*points.bytes()), forms_(b, d_, points.dim()) {
    const Index dim = points.dim();
    const double f = bytes_.factor, e = dim > d_ ? points.eta() - shift[at(d_)] : 0;
    g_.resize(at(padded_length(d_))), h_.resize(g_.size());
    for (Index l = 0; l < d_; ++l) {
      double av = 0, a1 = 0;
      for (Index j = 0; j < d_; ++j) {
        const double a = b[at(std::min(l, j) * dim + std::max(l, j))];
        av += a * taken_away(shift, j);
        a1 += a;
      }
      const double c = dim > d_ ? b[at(l * dim + d_)] : 0, v = taken_away(shift, l);
      g_[at(l)] = 2 * f * (e * c - av);
      h_[at(l)] = -2 * f * f * a1;
      alone_ += v * av - 2 * e * v * c;
      with_mean_ += 2 * f * (v * a1 - e * c);
      with_square_ += f * f * a1;
    }
    if (dim > d_) alone_ += e * e * b[at(d_ * dim + d_)];
    const std::vector<double> none(at(d_));
    with_vectors_.set(g_.data(), h_.data(), none.data(), d_);
  }

  /// The forms of some points; returns what they are to be held against for their rounding (error_of_single).
  double of(const std::vector<const std::byte*>& rows, const Rows<std::uint8_t>& u,
            std::vector<double>& out) const {
    const Index count = u.count;
    const double square = bytes_.factor * bytes_.factor;
    std::vector<std::uint8_t> room(at(forms_.room_bytes()));
    std::vector<double> with_g(rows.size()), with_h(rows.size()), nothing(rows.size());
    forms_.of(rows.data(), count, room.data(), out.data());
    with_vectors_.dots(u, with_g.data(), with_h.data(), nothing.data());
    double longest = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::uint64_t sum = 0;
      for (Index l = 0; l < d_; ++l) sum += u.rows[i][l];
      const auto all = static_cast<double>(sum);
      const double mean = bytes_.centred ? all / static_cast<double>(d_) : 0;
      out[i] = square * out[i] + with_g[i] + mean * with_h[i] +
               mean * (with_mean_ + mean * with_square_) + alone_;
      longest = std::max(longest, 255 * all);  // at least ||u||^2
    }
    return 0x1p23 * forms_.unit() * square * longest;
  }

 private:
  double taken_away(std::span<const double> shift, Index l) const {
    return (bytes_.means.empty() ? 0 : bytes_.times * bytes_.means[at(l)]) + shift[at(l)];
  }

  Index d_;
  Points::Bytes bytes_;
  ByteForms forms_;
  std::vector<double> g_, h_;
  ByteVectors with_vectors_;
  double alone_ = 0, with_mean_ = 0, with_square_ = 0;
};

}  // namespace

SingleForms forms_in_single(const Points& points, std::span<const double> b,
                            const SingleVectors& vectors, Index of, int threads,
                            const KeepGoing& keep_going) {
  const Index dim = points.dim();
  const auto size = static_cast<double>(of);
  const std::vector<double> m = padded(vectors.m), s = padded(vectors.s), cm = padded(vectors.cm);
  // The dot products are those of points that were not rounded to float32.
  Points::Directions along;
  points.prepare(vectors.m, vectors.s, vectors.cm, forms_serve(points), along);
  const double mm = dot(m.data(), m.data(), dim), ms = dot(m.data(), s.data(), dim);
  const double mcm = dot(m.data(), cm.data(), dim);
  const double eta_squared = points.eta() * points.eta();
  SingleForms result{.r = std::vector<double>(at(points.size()))};
  std::mutex mutex;
  const auto begin = [&](Index first, const std::vector<double>& x, const std::vector<double>& y,
                         const std::vector<double>& z) {
    double own_longest = 0;
    const std::size_t count = x.size();
    for (std::size_t i = 0; i < count; ++i) {
      const double bm = x[i] - mm, bs = y[i] - ms, bcm = z[i] - mcm;
      result.r[at(first) + i] = 2 * bm * bs + size * bm * bm + 2 * bcm + mcm;
      const double square = points.squared_norm(first + static_cast<Index>(i)) + eta_squared;
      own_longest = std::max(own_longest, square - 2 * x[i] + mm);
    }
    const std::lock_guard lock(mutex);
    result.longest = std::max(result.longest, own_longest);
  };
  const auto add = [&](Index first, Index last, const double* forms, double rounded) {
    double own_most = rounded;
    for (Index i = 0; i < last - first; ++i) {
      result.r[at(first + i)] += forms[i];
      own_most = std::max(own_most, forms[i]);
    }
    const std::lock_guard lock(mutex);
    result.most = std::max(result.most, own_most);
  };
  if (forms_serve(points)) {
    const FormsOfBytes forms(points, m, b);
    for_blocks(
        threads_for(threads, static_cast<double>(points.size()) * static_cast<double>(dim * dim)),
        points.size(),
        [&](Index, Index first, Index last) {
          throw_if_cancelled(keep_going);
          const auto count = at(last - first);
          std::vector<const std::byte*> rows(count);
          std::vector<std::byte> room;
          points.byte_rows(first, last, rows.data(), room);
          std::vector<const std::uint8_t*> numbers(count);
          for (std::size_t i = 0; i < count; ++i)
            numbers[i] = reinterpret_cast<const std::uint8_t*>(rows[i]);
          const Rows<std::uint8_t> u{
              .rows = numbers.data(), .count = last - first, .d = points.features()};
          std::vector<double> x(count), y(count), z(count);
          points.project_bytes(first, u, along, x.data(), y.data(), z.data());
          begin(first, x, y, z);
          const double rounded = forms.of(rows, u, x);
          add(first, last, x.data(), rounded);
        },
        ByteForms::rows_at_once);
    return result;
  }
  const FillRows<float> fill_and_begin = [&](Index first, Index last, float* out) {
    throw_if_cancelled(keep_going);
    const auto count = at(last - first);
    std::vector<double> x(count), y(count), z(count);
    points.rows(first, last, m, out, along.a, along.av, along.rv, x.data(), y.data(), z.data());
    begin(first, x, y, z);
  };
  quadratic_forms<float>(
      points.portion(), dim, threads, fill_and_begin, b,
      [&](Index first, Index last, const double* forms) { add(first, last, forms, 0); });
  return result;
}

/// B and s are sums of n rounded terms.
double error_of_single(const SingleVectors& vectors, double most, double longest, Index n) {
  const std::vector<double> m = padded(vectors.m);
  const double mm = dot(m.data(), m.data(), std::ssize(vectors.m));
  const double b_length = std::sqrt(longest), m_length = std::sqrt(mm), all = b_length + m_length;
  return 2 * static_cast<double>(std::numeric_limits<float>::epsilon()) *
         (most + std::sqrt(static_cast<double>(n)) * b_length * m_length * all * all);
}

double bound_of_single(std::span<const double> c, std::span<const double> m, double longest) {
  double trace = 0, mm = 0;
  for (std::size_t l = 0; l < m.size(); ++l) trace += c[l * m.size() + l], mm += m[l] * m[l];
  const double length = std::sqrt(longest) + std::sqrt(mm);
  return trace * (length * length);
}

void take_from(std::span<const double> orthonormal, Index dim, Covariance& of) {
  if (orthonormal.empty()) return;
  of.whole = of.c;
  const auto d = at(dim);
  for (int side = 0; side < 2; ++side) {
    take_away(orthonormal, {.first = of.c.data(), .count = dim, .d = dim, .stride = dim});
    for (std::size_t i = 0; i < d; ++i)
      for (std::size_t j = 0; j < i; ++j) std::swap(of.c[i * d + j], of.c[j * d + i]);
  }
  double left = 0, whole = 0;
  for (std::size_t i = 0; i < d; ++i) left += of.c[i * d + i], whole += of.whole[i * d + i];
  // What rounding leaves of points that are all spanned is nothing, of either sign.
  const double rounding = 16 * static_cast<double>(dim) * std::numeric_limits<double>::epsilon();
  if (left <= rounding * whole) std::fill(of.c.begin(), of.c.end(), 0.0);
  for (std::size_t i = 0; i < d; ++i)  // symmetric to the last bit
    for (std::size_t j = 0; j < i; ++j) of.c[j * d + i] = of.c[i * d + j];
}

Gram total_gram(std::vector<SegmentSums<Gram>> sums) {
  Gram all;
  for (SegmentSums<Gram>& portion : sums)
    for (Gram& sum : portion) {
      if (all.products.empty())
        all = std::move(sum);
      else
        add_gram(all, sum);
      sum = {};
    }
  return all;
}

std::vector<double> bordered_covariance(const std::vector<double>& c, const std::vector<double>& s,
                                        const Bordered& with) {
  const auto d = static_cast<Index>(s.size());
  const Index dim = with.dim;
  const double t = with.scale, t2 = t * t;
  std::vector<double> result(at(dim * dim));
  for (Index i = 0; i < d; ++i) {
    for (Index j = 0; j < d; ++j) result[at(i * dim + j)] = t2 * c[at(i * d + j)];
    if (dim > d) result[at(i * dim + d)] = result[at(d * dim + i)] = with.eta * (t * s[at(i)]);
  }
  if (dim > d) result[at(d * dim + d)] = static_cast<double>(with.n) * (with.eta * with.eta);
  return result;
}

std::vector<double> bordered_forms(const Points& plain, const std::vector<double>& r,
                                   const std::vector<double>& s, const Bordered& with,
                                   int threads) {
  const double t2 = with.scale * with.scale, eta2 = with.eta * with.eta;
  const double all = static_cast<double>(with.n) * eta2;
  std::vector<double> result(at(plain.size()));
  plain.project(s, result, threads);  // (K 1)_i
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = t2 * (t2 * r[i] + 2 * eta2 * result[i]) + eta2 * all;
  return result;
}

}  // namespace fwsr
