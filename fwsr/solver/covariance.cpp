#include "fwsr/solver/covariance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/gram.hpp"
#include "fwsr/linalg/pass.hpp"
#include "fwsr/linalg/rows.hpp"

namespace fwsr {

namespace {

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

double largest(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end());
}

Covariance covariance_in_double(const Points& points, int threads, const Alive& alive) {
  const Index n = points.size(), dim = points.dim();
  const FillRows<double> fill = [&](Index first, Index last, double* out) {
    stop_unless(alive);
    points.rows(first, last, out);
  };
  Covariance result{.c = gram_of_rows<double>(n, dim, threads, fill).products,
                    .r = std::vector<double>(at(n))};
  mirror(dim, result.c);
  quadratic_forms<double>(n, dim, threads, fill, result.c,
                          [&](Index first, Index last, const double* forms) {
                            std::copy_n(forms, last - first, result.r.begin() + first);
                          });
  result.r_error = std::numeric_limits<double>::epsilon() * largest(result.r);
  return result;
}

/// What the points have in common would take most digits of float32 products. They are formed of
/// b_i = a_i - m, with m the mean of some points, and what m adds is added in double:
///
///   B = sum_i b_i b_i^T    s = sum_i b_i    C = B + m s^T + s m^T + n m m^T
///   r_i = b_i^T B b_i + 2 (b_i.m) (b_i.s) + n (b_i.m)^2 + 2 b_i.(C m) + m^T C m
Covariance covariance_in_single(const Points& points, int threads, const Alive& alive) {
  const Index n = points.size(), dim = points.dim();
  const auto size = static_cast<double>(n);
  const Index sample = std::min<Index>(n, 256);
  const Index padded = padded_length(dim);
  std::vector<double> a(at(dim)), m(at(padded)), cm(at(padded));
  for (Index i = 0; i < sample; ++i) {
    points.row(i * n / sample, a.data());
    for (Index l = 0; l < dim; ++l) m[at(l)] += a[at(l)] / static_cast<double>(sample);
  }
  const FillRows<float> fill = [&](Index first, Index last, float* out) {
    stop_unless(alive);
    points.rows(first, last, m, out);
  };
  Gram gram = gram_of_rows<float>(n, dim, threads, fill);
  const std::vector<double>& b = gram.products;
  std::vector<double>& s = gram.rows;
  Covariance result{.c = b, .r = std::vector<double>(at(n)), .single = true};
  for (Index i = 0; i < dim; ++i)
    for (Index j = i; j < dim; ++j)
      result.c[at(i * dim + j)] +=
          m[at(i)] * s[at(j)] + s[at(i)] * m[at(j)] + size * m[at(i)] * m[at(j)];
  mirror(dim, result.c);
  multiply_vector(Op::none, {result.c.data(), dim, dim, dim}, m.data(), cm.data());
  const double mcm = dot(m.data(), cm.data(), dim);
  s.resize(at(padded));

  // The dot products are those of points that were not rounded to float32.
  Points::Direction along_m, along_s, along_cm;
  points.prepare({m.data(), at(dim)}, along_m);
  points.prepare({s.data(), at(dim)}, along_s);
  points.prepare({cm.data(), at(dim)}, along_cm);
  const double mm = dot(m.data(), m.data(), dim), ms = dot(m.data(), s.data(), dim);
  const double eta_squared = points.eta() * points.eta();
  std::mutex mutex;
  double most = 0, longest = 0;  // of all b_i^T B b_i and ||b_i||^2: what float32 has rounded
  const FillRows<float> fill_and_begin = [&](Index first, Index last, float* out) {
    stop_unless(alive);
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
    longest = std::max(longest, own_longest);
  };
  quadratic_forms<float>(n, dim, threads, fill_and_begin, b,
                         [&](Index first, Index last, const double* forms) {
                           double own_most = 0;
                           for (Index i = 0; i < last - first; ++i) {
                             result.r[at(first + i)] += forms[i];
                             own_most = std::max(own_most, forms[i]);
                           }
                           const std::lock_guard lock(mutex);
                           most = std::max(most, own_most);
                         });
  // B and s are sums of n rounded terms.
  const double b_length = std::sqrt(longest), m_length = std::sqrt(mm), all = b_length + m_length;
  result.r_error = 2 * static_cast<double>(std::numeric_limits<float>::epsilon()) *
                   (most + std::sqrt(size) * b_length * m_length * all * all);
  return result;
}

}  // namespace

Covariance covariance_of(const Points& points, bool single, int threads, const Alive& alive) {
  return single ? covariance_in_single(points, threads, alive)
                : covariance_in_double(points, threads, alive);
}

Covariance border(const Covariance& without, const Points& plain, const Points& points,
                  int threads) {
  const Index n = points.size(), d = plain.dim(), dim = points.dim();
  const double t = points.scale_against(plain), t2 = t * t;
  Covariance result{.c = std::vector<double>(at(dim * dim)),
                    .r = std::vector<double>(at(n)),
                    .single = without.single};
  const std::vector<double> s = plain.sum(threads);
  plain.project(s, result.r, threads);  // (K 1)_i
  const double eta = points.eta(), eta2 = eta * eta, all = static_cast<double>(n) * eta2;
  for (Index i = 0; i < d; ++i) {
    for (Index j = 0; j < d; ++j) result.c[at(i * dim + j)] = t2 * without.c[at(i * d + j)];
    if (dim > d) result.c[at(i * dim + d)] = result.c[at(d * dim + i)] = eta * (t * s[at(i)]);
  }
  if (dim > d) result.c[at(d * dim + d)] = all;
  for (Index i = 0; i < n; ++i)
    result.r[at(i)] = t2 * (t2 * without.r[at(i)] + 2 * eta2 * result.r[at(i)]) + eta2 * all;
  result.r_error =
      t2 * t2 * without.r_error + std::numeric_limits<double>::epsilon() * largest(result.r);
  return result;
}

}  // namespace fwsr
