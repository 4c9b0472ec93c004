#include "fwsr/solver/unexplained.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/linalg/projection.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/solver/prepared_problem.hpp"

namespace fwsr {

double Unexplained::of(const std::vector<Index>& exemplars) {
  const bool more = begun_ && known_.size() <= exemplars.size() &&
                    std::equal(known_.begin(), known_.end(), exemplars.begin());
  if (!more) restart(), known_.clear();
  begun_ = true;
  for (std::size_t t = known_.size(); t < exemplars.size(); ++t) add(exemplars[t]);
  known_ = exemplars;
  return share();
}

namespace {

/// Directions that keep less of their norm are rounding.
constexpr double least_direction = 1e-12;

/// tr((I - P) C) = tr C - sum_q q^T C q over orthonormal q.
class UnexplainedInSet final : public Unexplained {
 public:
  UnexplainedInSet(const PreparedProblem& prepared)
      : prepared_(prepared),
        set_(*prepared.set),
        covariance_(set_.covariance(set_.facts().single)),
        dim_(set_.facts().dim),
        d_(set_.facts().features) {
    for (Index l = 0; l < d_; ++l) trace_ += c()[at(l * dim_ + l)];
  }

 private:
  const std::vector<double>& c() const { return covariance_->with_included(); }

  void restart() override {
    rows_.clear();
    explained_ = 0;
    for (const Index i : prepared_.terms.included) add(i);
  }

  void add(Index point) override {
    std::vector<double> a(at(dim_));
    set_.whole_row(point, a.data());
    const double before = std::sqrt(dot(a.data(), a.data(), d_));
    take_away(rows_, {.first = a.data(), .count = 1, .d = d_, .stride = dim_});
    const double norm = std::sqrt(dot(a.data(), a.data(), d_));
    if (norm <= least_direction * before) return;
    for (Index l = 0; l < d_; ++l) a[at(l)] /= norm;
    for (Index l = 0; l < d_; ++l)
      explained_ += a[at(l)] * dot(c().data() + l * dim_, a.data(), d_);
    rows_.insert(rows_.end(), a.begin(), a.begin() + d_);
  }

  double share() const override {
    return trace_ > 0 ? std::max(0.0, trace_ - explained_) / trace_ : 0.0;
  }

  const PreparedProblem& prepared_;
  PointSet& set_;
  std::shared_ptr<const Covariance> covariance_;
  Index dim_, d_;
  std::vector<double> rows_;  // orthonormal
  double trace_ = 0, explained_ = 0;
};

/// Columns of the Cholesky factor of K, exemplar by exemplar: what is left of K_ii is K_ii - ||h_i||^2.
class UnexplainedInKernel final : public Unexplained {
 public:
  UnexplainedInKernel(const PreparedProblem& prepared, int threads)
      : kernel_(prepared.factor ? *prepared.source : prepared.kernel()),
        terms_(prepared.terms),
        threads_(threads),
        all_(at(kernel_.size())) {
    std::iota(all_.begin(), all_.end(), Index{0});
  }

 private:
  void restart() override {
    columns_.clear();
    left_.clear();
    for (const Index i : all_) left_.push_back(kernel_.diagonal(i, Eta::left_out));
    for (const Index i : terms_.included) add(i);
  }

  void add(Index point) override {
    const double size = left_[at(point)];
    if (size <= least_direction * kernel_.diagonal(point, Eta::left_out)) return;
    std::vector<double> column(all_.size());
    for_blocks(threads_, kernel_.size(), [&](Index, Index first, Index last) {
      const std::vector<double> values =
          kernel_.values(std::span<const Index>(all_).subspan(at(first), at(last - first)),
                         {&point, 1}, Eta::left_out);
      for (Index i = first; i < last; ++i) {
        double v = values[at(i - first)];
        for (const std::vector<double>& h : columns_) v -= h[at(i)] * h[at(point)];
        column[at(i)] = v / std::sqrt(size);
        left_[at(i)] -= column[at(i)] * column[at(i)];
      }
    });
    columns_.push_back(std::move(column));
  }

  double share() const override {
    double left = 0, whole = 0;
    for (const Index i : all_) {
      left += terms_.weight(i) * std::max(0.0, left_[at(i)]);
      whole += terms_.weight(i) * kernel_.diagonal(i, Eta::left_out);
    }
    return whole > 0 ? left / whole : 0.0;
  }

  const KernelMatrix& kernel_;
  const Terms& terms_;
  int threads_;
  std::vector<Index> all_;
  std::vector<std::vector<double>> columns_;
  std::vector<double> left_;
};

}  // namespace

std::shared_ptr<Unexplained> make_unexplained(const PreparedProblem& prepared, int threads) {
  if (prepared.set && !prepared.factor) return std::make_shared<UnexplainedInSet>(prepared);
  return std::make_shared<UnexplainedInKernel>(prepared, threads);
}

}  // namespace fwsr
