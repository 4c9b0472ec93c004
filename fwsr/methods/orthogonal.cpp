#include "fwsr/methods/orthogonal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fwsr/base/at.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/gram.hpp"
#include "fwsr/linalg/rows.hpp"

namespace fwsr {

namespace {

constexpr double doubtful = 1e-6;     // of what was computed: ten digits are left
constexpr double stale = 1e-4;        // of the trace of C when it was made
constexpr Index sweep_rows = 384;     // points whose products are made at once
constexpr Index held_points = 30000;  // of which half of K is held: 3.6 GB

std::vector<Index> numbers(Index first, Index last) {
  std::vector<Index> some(at(last - first));
  std::iota(some.begin(), some.end(), first);
  return some;
}

/// Point after point, or at once where they are neighbours.
void load(const Points& points, std::span<const Index> some, double* out) {
  const auto count = static_cast<Index>(some.size());
  if (some.back() - some.front() == count - 1)
    return points.rows(some.front(), some.back() + 1, out);
  for (Index b = 0; b < count; ++b) points.row(some[at(b)], out + b * points.dim());
}

}  // namespace

// Both kinds

Residuals::Residuals(const Task& task, bool energies)
    : task_(task), has_energies_(energies), x_(at(task.size())) {
  if (energies) y_.resize(x_.size());
}

void Residuals::start(std::vector<double> squares, double relative_floor) {
  squares_ = std::move(squares);
  largest_ = squares_.empty() ? 0 : *std::max_element(squares_.begin(), squares_.end());
  floor_ = relative_floor * largest_;
  for (double& s : squares_)
    if (s <= floor_) s = 0;
  computed_squares_ = squares_;
}

void Residuals::start_energies(std::vector<double> energies) {
  energies_ = std::move(energies);
  for (std::size_t i = 0; i < squares_.size(); ++i)
    if (squares_[i] == 0) energies_[i] = 0;
  computed_energies_ = energies_;
}

double Residuals::total() const {
  return block_sum(task_.threads, size(), [&](Index i) { return squares_[at(i)]; });
}

double Residuals::take(Index pick) {
  const double norm = append(pick, x_, y_);
  squares_[at(pick)] = 0;
  if (has_energies_) energies_[at(pick)] = 0;
  if (norm == 0) return 0;
  ++rank_;
  const int threads = threads_for(task_.threads, 4 * static_cast<double>(size()));
  const double sum =
      has_energies_ ? block_sum(threads, size(), [&](Index i) { return x_[at(i)] * x_[at(i)]; })
                    : 0.0;
  const std::vector<Index> again = subtract(sum);
  if (renew())
    compute_all_again();
  else
    compute_again(again);
  return norm;
}

/// The recursions; returns the points whose numbers they leave in doubt.
std::vector<Index> Residuals::subtract(double sum_of_squares) {
  std::vector<std::vector<Index>> found(at(block_count(size())));
  for_blocks(threads_for(task_.threads, 4 * static_cast<double>(size())), size(),
             [&](Index b, Index first, Index last) {
               for (Index k = first; k < last; ++k) {
                 const auto i = at(k);
                 if (squares_[i] == 0) continue;
                 squares_[i] -= x_[i] * x_[i];
                 bool doubt = squares_[i] < doubtful * computed_squares_[i];
                 if (has_energies_) {
                   energies_[i] += x_[i] * (x_[i] * sum_of_squares - 2 * y_[i]);
                   doubt = doubt || energies_[i] < doubtful * computed_energies_[i];
                 }
                 if (doubt) found[at(b)].push_back(k);
               }
             });
  std::vector<Index> all;
  for (const auto& some : found) all.insert(all.end(), some.begin(), some.end());
  return all;
}

void Residuals::compute_again(std::span<const Index> points) {
  for_blocks(
      task_.threads, static_cast<Index>(points.size()),
      [&](Index, Index first, Index last) {
        throw_if_cancelled(task_.keep_going);
        const auto some = points.subspan(at(first), at(last - first));
        double squares[batch], energies[batch];
        compute(some, squares, has_energies_ ? energies : nullptr);
        for (std::size_t b = 0; b < some.size(); ++b) {
          const bool left = squares[b] > floor_;
          squares_[at(some[b])] = computed_squares_[at(some[b])] = left ? squares[b] : 0.0;
          if (has_energies_)
            energies_[at(some[b])] = computed_energies_[at(some[b])] = left ? energies[b] : 0.0;
        }
      },
      batch);
}

void Residuals::compute_all_again() {
  std::vector<Index> left;
  for (Index i = 0; i < size(); ++i)
    if (squares_[at(i)] > 0) left.push_back(i);
  compute_again(left);
}

// Of vectors

VectorResiduals::VectorResiduals(const Task& task, Index most, double tolerance, Keep keep)
    : Residuals(task, keep == Keep::energies),
      points_(*task.points),
      d_(points_.dim()),
      keep_(keep) {
  basis_.reserve(at(std::min(most, d_) * d_));
  std::vector<double> squares(at(points_.size()));
  for (Index i = 0; i < points_.size(); ++i) squares[at(i)] = points_.squared_norm(i);
  start(std::move(squares), tolerance * tolerance);
  if (keep != Keep::squares && d_ < points_.size()) make_covariance();
  if (keep != Keep::energies) return;
  std::vector<double> energies(at(points_.size()));
  if (covariance_.empty()) task.kernel->row_squares(energies, task.threads);
  start_energies(std::move(energies));
  if (!covariance_.empty()) compute_all_again();
}

void VectorResiduals::project(std::span<double> v, Index rank) const {
  if (rank == 0) return;
  const MatrixView<const double> basis{basis_.data(), rank, d_, d_};
  std::vector<double> s(at(rank));
  for (int twice = 0; twice < 2; ++twice) {
    multiply_vector(Op::none, basis, v.data(), s.data());
    for (double& c : s) c = -c;
    add_vector(Op::transpose, basis, s.data(), v.data());
  }
}

/// The first `count` of `rows` rows less their projections; the others are zero and stay so.
void VectorResiduals::residual_rows(Index count, Index rows, double* a) const {
  std::fill(a + count * d_, a + rows * d_, 0.0);
  if (rank() == 0) return;
  std::vector<double> s(at(rows * rank()));
  for (int twice = 0; twice < 2; ++twice) {
    multiply(Product<double>{.op_b = Op::transpose,
                             .m = rows,
                             .n = rank(),
                             .k = d_,
                             .left = a,
                             .left_stride = d_,
                             .right = basis_.data(),
                             .right_stride = d_,
                             .out = s.data(),
                             .out_stride = rank()});
    multiply(Product<double>{.m = rows,
                             .n = d_,
                             .k = rank(),
                             .a = -1,
                             .left = s.data(),
                             .left_stride = rank(),
                             .right = basis_.data(),
                             .right_stride = d_,
                             .b = 1,
                             .out = a,
                             .out_stride = d_});
  }
}

void VectorResiduals::make_covariance() {
  const FillRows<double> fill = [&](Index first, Index last, double* out) {
    throw_if_cancelled(task().keep_going);
    points_.rows(first, last, out);
    residual_rows(last - first, last - first, out);
  };
  covariance_ = gram_of_rows<double>(points_.size(), d_, task().threads, fill).products;
  mirror(d_, covariance_);
  covariance_total_ = total();
}

double VectorResiduals::doubt(Index i) const {
  return 4 * rounding_tolerance(d_) * std::sqrt(largest_square() / squares()[at(i)]);
}

bool VectorResiduals::renew() {
  if (covariance_.empty() || total() >= stale * covariance_total_) return false;
  make_covariance();
  return keep_ == Keep::energies;
}

std::vector<double> VectorResiduals::image(std::span<const double> v) const {
  std::vector<double> out;
  if (covariance_.empty()) {
    std::vector<double> x(at(points_.size()));
    products(v, x);
    out = points_.combine(x, task().threads);
  } else {
    out.resize(at(d_));
    multiply_vector(Op::none, {covariance_.data(), d_, d_, d_}, v.data(), out.data());
  }
  project(out, rank());
  return out;
}

void VectorResiduals::products(std::span<const double> v, std::span<double> out) const {
  products(v, {}, out, {});
}

/// x_i = <a_i, v> and, where there is a w, y_i = <a_i, w> in the same visit.
void VectorResiduals::products(std::span<const double> v, std::span<const double> w,
                               std::span<double> x, std::span<double> y) const {
  if (points_.sparse()) {
    points_.project(v, x, task().threads);
    if (!w.empty()) points_.project(w, y, task().threads);
    return;
  }
  Points::Direction to_v, to_w;
  points_.prepare(v, to_v);
  if (!w.empty()) points_.prepare(w, to_w);
  constexpr Index near = 64;  // rows that stay in the cache
  const double work = 2 * static_cast<double>(points_.size()) * static_cast<double>(d_);
  for_blocks(threads_for(task().threads, work), points_.size(),
             [&](Index, Index first, Index last) {
               throw_if_cancelled(task().keep_going);
               if (w.empty()) return points_.project(first, last, to_v, x.data() + first);
               for (Index i = first; i < last; i += near) {
                 const Index end = std::min(last, i + near);
                 points_.project(i, end, to_v, x.data() + i);
                 points_.project(i, end, to_w, y.data() + i);
               }
             });
}

double VectorResiduals::append(Index pick, std::span<double> x, std::span<double> y) {
  std::vector<double> q(at(d_));
  points_.row(pick, q.data());
  project(q, rank());
  const double square = dot(q.data(), q.data(), d_);
  if (square <= floor()) return 0;
  const double norm = std::sqrt(square);
  for (double& v : q) v /= norm;
  if (y.empty()) {
    products(q, x);
  } else if (!covariance_.empty()) {
    products(q, image(q), x, y);
  } else {
    products(q, x);
    std::vector<double> image = points_.combine(x, task().threads);
    project(image, rank());
    products(image, y);
  }
  basis_.insert(basis_.end(), q.begin(), q.end());
  return norm;
}

void VectorResiduals::compute(std::span<const Index> some, double* squares,
                              double* energies) const {
  const auto count = static_cast<Index>(some.size());
  const Index rows = std::min(batch, block_count(points_.size(), 48) * 48);  // see `batch`
  std::vector<double> r(at(rows * d_));
  load(points_, some, r.data());
  residual_rows(count, rows, r.data());
  for (Index b = 0; b < count; ++b) squares[b] = dot(&r[at(b * d_)], &r[at(b * d_)], d_);
  if (!energies) return;
  if (covariance_.empty()) return energies_by_products(count, rows, r.data(), energies);
  std::vector<double> image(r.size());
  multiply(Product<double>{.m = rows,
                           .n = d_,
                           .k = d_,
                           .left = r.data(),
                           .left_stride = d_,
                           .right = covariance_.data(),
                           .right_stride = d_,
                           .out = image.data(),
                           .out_stride = d_});
  for (Index b = 0; b < count; ++b) energies[b] = dot(&r[at(b * d_)], &image[at(b * d_)], d_);
}

/// sum_j <r_b, a_j>^2 for the first `count` of the `height` rows of `residuals`.
void VectorResiduals::energies_by_products(Index count, Index height, const double* residuals,
                                           double* energies) const {
  std::fill(energies, energies + count, 0.0);
  std::vector<double> rows(at(std::min(sweep_rows, points_.size()) * d_)),
      products(at(height * sweep_rows));
  for (Index first = 0; first < points_.size(); first += sweep_rows) {
    throw_if_cancelled(task().keep_going);
    const Index last = std::min(points_.size(), first + sweep_rows), width = last - first;
    points_.rows(first, last, rows.data());
    multiply(Product<double>{.op_b = Op::transpose,
                             .m = height,
                             .n = width,
                             .k = d_,
                             .left = residuals,
                             .left_stride = d_,
                             .right = rows.data(),
                             .right_stride = d_,
                             .out = products.data(),
                             .out_stride = width});
    for (Index b = 0; b < count; ++b)
      energies[b] += dot(&products[at(b * width)], &products[at(b * width)], width);
  }
}

// In the space of a kernel

KernelResiduals::KernelResiduals(const Task& task, Index most, double tolerance, bool energies)
    : Residuals(task, energies),
      kernel_(task.kernel),
      // Entries of K are rounded, and squares are sums of as many of them as there are picks.
      rounding_(4 * std::numeric_limits<double>::epsilon() * static_cast<double>(most)),
      factor_(make_large_array<double>(std::min(most, task.size()) * task.size())) {
  const Index n = task.size();
  if (energies && task.points && n <= held_points) {
    held_ = make_held_kernel(*kernel_, task.threads);
    kernel_ = held_.get();
  }
  std::vector<double> squares(at(n));
  for (Index i = 0; i < n; ++i) squares[at(i)] = kernel_->diagonal(i);
  start(std::move(squares), std::max(tolerance, rounding_));
  if (!energies) return;
  std::vector<double> sums(at(n));
  kernel_->row_squares(sums, task.threads);
  start_energies(std::move(sums));
}

double KernelResiduals::doubt(Index i) const {
  return rounding_ * largest_square() / squares()[at(i)];
}

double KernelResiduals::square_of(Index i) const {
  double square = kernel_->diagonal(i);
  for (Index t = 0; t < rank(); ++t) {
    const double v = factor_[at(t * size() + i)];
    square -= v * v;
  }
  return square;
}

double KernelResiduals::append(Index pick, std::span<double> x, std::span<double> y) {
  const double square = square_of(pick);
  if (square <= floor()) return 0;
  const double norm = std::sqrt(square);
  const Index n = size(), known = rank();
  for_blocks(task().threads, n, [&](Index, Index first, Index last) {
    throw_if_cancelled(task().keep_going);
    const std::vector<double> column =
        kernel_->values(std::vector<Index>{pick}, numbers(first, last));
    std::copy(column.begin(), column.end(), x.begin() + first);
    for (Index t = 0; t < known; ++t) {
      const double* row = factor_.get() + t * n;
      const double at_pick = row[pick];
      for (Index i = first; i < last; ++i) x[at(i)] -= at_pick * row[i];
    }
    for (Index i = first; i < last; ++i) x[at(i)] /= norm;
  });
  x[at(pick)] = norm;
  std::copy(x.begin(), x.end(), factor_.get() + known * n);
  if (y.empty()) return norm;
  kernel_->multiply(x, y, task().threads);
  std::vector<double> along(at(known));
  const int threads =
      threads_for(task().threads, 2 * static_cast<double>(n) * static_cast<double>(known));
  for_tasks(threads, known,
            [&](Index t) { along[at(t)] = dot(factor_.get() + t * n, x.data(), n); });
  for_blocks(threads, n, [&](Index, Index first, Index last) {
    for (Index t = 0; t < known; ++t)
      for (Index i = first; i < last; ++i) y[at(i)] -= along[at(t)] * factor_[at(t * n + i)];
  });
  return norm;
}

void KernelResiduals::compute(std::span<const Index> some, double* squares,
                              double* energies) const {
  for (std::size_t b = 0; b < some.size(); ++b) squares[b] = square_of(some[b]);
  if (energies) energies_by_rows(some, energies);
}

/// Rows of K less those of the factor's product, squared and summed.
void KernelResiduals::energies_by_rows(std::span<const Index> some, double* energies) const {
  const Index n = size(), k = rank(), count = static_cast<Index>(some.size());
  std::vector<double> own(at(batch * k)), rows(at(batch * sweep_rows));
  for (Index b = 0; b < count; ++b)
    for (Index t = 0; t < k; ++t) own[at(b * k + t)] = factor_[at(t * n + some[at(b)])];
  std::fill(energies, energies + count, 0.0);
  for (Index first = 0; first < n; first += sweep_rows) {
    throw_if_cancelled(task().keep_going);
    const Index last = std::min(n, first + sweep_rows), width = last - first;
    const std::vector<double> values = kernel_->values(some, numbers(first, last));
    std::copy(values.begin(), values.end(), rows.begin());
    if (k > 0)
      multiply(Product<double>{.m = batch,
                               .n = width,
                               .k = k,
                               .a = -1,
                               .left = own.data(),
                               .left_stride = k,
                               .right = factor_.get() + first,
                               .right_stride = n,
                               .b = 1,
                               .out = rows.data(),
                               .out_stride = width});
    for (Index b = 0; b < count; ++b)
      energies[b] += dot(&rows[at(b * width)], &rows[at(b * width)], width);
  }
}

// Which, and what it takes

std::unique_ptr<Residuals> make_residuals(const Task& task, Index most, double tolerance,
                                          bool energies) {
  using Keep = VectorResiduals::Keep;
  if (task.linear && task.points)
    return std::make_unique<VectorResiduals>(task, most, tolerance,
                                             energies ? Keep::energies : Keep::squares);
  return std::make_unique<KernelResiduals>(task, most, tolerance, energies);
}

double pass_flops(const Sizes& s) {
  return 16 * s.entries;
}

Cost residuals_cost(const Sizes& s, bool energies) {
  const double numbers = (energies ? 6 : 3) * s.n;
  const double again = s.crew(96) * (s.held(96) * ((energies ? 2 : 1) * s.d + s.k) +
                                     (energies && s.d >= s.n ? s.held(384) * s.d : 0.0));
  if (!s.linear) {
    const bool held = energies && s.n <= static_cast<double>(held_points);
    const double entries = s.n * s.n / 2 * (2 * s.d + 20);  // all of K
    return {.bytes = 8 * (numbers + s.k * s.n + again) + (held ? held_kernel_bytes(s.n, false) : 0),
            .flops = s.k * (pass_flops(s) + s.n * (200 + 60 * s.k)) +
                     (energies ? entries * (held ? 1 : s.k + 1) + 8 * s.k * s.n * s.n : 0),
            .how = !energies ? "holds one column of the kernel matrix for every exemplar"
                   : held    ? "holds half of the kernel matrix and reads it once a step"
                             : "computes the kernel matrix in tiles, once a step"};
  }
  const bool small = s.d < s.n;
  const double covariance = !energies || !small ? 0 : s.d * s.d * (1 + 2 * s.threads);
  return {.bytes = 8 * (numbers + s.k * s.d + again + covariance),
          .flops = s.k * pass_flops(s) * (energies ? (small ? 1.5 : 4) : 1) + 4 * s.k * s.k * s.d +
                   (!energies ? 0
                    : small   ? 3 * s.n * s.d * s.d
                              : 2 * s.n * s.n * s.d),
          .how = !energies ? "one pass over the points a step, and no copy of them"
                 : small ? "holds a matrix of features x features; one pass over the points a step"
                         : "all inner products once, three passes over the points a step"};
}

double rounding_tolerance(Index d) {
  return (32 + std::sqrt(static_cast<double>(d))) * std::numeric_limits<double>::epsilon();
}

Pivots largest_residuals(const Task& task, Index count) {
  const double tolerance = rounding_tolerance(task.linear && task.points ? task.points->dim() : 0);
  const auto residuals = make_residuals(task, count, tolerance, false);
  Pivots pivots;
  while (static_cast<Index>(pivots.points.size()) < count) {
    const Index best = residuals->best([&](Index i) { return residuals->squares()[at(i)]; });
    if (best < 0) break;
    const double norm = residuals->take(best);
    if (norm == 0) continue;
    pivots.points.push_back(best);
    pivots.norms.push_back(norm);
    task.report(static_cast<Index>(pivots.points.size()));
  }
  return pivots;
}

}  // namespace fwsr
