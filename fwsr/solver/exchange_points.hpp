// What exchange asks of points (exchange.hpp): of those behind a PointSet, whose kernel is the inner product, and of any
// other kernel.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/kernel/kernel_matrix.hpp"
#include "fwsr/prep/points.hpp"
#include "fwsr/solver/covariance.hpp"
#include "fwsr/solver/exchange.hpp"
#include "fwsr/solver/run_products.hpp"

namespace fwsr {

class PointSet;

/// rows C, for rows of `dim` numbers.
std::vector<double> times_covariance(const std::vector<double>& rows, const std::vector<double>& c,
                                     Index dim);

/// Candidates at hand, and what is known of them.
struct OfferedPoints {
  const Points& candidates;
  const Terms& terms;  // of the points at hand, ...
  Index before = 0;    // ... which are behind so many others
  const std::vector<double>& r;
  const std::vector<double>& left;  // of ||a_i||^2 beyond what is included; empty: all of it
};
/// Their offers. `with`: the exemplars, less what is included takes of them, then the same times C.
std::vector<Offer> linear_offers(const OfferedPoints& offered, const ExchangeTables& z,
                                 const double* with, int threads, const KeepGoing& keep_going);

/// ||a_i||^2 less what orthonormal vectors of dim() numbers take of it.
std::vector<double> squares_left(const Points& points, std::span<const double> orthonormal,
                                 int threads, const KeepGoing& keep_going);

/// The points of a set: two inner products with every exemplar a visit.
class ExchangeInSet final : public ExchangePoints {
 public:
  /// @pre the set was narrowed to these terms
  ExchangeInSet(PointSet& set, const Terms& terms, int threads);
  double trace() const override { return trace_; }
  double whole() const override { return whole_; }
  double weight() const override { return weight_; }
  Among among(std::span<const Index> points) override;
  std::vector<Offer> offers(const ExchangeTables& z) override;

 private:
  PointSet& set_;
  int threads_;
  std::shared_ptr<const Covariance> covariance_;
  double trace_ = 0, whole_ = 0, weight_ = 0;
};

/// A kernel, and what is asked of its points.
struct KernelToExchange {
  const KernelMatrix& left;   // what the included exemplars leave of ...
  const KernelMatrix& whole;  // ... this
  const Terms& terms;
};

/// Any kernel: K S K_j is held for every exemplar and candidate, n numbers each, and takes a product with K.
class ExchangeInKernel final : public ExchangePoints {
 public:
  /// `known`: products of the kernel that is left that are there already; empty: none.
  ExchangeInKernel(const KernelToExchange& kernel, KernelProducts known, int threads,
                   KeepGoing keep_going);
  /// Those of some points. None: not all are held, as when `exchange` was interrupted while others took their place.
  std::optional<KernelProducts> products_of(const std::vector<Index>& points) const;
  double trace() const override { return trace_; }
  double whole() const override { return whole_; }
  double weight() const override { return terms_.weight_of_all(kernel_.size()); }
  Among among(std::span<const Index> points) override;
  std::vector<Offer> offers(const ExchangeTables& z) override;

 private:
  void hold(std::span<const Index> points);
  void multiply_columns(std::span<const Index> columns);

  const KernelMatrix& kernel_;
  const Terms& terms_;
  std::vector<double> r_;
  int threads_;
  KeepGoing keep_going_;
  double trace_ = 0, whole_ = 0;
  std::unordered_map<Index, std::vector<double>> products_;  // K S K_j by j
  std::vector<Index> kept_;                                  // those that were known
};

}  // namespace fwsr
