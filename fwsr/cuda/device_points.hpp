// Points in the memory of a card, as the algorithm sees them: what prep/points.hpp is for those in the memory of the
// processor. They answer the same questions about themselves (prep/statistics.hpp).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/cuda/device.hpp"
#include "fwsr/cuda/rows.hpp"
#include "fwsr/cuda/stored.hpp"
#include "fwsr/prep/copies.hpp"
#include "fwsr/prep/preprocessing.hpp"
#include "fwsr/prep/statistics.hpp"

namespace fwsr::cuda {

class DevicePoints {
 public:
  /// `subset`: rows of `stored`; empty: all. They know nothing of themselves until they have been asked.
  DevicePoints(Device& device, std::shared_ptr<const Stored> stored, std::span<const Index> subset,
               const Preprocessing& prep);
  /// The same with another eta, before they have learnt their scale.
  DevicePoints(const DevicePoints& other, double eta, bool eta_relative);
  /// Some of the points of `other`, in this order, as they are there. @pre at least one
  DevicePoints(const DevicePoints& other, std::span<const Index> some);

  ScanPoints::Reply answer(const ScanPoints& question);
  SumFeatures::Reply answer(const SumFeatures& question);
  FindNumbers::Reply answer(const FindNumbers& question);
  FindHuge::Reply answer(const FindHuge& question);
  DropConstant::Reply answer(const DropConstant& question);
  Told answer(const NormalizePoints& question);
  SumSquares::Reply answer(const SumSquares& question);
  Told answer(const SetScale& question);

  PointsShape shape() const {
    return {.size = size_, .features = stored_->features, .sparse = false, .single = single()};
  }
  Index size() const { return size_; }
  Index features() const { return stored_->features; }
  Index dim() const { return features() + (eta_ != 0 ? 1 : 0); }
  bool single() const { return stored_->number != Number::float64; }
  double eta() const { return eta_; }
  double scale_against(const DevicePoints& other) const { return common_ / other.common_; }

  /// Whether they are in the memory of this machine, one after the other.
  bool streamed() const { return stored_->on_host && subset_.empty(); }
  /// As kernels see them; good as long as the points are not asked anything more about themselves.
  Rows rows() const;
  /// ||a_i||^2 without eta, of every point, on the card.
  const double* squares() const { return squares_.get(); }
  double norm_of_means() const { return means_norm_; }

  /// a_i of some points, dim() numbers each, with squares and what centring took.
  struct Few {
    std::vector<double> rows, squares, taken_away;
    std::vector<double> numbers;  // as PointCopies has them
  };
  Few few(std::span<const Index> which) const;
  PointCopies copies(std::span<const Index> which) const;

 private:
  void adopt(const Common& common);
  Array<double> clone(const Array<double>& from) const;
  Array<double> gathered(const Array<double>& from, const Array<Index>& places) const;
  std::vector<double> some_of(const Array<double>& numbers, std::span<const Index> which,
                              double otherwise) const;
  std::vector<double> stored_of(std::span<const Index> which) const;
  [[noreturn]] void refuse_not_finite(Index i) const;
  Index source(Index i) const { return subset_.empty() ? i : subset_[static_cast<std::size_t>(i)]; }

  Device& device_;
  std::shared_ptr<const Stored> stored_;
  std::vector<Index> subset_;
  Array<Index> sources_;  // the same, on the card
  Index size_;
  Preprocessing prep_;
  double scale_ = 1, common_ = 1, unit_ = 1, eta_ = 0, rms_norm_ = 0, means_norm_ = 0;
  Common shared_;                       // weights and means as they were told
  Array<double> weights_, means_;       // of the features, or empty
  Array<double> inner_, mean_, outer_;  // of the points, or empty
  Array<double> squares_;
};

}  // namespace fwsr::cuda
