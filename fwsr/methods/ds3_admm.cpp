#include "fwsr/methods/ds3_admm.hpp"

#include <algorithm>
#include <cmath>

#include "fwsr/base/at.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/methods/row_choice.hpp"
#include "fwsr/methods/water_level.hpp"

namespace fwsr {

namespace {

constexpr Index rows_at_once = 16;
constexpr Index columns_at_once = 64;
constexpr Index steps_a_check = 10;
constexpr double omega = 1.6;
/// rho / (lambda / ||1||_p'), p' the dual exponent of a row of ones: thresholds of a third of a full row.
constexpr double first_rho = 3;
constexpr double first_alpha = 20;  // when nobody says
constexpr double nothing = 1e-9;

double positive(double v) {
  return v > 0 ? v : 0.0;
}

double p_norm(const double* a, Index n, bool infinite) {
  return infinite ? largest(a, n) : std::sqrt(dot(a, a, n));  // a >= 0
}

}  // namespace

Ds3Admm::Ds3Admm(const DistanceMatrix<double>& d, Index n, const Ds3Options& options)
    : d_(d),
      n_(n),
      options_(options),
      infinite_(options.infinite),
      w_(make_large_array<double>(n_ * n_)),
      theta_(at(n_), 0.0),
      levels_(at(n_), -std::numeric_limits<double>::infinity()),
      caps_(at(n_), 0.0),
      used_(at(n_), 0),
      norms_(at(n_), 0.0) {}

void Ds3Admm::row_of_y(Index i, double* out) const {
  const double* const w = w_.get() + i * n_;
  const double* const theta = theta_.data();
  for (Index j = 0; j < n_; ++j) out[j] = positive(w[j] - theta[j]);
}

/// x <- prox of lambda / rho ||.||_p on x >= 0.
void Ds3Admm::represent(double* x, Index i) {
  const double mass = lambda_ / rho_;
  for (Index j = 0; j < n_; ++j) x[j] = positive(x[j]);
  if (infinite_) {
    const double cap = std::max(0.0, level(x, n_, mass, true, caps_[at(i)]));
    caps_[at(i)] = cap;
    for (Index j = 0; j < n_; ++j) x[j] = x[j] < cap ? x[j] : cap;
  } else {
    const double norm = std::sqrt(dot(x, x, n_));
    const double keep = norm > mass ? 1 - mass / norm : 0.0;
    for (Index j = 0; j < n_; ++j) x[j] *= keep;
  }
}

/// work(i, room, part) for every row; `room` has place for two. The parts are put together in order.
template <class Work>
Ds3Admm::Part Ds3Admm::over_rows(Work&& work) {
  std::vector<Part> parts(at(block_count(n_, rows_at_once)));
  std::vector<std::vector<double>> rooms(at(std::max(1, options_.threads)));
  for_blocks(
      threads_for(options_.threads, 4 * static_cast<double>(n_) * static_cast<double>(n_)), n_,
      [&](int thread, Index b, Index first, Index last) {
        throw_if_cancelled(options_.keep_going);
        rooms[at(thread)].resize(at(2 * n_));
        for (Index i = first; i < last; ++i) work(i, rooms[at(thread)].data(), parts[at(b)]);
      },
      rows_at_once);
  Part all;
  for (const Part& part : parts) {
    all.objective += part.objective;
    all.fit += part.fit;
    all.moved += part.moved;
    all.shift = std::max(all.shift, part.shift);
  }
  return all;
}

void Ds3Admm::update_rows() {
  const Part all = over_rows([&](Index i, double* room, Part& part) {
    double *const y = room, *const x = room + n_, *const w = w_.get() + i * n_;
    const double* const d = d_.row(i);
    row_of_y(i, y);
    const double inverse = 1 / rho_;
    for (Index j = 0; j < n_; ++j) x[j] = 2 * y[j] - w[j] - d[j] * inverse;
    represent(x, i);
    used_[at(i)] = largest(x, n_) > 0;
    part.moved += squared_distance(x, y, n_);
    for (Index j = 0; j < n_; ++j) w[j] += omega * (x[j] - y[j]);
  });
  residual_ = std::sqrt(all.moved / static_cast<double>(n_));
}

/// theta of columns first .. last: sum_i (w_ij - theta_j)_+ = 1. One of Newton's steps from the last theta
/// leads below the root; what is above that, as a rule little, is copied, and the other steps are taken there.
void Ds3Admm::project_tile(std::vector<double>& above, Index first, Index last) {
  const Index columns = last - first;
  double sum[columns_at_once] = {}, count[columns_at_once] = {}, least[columns_at_once];
  std::fill_n(least, columns_at_once, std::numeric_limits<double>::infinity());
  double* const theta = theta_.data() + first;
  for (Index i = 0; i < n_; ++i) {
    const double* const w = w_.get() + i * n_ + first;
    for (Index c = 0; c < columns; ++c) {
      const double more = w[c] - theta[c];
      sum[c] += positive(more);
      count[c] += more > 0 ? 1.0 : 0.0;
      least[c] = w[c] < least[c] ? w[c] : least[c];
    }
  }
  for (Index c = 0; c < columns; ++c)
    theta[c] = count[c] > 0 ? theta[c] + (sum[c] - 1) / count[c] : least[c] - 1;
  Index found[columns_at_once] = {};
  for (Index i = 0; i < n_; ++i) {
    const double* const w = w_.get() + i * n_ + first;
    for (Index c = 0; c < columns; ++c)
      if (w[c] > theta[c]) above[at(c * n_ + found[c]++)] = w[c];
  }
  for (Index c = 0; c < columns; ++c)
    theta[c] = level(above.data() + c * n_, found[c], 1, true, theta[c]);
}

void Ds3Admm::project_columns() {
  std::vector<std::vector<double>> rooms(at(std::max(1, options_.threads)));
  for_blocks(
      threads_for(options_.threads, 4 * static_cast<double>(n_) * static_cast<double>(n_)), n_,
      [&](int thread, Index, Index first, Index last) {
        throw_if_cancelled(options_.keep_going);
        rooms[at(thread)].resize(at(columns_at_once * n_));
        project_tile(rooms[at(thread)], first, last);
      },
      columns_at_once);
}

/// Both bounds; true when they are near enough.
bool Ds3Admm::check() {
  const Part all = over_rows([&](Index i, double* room, Part& part) {
    const double* const d = d_.row(i);
    row_of_y(i, room);
    norms_[at(i)] = p_norm(room, n_, infinite_);
    const double fit = dot(d, room, n_);
    part.fit += fit;
    part.objective += lambda_ * norms_[at(i)] + fit;
    for (Index j = 0; j < n_; ++j) room[j] = -rho_ * theta_[at(j)] - d[j];
    levels_[at(i)] = level(room, n_, lambda_, infinite_, levels_[at(i)]);
    part.shift = std::max(part.shift, levels_[at(i)]);
  });
  objective_ = all.objective;
  fit_ = all.fit;
  double bound = 0;
  for (const double t : theta_) bound += -rho_ * t - all.shift;
  bound_ = std::max(bound_, bound);
  return objective_ - bound_ <= options_.tolerance * objective_;
}

std::vector<Index> Ds3Admm::rows_in_order() const {
  std::vector<double> norms = norms_;
  for (Index i = 0; i < n_; ++i)
    if (!used_[at(i)]) norms[at(i)] = 0;
  const std::vector<Index> both = rows_by_norm(norms);
  return both.empty() ? rows_by_norm(norms_) : both;
}

/// Nothing is left to gain from more rows, or there are as many as asked for.
bool Ds3Admm::enough_rows() const {
  const auto rows = static_cast<Index>(rows_in_order().size());
  return rows >= std::min(options_.rows, n_) || fit_ <= nothing * options_.most_lambda;
}

/// With half of rho too, so that the unscaled dual variables stay: U = w + D / rho - Y is twice what it was.
void Ds3Admm::halve_lambda() {
  over_rows([&](Index i, double* y, Part&) {
    row_of_y(i, y);
    double* const w = w_.get() + i * n_;
    for (Index j = 0; j < n_; ++j) w[j] = 2 * w[j] - y[j];
  });
  alpha_ *= 2, lambda_ /= 2, rho_ /= 2;
  bound_ = -std::numeric_limits<double>::infinity();
}

double Ds3Admm::gap() const {
  return std::max(0.0, objective_ - bound_);
}

void Ds3Admm::begin() {
  alpha_ = options_.alpha > 0 ? std::max(1.0, options_.alpha) : first_alpha;
  lambda_ = options_.most_lambda / alpha_;
  const auto n = static_cast<double>(n_);
  rho_ = first_rho * lambda_ / (infinite_ ? n : std::sqrt(n));
  for_blocks(options_.threads, n_, [&](Index, Index first, Index last) {
    for (Index i = first; i < last; ++i)
      for (Index j = 0; j < n_; ++j) w_[at(i * n_ + j)] = 1 / n - d_.row(i)[j] / rho_;
  });
}

void Ds3Admm::run() {
  begin();
  for (;;) {
    project_columns();
    const bool last = iterations_ >= options_.max_iterations;
    if (iterations_ > 0 && (last || iterations_ % steps_a_check == 0) && (check() || last)) {
      if (last || options_.alpha > 0 || enough_rows()) return;
      halve_lambda();
      project_columns();
    }
    update_rows();
    ++iterations_;
  }
}

}  // namespace fwsr
