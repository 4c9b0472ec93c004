// Points in the memory of a card, as the algorithm sees them: what prep/points.hpp is for those in the memory of the
// processor. They answer the same questions about themselves (prep/statistics.hpp).
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/index.hpp"
#include "fwsr/cuda/brought_rows.hpp"
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
  /// `threads`: that read those in a file.
  DevicePoints(Device& device, std::shared_ptr<const Stored> stored, std::span<const Index> subset,
               const Preprocessing& prep, int threads = 1);
  /// Some of more points. `rows_before`: rows of the data that are in other places, for messages.
  DevicePoints(Device& device, std::shared_ptr<const Stored> stored, std::span<const Index> subset,
               const Preprocessing& prep, const Portion& portion, Index rows_before,
               int threads = 1);
  /// The same with another eta, before they have learnt their scale.
  DevicePoints(const DevicePoints& other, double eta, bool eta_relative);
  /// Some of the points of `other`, or none, in this order, as they are there.
  DevicePoints(const DevicePoints& other, std::span<const Index> some);

  ScanPoints::Reply answer(const ScanPoints& question);
  SumFeatures::Reply answer(const SumFeatures& question);
  FindNumbers::Reply answer(const FindNumbers& question);
  FindHuge::Reply answer(const FindHuge& question);
  DropConstant::Reply answer(const DropConstant& question);
  Told answer(const NormalizePoints& question);
  SumSquares::Reply answer(const SumSquares& question);
  Told answer(const SetScale& question);

  /// Which they are of all points, where those are in several places.
  const Portion& portion() const { return portion_; }
  PointsShape shape() const {
    return {.size = size_, .features = stored_->features, .sparse = false, .single = single()};
  }
  Index size() const { return size_; }
  Index features() const { return stored_->features; }
  Index dim() const { return features() + (eta_ != 0 ? 1 : 0); }
  bool single() const { return stored_->number != Number::float64; }
  double eta() const { return eta_; }
  double scale_against(const DevicePoints& other) const { return common_ / other.common_; }

  /// As kernels see them; good as long as the points are not asked anything more about themselves. Those that are not on
  /// the card (`brought`) have no numbers here.
  Rows rows() const;
  /// Whether they are brought to the card when they are needed, so many at a time; 0: they are there.
  Index brought() const { return brought_ ? brought_->at_once() : 0; }
  /// Whether kernels can read a row of theirs, be it in the memory of this machine.
  bool readable() const { return stored_->data != nullptr; }
  /// Calls work(rows) with points first .. last, for what it asks of `stream`. @pre last - first <= brought()
  template <class Work>
  void with_part(Index first, Index last, cudaStream_t stream, Work&& work) const {
    Rows part = part_of(rows(), first, last - first);
    if (!brought_) return work(part);
    part.data = brought_->bring(subset_, first, last, stream);
    part.source = nullptr;
    work(part);
    brought_->done(stream);
  }
  /// Calls work(rows, first) for all points, as many at a time as are brought.
  template <class Work>
  void for_parts(cudaStream_t stream, Work&& work) const {
    const Index at_once = brought_ ? brought_->at_once() : size_;
    for (Index first = 0; first < size_; first += at_once)
      with_part(first, std::min(size_, first + at_once), stream,
                [&](const Rows& rows) { work(rows, first); });
  }
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
  /// a_i of some points on the card, and behind each what it has for itself (launch_gather).
  void gather(std::span<const Index> which, double* out) const;

 private:
  void adopt(const Common& common);
  Array<double> clone(const Array<double>& from) const;
  Array<double> gathered(const Array<double>& from, const Array<Index>& places) const;
  std::vector<double> some_of(const Array<double>& numbers, std::span<const Index> which,
                              double otherwise) const;
  std::vector<double> stored_of(std::span<const Index> which) const;
  /// Some rows as they are stored, fetched.
  Array<unsigned char> fetched(std::span<const Index> which) const;
  [[noreturn]] void refuse_not_finite(Index i) const;
  /// Where point i stands in the caller's data.
  Index reported(Index i) const { return rows_before_ + source(i); }
  Index source(Index i) const { return subset_.empty() ? i : subset_[static_cast<std::size_t>(i)]; }

  Device& device_;
  std::shared_ptr<const Stored> stored_;
  std::vector<Index> subset_;
  Array<Index> sources_;  // the same, on the card
  std::shared_ptr<BroughtRows> brought_;
  Index size_;
  Portion portion_;
  Index rows_before_ = 0;
  Preprocessing prep_;
  double scale_ = 1, common_ = 1, unit_ = 1, eta_ = 0, rms_norm_ = 0, means_norm_ = 0;
  Common shared_;                       // weights and means as they were told
  Array<double> weights_, means_;       // of the features, or empty
  Array<double> inner_, mean_, outer_;  // of the points, or empty
  Array<double> squares_;
};

}  // namespace fwsr::cuda
