// Many settings of (alpha, eta) on the same points, for little more than the price of a few.
//
// C = A A^T and the points do not depend on alpha, and eta only borders C. So in the covariance form
// all settings share the set-up, and one pass over the points serves every setting that is still
// running: each point is fetched, scaled and centred once, then met by three vectors per setting.
// In the other forms the settings of one eta share the points and the kernel, and run one after the
// other. docs/forms.md says more.
#pragma once

#include <string>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/solver/options.hpp"
#include "fwsr/solver/select.hpp"
#include "fwsr/solver/selection.hpp"

namespace fwsr {

/// More settings than this are refused.
inline constexpr Index most_settings = 4096;

struct SweepEntry {
  NumberOrAuto alpha;  // as given
  double eta = 0;      // as given: relative where options.eta_relative says so
  /// As select would answer. Its seconds are this setting's share of the time all took together.
  Selection selection;
};

/// Every setting of alphas x etas, in that order: (alphas[0], etas[0]), (alphas[0], etas[1]), ...
/// No alphas: auto. No etas: 0. options.alpha, beta and eta must be left alone;
/// options.eta_relative says what the etas are.
/// Throws as select does, and Error for lists that make no sense. An observer that says stop ends
/// all settings.
std::vector<SweepEntry> sweep(const PointsView& points, const SelectOptions& options,
                              const std::vector<NumberOrAuto>& alphas,
                              const std::vector<double>& etas, const Observer& observer = {});

/// The settings of a sweep, checked: every alpha with every eta.
struct Grid {
  std::vector<NumberOrAuto> alphas;
  std::vector<double> etas;

  Index size() const { return static_cast<Index>(alphas.size() * etas.size()); }
};

/// What sweep would do, without doing it.
struct SweepPlan {
  Plan each;           // of one setting, as select would run it
  Index settings = 0;  // in all
  Index at_once = 1;   // at most so many share a pass over the points
  Index rounds = 1;    // so often `at_once` settings are run
  Index etas = 1;      // different ones: each its own set-up, where settings do not share a pass
  Index memory_bytes = 0;  // beside the data, all threads together
  std::string shared;      // one sentence
  Grid grid = {};
};
/// What all settings take together, in seconds: as estimated(Plan).
double estimated_seconds(const SweepPlan& plan);
SweepPlan plan_sweep(const PointsView& points, const SelectOptions& options,
                     const std::vector<NumberOrAuto>& alphas, const std::vector<double>& etas);
/// The sweep of a plan. @pre `plan` was made for these points and options
std::vector<SweepEntry> sweep_as_planned(const PointsView& points, const SelectOptions& options,
                                         const SweepPlan& plan, const Observer& observer = {});

/// The same of points that are in the memory of a card already: as select (select.hpp).
std::vector<SweepEntry> sweep(const DeviceView& points, const SelectOptions& options,
                              const std::vector<NumberOrAuto>& alphas,
                              const std::vector<double>& etas, const Observer& observer = {});
SweepPlan plan_sweep(const DeviceView& points, const SelectOptions& options,
                     const std::vector<NumberOrAuto>& alphas, const std::vector<double>& etas);
/// @pre `plan` was made for these points and options
std::vector<SweepEntry> sweep_as_planned(const DeviceView& points, const SelectOptions& options,
                                         const SweepPlan& plan, const Observer& observer = {});

/// One setting for all classes; every class runs all settings by itself, classes side by side.
struct ClassSweepEntry {
  NumberOrAuto alpha;
  double eta = 0;                       // both as in SweepEntry
  std::vector<ClassSelection> classes;  // as select_per_class would answer
};
std::vector<ClassSweepEntry> sweep_per_class(const PointsView& points, const Labels& labels,
                                             const ClassCounts& counts,
                                             const SelectOptions& options,
                                             const std::vector<NumberOrAuto>& alphas,
                                             const std::vector<double>& etas,
                                             const Observer& observer = {});

/// What sweep_per_class would do with one class. The plan of a class that gives nothing, or all it
/// has, is empty.
struct ClassSweepPlan {
  ClassPlan of_class;
  SweepPlan sweep;
};
std::vector<ClassSweepPlan> plan_sweep_per_class(const PointsView& points, const Labels& labels,
                                                 const ClassCounts& counts,
                                                 const SelectOptions& options,
                                                 const std::vector<NumberOrAuto>& alphas,
                                                 const std::vector<double>& etas);
/// The sweep of these plans, @pre one for each class.
std::vector<ClassSweepEntry> sweep_as_planned(const PointsView& points,
                                              const SelectOptions& options,
                                              const std::vector<ClassSweepPlan>& plans,
                                              const Observer& observer = {});

}  // namespace fwsr
