#include "fwsr/solver/exchange_points.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "fwsr/base/at.hpp"
#include "fwsr/base/index_range.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/solver/point_set.hpp"

namespace fwsr {

namespace {

constexpr Index block_rows = 256;

/// The best of what every block offers.
std::vector<Offer> joined(const std::vector<std::vector<Offer>>& parts, const ExchangeTables& z) {
  std::vector<Offer> best(at(z.k));
  for (const std::vector<Offer>& part : parts)
    for (std::size_t p = 0; p < part.size(); ++p) best[p].see(part[p], z.step);
  return best;
}

}  // namespace

std::vector<double> times_covariance(const std::vector<double>& rows, const std::vector<double>& c,
                                     Index dim) {
  std::vector<double> out(rows.size());
  if (!rows.empty())
    multiply_few(Product<double>{.m = static_cast<Index>(rows.size()) / dim,
                                 .n = dim,
                                 .k = dim,
                                 .left = rows.data(),
                                 .right = c.data(),
                                 .out = out.data()});
  return out;
}

std::vector<double> squares_left(const Points& points, std::span<const double> orthonormal,
                                 int threads, const KeepGoing& keep_going) {
  const Index n = points.size(), d = points.dim(), m = std::ssize(orthonormal) / d;
  const double eta_squared = points.eta() * points.eta();
  std::vector<double> left(at(n));
  for_blocks(
      threads, n,
      [&](Index, Index first, Index last) {
        throw_if_cancelled(keep_going);
        const Index rows = last - first;
        std::vector<double> a(at(rows * d)), h(at(rows * m));
        points.rows(first, last, a.data());
        multiply(Product<double>{.op_b = Op::transpose,
                                 .m = rows,
                                 .n = m,
                                 .k = d,
                                 .left = a.data(),
                                 .right = orthonormal.data(),
                                 .out = h.data()});
        for (Index i = 0; i < rows; ++i)
          left[at(first + i)] = points.squared_norm(first + i) + eta_squared -
                                dot(h.data() + i * m, h.data() + i * m, m);
      },
      block_rows);
  return left;
}

std::vector<Offer> linear_offers(const OfferedPoints& offered, const ExchangeTables& z,
                                 const double* with, int threads, const KeepGoing& keep_going) {
  const Points& points = offered.candidates;
  const Index n = points.size(), d = points.dim(), k = z.k;
  const double eta_squared = points.eta() * points.eta();
  std::vector<std::vector<Offer>> parts(at(block_count(n, block_rows)));
  const auto work =
      4.0 * static_cast<double>(n) * static_cast<double>(k) * static_cast<double>(d + k);
  for_blocks(
      threads_for(threads, work), n,
      [&](Index block, Index first, Index last) {
        throw_if_cancelled(keep_going);
        const Index rows = last - first;
        std::vector<double> a(at(rows * d)), b(at(rows * k)), w(at(rows * k)), squares(at(rows));
        points.rows(first, last, a.data());
        const auto products = [&](const double* vectors, double* out) {
          multiply(Product<double>{.op_b = Op::transpose,
                                   .m = rows,
                                   .n = k,
                                   .k = d,
                                   .left = a.data(),
                                   .right = vectors,
                                   .out = out});
        };
        products(with, b.data());
        products(with + k * d, w.data());
        for (Index i = 0; i < rows; ++i)
          squares[at(i)] = offered.left.empty() ? points.squared_norm(first + i) + eta_squared
                                                : offered.left[at(first + i)];
        parts[at(block)].resize(at(k));
        see_rows(z,
                 {.first = first,
                  .rows = rows,
                  .terms = offered.terms,
                  .before = offered.before,
                  .b = b.data(),
                  .w = w.data(),
                  .squares = squares.data(),
                  .r = offered.r.data() + first},
                 parts[at(block)]);
      },
      block_rows);
  return joined(parts, z);
}

ExchangeInSet::ExchangeInSet(PointSet& set, const Terms& terms, int threads)
    : set_(set),
      threads_(threads),
      covariance_(set.covariance(false)),
      weight_(terms.weight_of_all(set.facts().size)) {
  const Index dim = set.facts().dim;
  for (Index l = 0; l < dim; ++l) {
    trace_ += covariance_->c[at(l * dim + l)];
    whole_ += covariance_->with_included()[at(l * dim + l)];
  }
}

Among ExchangeInSet::among(std::span<const Index> points) {
  if (std::optional<Among> there = set_.among(*covariance_, points)) return std::move(*there);
  const Index dim = set_.facts().dim, m = std::ssize(points);
  std::vector<double> rows(at(m * dim));
  set_.rows_of(points, rows.data());
  // As many threads as have a millisecond of work each: this comes between two visits to the points, however fast these are.
  const auto team = [&](double products) {
    constexpr double each = 4e6;
    return static_cast<int>(std::clamp(products / each, 1.0, static_cast<double>(threads_)));
  };
  constexpr Index few = 32;  // rows at a time, whatever the number of threads
  std::vector<double> with_c(rows.size());
  for_blocks(
      team(static_cast<double>(m * dim) * static_cast<double>(dim)), m,
      [&](Index, Index first, Index last) {
        const std::vector<double> some = times_covariance(
            {rows.begin() + first * dim, rows.begin() + last * dim}, covariance_->c, dim);
        std::copy(some.begin(), some.end(), with_c.begin() + first * dim);
      },
      few);
  Among found{.k = std::vector<double>(at(m * m)), .kk = std::vector<double>(at(m * m))};
  constexpr Index block = 8;
  for_blocks(
      team(static_cast<double>(m * m) * static_cast<double>(dim)), m,
      [&](Index, Index first, Index last) {
        for (Index p = first; p < last; ++p)
          for (Index l = 0; l <= p; ++l) {
            const double* const other = rows.data() + l * dim;
            found.k[at(p * m + l)] = found.k[at(l * m + p)] =
                dot(rows.data() + p * dim, other, dim);
            found.kk[at(p * m + l)] = found.kk[at(l * m + p)] =
                dot(with_c.data() + p * dim, other, dim);
          }
      },
      block);
  return found;
}

std::vector<Offer> ExchangeInSet::offers(const ExchangeTables& z) {
  return set_.offers(*covariance_, z);
}

ExchangeInKernel::ExchangeInKernel(const KernelToExchange& kernel, KernelProducts known,
                                   int threads, KeepGoing keep_going)
    : kernel_(kernel.left),
      terms_(kernel.terms),
      r_(std::move(known.r)),
      threads_(threads),
      keep_going_(std::move(keep_going)) {
  const Index n = kernel_.size();
  for (std::size_t b = 0; b < known.basis.size(); ++b) {
    const auto row = known.w.begin() + static_cast<Index>(b) * n;
    products_.emplace(known.basis[b], std::vector<double>(row, row + n));
  }
  kept_ = std::move(known.basis);
  if (r_.empty()) {
    r_.resize(at(n));
    kernel_.row_squares(r_, threads, terms_.weights);
  }
  for (Index i = 0; i < n; ++i) {
    trace_ += terms_.weight(i) * kernel_.diagonal(i);
    whole_ += terms_.weight(i) * kernel.whole.diagonal(i);
  }
}

/// The products of these points; of others no more than of these, beside those that were there at first. Made again, the
/// latter would have other last bits, and so would a run that was disturbed.
void ExchangeInKernel::hold(std::span<const Index> points) {
  const auto in = [](std::span<const Index> some, Index j) {
    return std::find(some.begin(), some.end(), j) != some.end();
  };
  if (std::ssize(products_) > 2 * std::ssize(points) + std::ssize(kept_))
    std::erase_if(products_, [&](const auto& held) {
      return !in(points, held.first) && !in(kept_, held.first);
    });
  std::vector<Index> missing;
  for (const Index j : points)
    if (!products_.contains(j)) missing.push_back(j);
  if (kernel_.by_products()) {
    for (const Index j : missing) {
      throw_if_cancelled(keep_going_);
      std::vector<double> column(at(kernel_.size())), product(at(kernel_.size()));
      column_and_product(kernel_, terms_.weights, j, {column, product}, threads_);
      products_.emplace(j, std::move(product));
    }
    return;
  }
  constexpr std::size_t at_once = 64;
  for (std::size_t first = 0; first < missing.size(); first += at_once)
    multiply_columns(
        std::span<const Index>(missing).subspan(first, std::min(at_once, missing.size() - first)));
}

/// K S K_J.
void ExchangeInKernel::multiply_columns(std::span<const Index> columns) {
  const Index n = kernel_.size(), m = std::ssize(columns);
  std::vector<double> right(at(n * m)), out(at(n * m));
  for_blocks(
      threads_, n,
      [&](Index, Index first, Index last) {
        throw_if_cancelled(keep_going_);
        const std::vector<double> values = kernel_.values(index_range(first, last), columns);
        for (Index i = first; i < last; ++i)
          for (Index c = 0; c < m; ++c)
            right[at(c * n + i)] = terms_.weight(i) * values[at((i - first) * m + c)];
      },
      block_rows);
  kernel_.multiply_many(right, m, out, threads_, keep_going_);
  for (Index c = 0; c < m; ++c)
    products_.emplace(columns[at(c)],
                      std::vector<double>(out.begin() + c * n, out.begin() + (c + 1) * n));
}

Among ExchangeInKernel::among(std::span<const Index> points) {
  hold(points);
  Among found{.k = kernel_.values(points, points), .kk = {}};
  for (const Index i : points)
    for (const Index j : points)  // the same number either way
      found.kk.push_back(products_.at(std::max(i, j))[at(std::min(i, j))]);
  return found;
}

std::optional<KernelProducts> ExchangeInKernel::products_of(
    const std::vector<Index>& points) const {
  KernelProducts found{.r = r_, .basis = points, .w = {}};
  for (const Index j : points) {
    const auto held = products_.find(j);
    if (held == products_.end()) return std::nullopt;
    found.w.insert(found.w.end(), held->second.begin(), held->second.end());
  }
  return found;
}

std::vector<Offer> ExchangeInKernel::offers(const ExchangeTables& z) {
  hold(z.exemplars);
  std::vector<const double*> columns;
  for (const Index e : z.exemplars) columns.push_back(products_.at(e).data());
  const Index k = z.k;
  const Index n = terms_.candidates.empty() ? kernel_.size() : std::ssize(terms_.candidates);
  std::vector<std::vector<Offer>> parts(at(block_count(n, block_rows)));
  for_blocks(
      threads_, n,
      [&](Index block, Index first, Index last) {
        throw_if_cancelled(keep_going_);
        const Index rows = last - first;
        std::vector<Index> which = index_range(first, last);
        for (Index& i : which) i = terms_.point(i);
        const std::vector<double> b = kernel_.values(which, z.exemplars);
        std::vector<double> w(at(rows * k)), squares(at(rows)), r(at(rows));
        for (Index i = 0; i < rows; ++i) {
          squares[at(i)] = kernel_.diagonal(which[at(i)]);
          r[at(i)] = r_[at(which[at(i)])];
          for (Index p = 0; p < k; ++p) w[at(i * k + p)] = columns[at(p)][which[at(i)]];
        }
        parts[at(block)].resize(at(k));
        see_rows(z,
                 {.first = first,
                  .rows = rows,
                  .terms = terms_,
                  .b = b.data(),
                  .w = w.data(),
                  .squares = squares.data(),
                  .r = r.data()},
                 parts[at(block)]);
      },
      block_rows);
  return joined(parts, z);
}

}  // namespace fwsr
