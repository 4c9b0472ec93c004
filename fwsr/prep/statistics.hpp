// What all points have in common - one scale, means, weights, the weight of eta - is learnt from sums and maxima, which
// can be added up: portions of the points that live in different places tell each their own, and are told what all have
// found. A question is a struct here; Points::answer (points.hpp) answers it for the points at hand, and `learn` asks.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/prep/marks.hpp"
#include "fwsr/prep/preprocessing.hpp"

namespace fwsr {

/// What can be said of points before any of them is met. `size`: of all, wherever they are.
struct PointsShape {
  Index size = 0, features = 0;
  bool sparse = false, single = false;
};

/// How often dense points are looked at until all is learnt.
Index visits_to_learn(const Preprocessing& prep, bool single);

/// What all points share (points.hpp), as far as it is known.
struct Common {
  double scale = 1;
  std::vector<double> weights, means;  // one for each feature, padded with zeros; or empty
};

struct Told {};  // of questions that only tell something

/// Refuses what is not finite. `numbers`: mean and squares of every point are kept in the same visit.
struct ScanPoints {
  bool numbers = false;
  struct Reply {
    double largest = 0;        // |x|
    double largest_other = 0;  // |x| in rows that are not of one value
    std::vector<ConstantRows>
        records;  // rows of one value, each with a larger one than those before
  };
};

/// Sums of every feature over the points.
struct SumFeatures {
  enum class Of {
    beyond_means,  // scaled points less the means
    deviations,  // their squared deviations, how many numbers are stored, and the sum of deviations
  };
  Of of = Of::beyond_means;
  Common common;
  using Reply = SegmentSums<std::vector<double>>;
};

/// The numbers that every point has for itself: 1 / norm, mean, squared norm. `scanned`: known from the scan.
struct FindNumbers {
  Common common;
  bool scanned = false;
  struct Reply {
    std::vector<double> some;  // squared norms, evenly spread over all points (typical.hpp)
    double largest = 0;
  };
};

/// The first point that is so much longer than most that they are nothing beside it.
struct FindHuge {
  double median = 0;  // of squared norms
  struct Reply {
    Index point = -1, feature = 0;
    double value = 0, square = 0;
  };
};

/// Points of which centring leaves nothing but rounding become zero.
struct DropConstant {
  bool scaled = false;  // those that weights made equal; else those that are small beside `longest`
  double longest = 0;
  using Reply = double;  // the largest squared norm that is left
};

/// Every point is divided by its norm.
struct NormalizePoints {
  using Reply = Told;
};

struct SumSquares {
  struct Reply {
    SegmentSums<double> sums;
    double largest = 0;
  };
};

/// The last power of two, and what follows from it.
struct SetScale {
  double common = 1, unit = 1, eta = 0, rms_norm = 0;
  using Reply = Told;
};

// Internal: what the answers say together.
double power_near_inverse(double value);
std::vector<double> total_of(const std::vector<SegmentSums<std::vector<double>>>& sums);
double total_of(const std::vector<SegmentSums<double>>& sums);
std::optional<std::string> warning_of_marks(const std::vector<ScanPoints::Reply>& scans,
                                            Index features);
std::vector<double> weights_from(const std::vector<double>& deviations, const Common& common,
                                 const PointsShape& shape);
/// 0 when the points have no usual size.
double usual_square(const std::vector<FindNumbers::Reply>& found);
bool is_huge(double square, double median);
double huge_beyond(double median);  // squares that are
std::optional<std::string> warning_of_huge(const std::vector<FindHuge::Reply>& found,
                                           double median);
SetScale scale_from(const std::vector<SumSquares::Reply>& squares, double scale, Index n,
                    const Preprocessing& prep);

/// `ask` puts a question to every portion and returns their answers, first portion to last.
template <class Ask>
void learn_scale(const PointsShape& shape, const Preprocessing& prep, double scale, Ask&& ask) {
  ask(scale_from(ask(SumSquares{}), scale, shape.size, prep));
}

/// Returns a warning when points look like marks for missing values.
template <class Ask>
std::optional<std::string> learn(const PointsShape& shape, const Preprocessing& prep, Ask&& ask) {
  const bool one_visit = !shape.sparse && visits_to_learn(prep, shape.single) == 1;
  const bool unit_norm = prep.scale == Scale::unit;
  Common common;
  const auto mean_beyond = [&] {
    std::vector<double> mean =
        total_of(ask(SumFeatures{.of = SumFeatures::Of::beyond_means, .common = common}));
    for (double& m : mean) m /= static_cast<double>(shape.size);
    return mean;
  };
  const auto find_means = [&] {  // twice, so that a large offset costs no digits
    std::vector<double> means = mean_beyond();
    if (!shape.sparse) {  // sparse: most deviations are minus the mean itself, nothing to gain
      common.means = means;
      const std::vector<double> rest = mean_beyond();
      for (std::size_t l = 0; l < means.size(); ++l) means[l] += rest[l];
    }
    common.means = std::move(means);
  };

  const auto scans = ask(ScanPoints{.numbers = one_visit});
  std::optional<std::string> warning = warning_of_marks(scans, shape.features);
  double largest = 0;
  for (const ScanPoints::Reply& s : scans) largest = std::max(largest, s.largest);
  common.scale = unit_norm ? 1.0 : power_near_inverse(largest);
  if (prep.scale == Scale::standard) {
    find_means();
    common.weights = weights_from(
        total_of(ask(SumFeatures{.of = SumFeatures::Of::deviations, .common = common})), common,
        shape);
    common.means.clear();
  }
  if (prep.center == Center::feature) {
    if (unit_norm) ask(FindNumbers{.common = common});
    find_means();
  }
  const auto found = ask(FindNumbers{.common = common, .scanned = one_visit});

  double longest = 0;
  for (const FindNumbers::Reply& f : found) longest = std::max(longest, f.largest);
  if (!warning && !prep.normalize && !unit_norm) {
    const double median = usual_square(found);
    if (is_huge(longest, median)) warning = warning_of_huge(ask(FindHuge{median}), median);
  }
  if (prep.center == Center::point) {
    if (prep.scale == Scale::standard) {
      const auto left = ask(DropConstant{.scaled = true});
      longest = *std::max_element(left.begin(), left.end());
    }
    ask(DropConstant{.scaled = false, .longest = longest});
  }
  if (prep.normalize) ask(NormalizePoints{});
  learn_scale(shape, prep, common.scale, ask);
  return warning;
}

}  // namespace fwsr
