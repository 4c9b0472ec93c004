#include "fwsr/solver/fill.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/base/finite.hpp"
#include "fwsr/solver/distances.hpp"
#include "fwsr/solver/open_rows.hpp"

namespace fwsr {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Codes of n points over more exemplars: the new columns are zero.
void widen(std::vector<double>& codes, std::size_t n, std::size_t from, std::size_t to) {
  std::vector<double> wide(n * to, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t t = 0; t < from; ++t) wide[i * to + t] = codes[i * from + t];
  codes = std::move(wide);
}

class DistancesInKernel final : public PointDistances {
 public:
  DistancesInKernel(const KernelMatrix& kernel, int threads)
      : kernel_(kernel),
        threads_(threads),
        least_(at(kernel.size()), infinity),
        column_(least_.size()) {}

  void lower(std::span<const Index> exemplars) override {
    for (const Index t : exemplars) {  // ||a_i - a_t||^2 = K_ii + K_tt - 2 K_it
      kernel_.column(t, column_);
      const double self = kernel_.diagonal(t);
      for_blocks(threads_, kernel_.size(), [&](Index, Index first, Index last) {
        for (Index i = first; i < last; ++i) {
          const double squares = kernel_.diagonal(i) + self, square = squares - 2 * column_[at(i)];
          least_[at(i)] = std::min(least_[at(i)], square < rounding * squares ? 0 : square);
        }
      });
      least_[at(t)] = -infinity;  // never again
    }
  }
  void permit(std::span<const double> prices) override {
    prices_.assign(prices.begin(), prices.end());
  }
  Index farthest() override {
    double most = -infinity;
    for (std::size_t i = 0; i < least_.size(); ++i)
      if (may(i) && most < least_[i]) most = least_[i];
    if (most == -infinity) return -1;
    // Where anything is known to be apart, what is not is no tie.
    const auto enough = [&](std::size_t i) {
      const double width = rounding * (kernel_.diagonal(static_cast<Index>(i)) + least_[i]);
      return least_[i] >= most || (least_[i] > 0 && least_[i] + width >= most);
    };
    std::size_t next = 0;
    while (!(may(next) && enough(next))) ++next;
    return static_cast<Index>(next);
  }

 private:
  static constexpr double rounding =
      1e-12;  // of the squared norms: what is known of squared distances

  bool may(std::size_t i) const { return prices_.empty() || prices_[i] > 0; }

  const KernelMatrix& kernel_;
  int threads_;
  std::vector<double> least_, column_, prices_;
};

/// Of points that are all here.
class DistancesHere final : public PointDistances {
 public:
  DistancesHere(const Points& points, int threads)
      : points_(points), threads_(threads), own_(points, all_, 0) {}

  void lower(std::span<const Index> exemplars) override {
    std::vector<double> rows(exemplars.size() * at(points_.dim())), squares;
    for (std::size_t t = 0; t < exemplars.size(); ++t) {
      points_.row(exemplars[t], rows.data() + t * at(points_.dim()));
      squares.push_back(points_.squared_norm(exemplars[t]));
    }
    own_.lower(
        {.exemplars = {exemplars.begin(), exemplars.end()}, .rows = rows, .squares = squares},
        threads_);
  }
  void permit(std::span<const double> prices) override { own_.permit(prices); }
  Index farthest() override {
    const double most = own_.largest();
    return most == -infinity ? -1 : own_.first(most).point;
  }

 private:
  const Points& points_;
  int threads_;
  const Terms all_;  // may be added
  Distances own_;
};

/// Prices of all points, 0 for those that may not be added: asked before each that is, and answered where they have
/// changed. Null: all may.
using MayBeAdded = std::function<std::optional<std::span<const double>>()>;

/// Until there are `wanted` in all.
void fill_up(PointDistances& distances, Index wanted, Selection& selection,
             const MayBeAdded& open = {}) {
  distances.lower(selection.exemplars);
  while (static_cast<Index>(selection.exemplars.size()) < wanted) {
    if (open)
      if (const auto prices = open()) distances.permit(*prices);
    const Index next = distances.farthest();
    if (next < 0 && open) break;  // nobody is left
    if (next < 0) throw_not_finite();
    selection.exemplars.push_back(next);
    selection.strength.push_back(0);
    selection.filled.push_back(true);
    selection.included.push_back(false);
    if (static_cast<Index>(selection.exemplars.size()) < wanted) distances.lower({&next, 1});
  }
}

}  // namespace

std::unique_ptr<PointDistances> distances_in(const KernelMatrix& kernel, const Points* linear,
                                             int threads) {
  if (linear) return std::make_unique<DistancesHere>(*linear, threads);
  return std::make_unique<DistancesInKernel>(kernel, threads);
}

bool fill_short_answer(Index n, const std::function<std::unique_ptr<PointDistances>()>& distances,
                       const SelectOptions& o, const Terms& terms, Selection& selection) {
  const auto included = static_cast<Index>(terms.included.size());
  const auto found = static_cast<Index>(selection.exemplars.size());
  if (found - included >= o.exemplars) return false;
  OpenRows rows(o, terms, n);
  const auto chosen = [&] {
    return std::vector<Index>(selection.exemplars.begin() + included, selection.exemplars.end());
  };
  const auto missing = [&] { return missing_of_floors(o.conditions, chosen()); };
  const bool enough = !o.fill || selection.status == Status::error_reached;
  if (enough && missing() == 0) return false;
  if (!rows.conditional()) {
    fill_up(*distances(), o.exemplars, selection);
  } else {
    // Without `fill` only what the floors lack: the rule of the last few holds from the start.
    SelectOptions only = o;
    if (enough) only.exemplars = found - included + missing();
    rows = OpenRows(only, terms, n);
    fill_up(*distances(), included + only.exemplars, selection,
            [&]() -> std::optional<std::span<const double>> {
              if (!rows.update(chosen())) return std::nullopt;
              return rows.prices();
            });
  }
  if (o.codes) widen(selection.codes, at(n), at(found), selection.exemplars.size());
  return std::ssize(selection.exemplars) > found;
}

}  // namespace fwsr
