// What exchange asks of points (exchange.hpp): of those behind a PointSet, whose kernel is the inner product, and of any
// other kernel.
#pragma once

#include <memory>
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

/// The offers of the points at hand. `with`: the exemplars, then the same times C. `r`: of the points at hand.
std::vector<Offer> linear_offers(const Points& points, const ExchangeTables& z, const double* with,
                                 const std::vector<double>& r, int threads,
                                 const KeepGoing& keep_going);

/// The points of a set: two inner products with every exemplar a visit.
class ExchangeInSet final : public ExchangePoints {
 public:
  explicit ExchangeInSet(PointSet& set);
  double trace() const override { return trace_; }
  Index size() const override;
  Among among(std::span<const Index> points) override;
  std::vector<Offer> offers(const ExchangeTables& z) override;

 private:
  PointSet& set_;
  std::shared_ptr<const Covariance> covariance_;
  double trace_ = 0;
};

/// Any kernel: K K_j is held for every exemplar and candidate, n numbers each, and takes a product with K.
class ExchangeInKernel final : public ExchangePoints {
 public:
  /// `known`: products of the kernel that are there already; empty: none.
  ExchangeInKernel(const KernelMatrix& kernel, const KernelProducts& known, int threads,
                   KeepGoing keep_going);
  /// Those of some points. @pre they are held: exemplars that `exchange` answered
  KernelProducts products_of(const std::vector<Index>& points) const;
  double trace() const override { return trace_; }
  Index size() const override { return kernel_.size(); }
  Among among(std::span<const Index> points) override;
  std::vector<Offer> offers(const ExchangeTables& z) override;

 private:
  void hold(std::span<const Index> points);
  void multiply_columns(std::span<const Index> columns);

  const KernelMatrix& kernel_;
  std::vector<double> r_;
  int threads_;
  KeepGoing keep_going_;
  double trace_ = 0;
  std::unordered_map<Index, std::vector<double>> products_;  // K K_j by j
};

}  // namespace fwsr
