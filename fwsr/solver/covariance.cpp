#include "fwsr/solver/covariance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "fwsr/base/at.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/pass.hpp"
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

}  // namespace

SegmentSums<Gram> moments_in_double(const Points& points, const std::vector<double>& weights,
                                    int threads, const KeepGoing& keep_going) {
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

SingleForms forms_in_single(const Points& points, std::span<const double> b,
                            const SingleVectors& vectors, Index of, int threads,
                            const KeepGoing& keep_going) {
  const Index dim = points.dim();
  const auto size = static_cast<double>(of);
  const std::vector<double> m = padded(vectors.m), s = padded(vectors.s), cm = padded(vectors.cm);
  // The dot products are those of points that were not rounded to float32.
  Points::Direction along_m, along_s, along_cm;
  points.prepare(vectors.m, along_m);
  points.prepare(vectors.s, along_s);
  points.prepare(vectors.cm, along_cm);
  const double mm = dot(m.data(), m.data(), dim), ms = dot(m.data(), s.data(), dim);
  const double mcm = dot(m.data(), cm.data(), dim);
  const double eta_squared = points.eta() * points.eta();
  SingleForms result{.r = std::vector<double>(at(points.size()))};
  std::mutex mutex;
  const FillRows<float> fill_and_begin = [&](Index first, Index last, float* out) {
    throw_if_cancelled(keep_going);
    const auto count = at(last - first);
    std::vector<double> x(count), y(count), z(count);
    points.rows(first, last, m, out, along_m, along_s, along_cm, x.data(), y.data(), z.data());
    double own_longest = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double bm = x[i] - mm, bs = y[i] - ms, bcm = z[i] - mcm;
      result.r[at(first) + i] = 2 * bm * bs + size * bm * bm + 2 * bcm + mcm;
      const double square = points.squared_norm(first + static_cast<Index>(i)) + eta_squared;
      own_longest = std::max(own_longest, square - 2 * x[i] + mm);
    }
    const std::lock_guard lock(mutex);
    result.longest = std::max(result.longest, own_longest);
  };
  quadratic_forms<float>(points.portion(), dim, threads, fill_and_begin, b,
                         [&](Index first, Index last, const double* forms) {
                           double own_most = 0;
                           for (Index i = 0; i < last - first; ++i) {
                             result.r[at(first + i)] += forms[i];
                             own_most = std::max(own_most, forms[i]);
                           }
                           const std::lock_guard lock(mutex);
                           result.most = std::max(result.most, own_most);
                         });
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
