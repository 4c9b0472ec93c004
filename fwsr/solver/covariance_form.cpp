#include "fwsr/solver/covariance_form.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/pass.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/solver/scores.hpp"

namespace fwsr {

namespace {

/// Scores that differ by more than this, relatively, from their exact value are computed anew.
constexpr double drift_double = 1e-6;
constexpr double drift_single = 1e-3;
/// Below this part of f(0), or when what they may have done to r is more than this part of the best score, float32 products
/// no longer carry the picks. Rounding does some hundredth of what it may do.
constexpr double single_enough = 1e-4;
constexpr double single_known = 1e-3;

double trace_of(const std::vector<double>& square, Index d) {
  double sum = 0;
  for (Index l = 0; l < d; ++l) sum += square[at(l * d + l)];
  return sum;
}

}  // namespace

CovarianceForm::CovarianceForm(PointSet& points, bool single, int threads)
    : points_(points),
      threads_(threads),
      dim_(points.facts().dim),
      covariance_(points.covariance(single)),
      trace_(trace_of(covariance_->c, dim_)),
      e_(dim_),
      run_(points.begin(*covariance_)),
      f_(trace_),
      f_at_zero_(trace_),
      a_(at(dim_)),
      w_(at(padded_length(dim_))),
      cw_(at(dim_)),
      av_(at(dim_)),
      rv_(at(dim_)),
      tr_ec_(trace_) {}

/// Scores, and f = tr E C E^T, from E itself.
void CovarianceForm::recompute() {
  const std::vector<double> e = e_.dense();
  rescore(e);
  std::vector<double> ec(at(dim_ * dim_));
  multiply(Product<double>{.m = dim_,
                           .n = dim_,
                           .k = dim_,
                           .left = e.data(),
                           .left_stride = dim_,
                           .right = covariance_->c.data(),
                           .right_stride = dim_,
                           .out = ec.data(),
                           .out_stride = dim_});
  f_ = tr_ec_ = 0;
  for (Index l = 0; l < dim_; ++l) {
    f_ += dot(ec.data() + l * dim_, e.data() + l * dim_, dim_);
    tr_ec_ += ec[at(l * dim_ + l)];
  }
}

/// The scores from E, or, where nobody looks at them yet, a note of it: what was before does not matter any more.
void CovarianceForm::rescore(const std::vector<double>& e) {
  if (!recalling_) return run_->rescore(*covariance_, e);
  unseen_e_ = e;
  unseen_.clear();
}

/// nu^2 of point j from E itself; leaves a_j, w and C w behind.
double CovarianceForm::exact_score(Index j) {
  points_.row(j, a_.data());
  e_.apply_transposed(a_.data(), w_.data());
  constexpr Index rows_at_once = 64;
  const double* c = covariance_->c.data();
  const auto work = 2.0 * static_cast<double>(dim_) * static_cast<double>(dim_);
  for_own_blocks(
      threads_for(threads_, work), dim_,
      [&](Index, Index first, Index last) {
        const double* rows[rows_at_once];
        for (Index r = first; r < last; ++r) rows[r - first] = c + r * dim_;
        dots(Rows<double>{.rows = rows, .count = last - first, .d = dim_}, w_.data(),
             cw_.data() + first);
      },
      rows_at_once);
  return square_ = std::max(0.0, dot(w_.data(), cw_.data(), dim_));
}

void CovarianceForm::refine() {
  if (!covariance_->single) return;
  if (f_ >= single_enough * f_at_zero_ && covariance_->r_error <= single_known * square_) return;
  covariance_.reset();
  covariance_ = points_.covariance(false);
  trace_ = trace_of(covariance_->c, dim_);
  recompute();
}

Pick CovarianceForm::best() {
  const double tie = covariance_->single ? tie_single : tie_double;
  const double drift = covariance_->single ? drift_single : drift_double;
  PointRun::Leader leader = run_->leader(tie);
  double square = exact_score(leader.point);
  rescored_ = false;
  if (std::abs(square - leader.square) > drift * square) {
    recompute();
    rescored_ = true;
    leader = run_->leader(tie);
    square = exact_score(leader.point);
  }
  return {.point = leader.point, .score = std::sqrt(square)};
}

Pick CovarianceForm::recall(Index point, bool rescored) {
  recalling_ = true;
  rescored_ = rescored;
  if (rescored) recompute();
  return {.point = point, .score = std::sqrt(exact_score(point))};
}

void CovarianceForm::step_unseen(const Pick& pick, double gamma, double length) {
  const PointUpdate update = before_pass(pick, gamma, length);
  unseen_.push_back({.a = a_, .av = av_, .rv = rv_, .step = update.step});
  after_pass(pick, gamma, length);
}

void CovarianceForm::catch_up() {
  if (!recalling_) return;
  recalling_ = false;
  if (unseen_e_) run_->rescore(*covariance_, *unseen_e_);
  unseen_e_.reset();
  std::vector<PointUpdate> updates;
  for (const Unseen& u : unseen_)
    updates.push_back({.run = run_.get(),
                       .covariance = covariance_.get(),
                       .a = u.a,
                       .av = u.av,
                       .rv = u.rv,
                       .step = u.step});
  points_.advance_in_turn(updates);
  unseen_.clear();
}

/// FNV-1a over the bytes of a_j.
std::uint64_t CovarianceForm::mark_of_pick() const {
  std::uint64_t mark = 0xcbf29ce484222325;
  for (const std::byte b : std::as_bytes(std::span(a_)))
    mark = (mark ^ std::to_integer<std::uint64_t>(b)) * 0x100000001b3;
  return mark;
}

Probe CovarianceForm::probe(const Pick& pick) {
  const double nu = pick.score;
  for (Index l = 0; l < dim_; ++l) av_[at(l)] = nu > 0 ? cw_[at(l)] / nu : 0.0;
  e_.apply(av_.data(), rv_.data());
  const double cross = dot(a_.data(), av_.data(), dim_) - dot(a_.data(), rv_.data(), dim_);
  return {.score = nu,
          .self = dot(a_.data(), a_.data(), dim_),
          .cross = cross,
          .xp = tr_ec_ - f_,
          .xkx = trace_ - 2 * tr_ec_ + f_};
}

PointUpdate CovarianceForm::before_pass(const Pick& pick, double gamma, double length) {
  probe_ = probe(pick);
  return {.run = run_.get(),
          .covariance = covariance_.get(),
          .a = a_,
          .av = av_,
          .rv = rv_,
          .step = {.gamma = gamma, .length = length}};
}

void CovarianceForm::after_pass(const Pick& pick, double gamma, double length) {
  const Probe& q = probe_;
  f_ += change_of_objective(q, gamma, length);
  const double factor = pick.score > 0 ? length / pick.score : 0.0;
  tr_ec_ = (1 - gamma) * tr_ec_ + gamma * trace_ - factor * dot(a_.data(), cw_.data(), dim_);
  e_.step(pick.point, a_.data(), w_.data(), gamma, factor);
}

void CovarianceForm::step(const Pick& pick, double gamma, double length) {
  const PointUpdate update = before_pass(pick, gamma, length);
  points_.advance({&update, 1});
  after_pass(pick, gamma, length);
}

}  // namespace fwsr
