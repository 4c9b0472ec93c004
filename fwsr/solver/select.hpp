// The library's front door: select exemplars, for all points or class by class.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/base/labels.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/solver/device.hpp"
#include "fwsr/solver/options.hpp"
#include "fwsr/solver/selection.hpp"

namespace fwsr {

/// Picks options.exemplars points that represent all of `points` (FWSR; K-FWSR with a kernel other
/// than linear). With KernelType::precomputed, `points` is the n x n kernel matrix.
/// Throws Error for options that make no sense or data that is not finite, MemoryError when no form
/// fits the memory.
Selection select(const PointsView& points, const SelectOptions& options,
                 const Observer& observer = {});

/// The same of points that are in the memory of a card already, and stay there (q = 2). Where the
/// card holds their kernel they are copied to the memory of this machine, too. `options.device` is not looked at: the work is done where the points are.
Selection select(const DeviceView& points, const SelectOptions& options,
                 const Observer& observer = {});
Plan plan(const DeviceView& points, const SelectOptions& options);

/// What select would do, without doing it. Throws OptionError and MemoryError.
Plan plan(const PointsView& points, const SelectOptions& options);
/// The run of a plan. @pre `plan` was made for these points and options
Selection select_as_planned(const PointsView& points, const SelectOptions& options,
                            const Plan& plan, const Observer& observer = {});

/// Options that do not suit the points they were given for.
struct OptionError : Error {
  using Error::Error;
};
/// @throws OptionError with the sentence of find_problem, where that has one
void refuse_unsuitable(const SelectOptions& options, const PointsView& points);
/// Throws Error when the plan was made for other points, or another number of exemplars.
void refuse_other_plan(const PointsView& points, const SelectOptions& options, const Plan& plan);

/// Codes of new points over the exemplars of `selection`, m x exemplars, row by row. `points` and
/// `options` are those of the selection (q = 2 and signs free; not for precomputed kernels).
std::vector<double> encode(const PointsView& points, const SelectOptions& options,
                           const Selection& selection, const PointsView& new_points);

/// How many exemplars each class gets.
struct ClassCounts {
  enum class Kind { each, proportional, named } kind = Kind::each;
  Index number = 0;                         // each: per class; proportional: in all
  std::map<std::string, Index> named = {};  // named: classes not mentioned give none
};

/// One class's part of a per-class selection; indices refer to all points.
struct ClassSelection {
  std::string name;
  std::vector<Index> members = {};  // the points of the class, ascending
  Index points = 0;
  Index wanted = 0;  // asked for; selection.exemplars may be fewer and warnings say why
  Selection selection;
};

/// The order of classes: numbers before words, numbers by value.
bool class_before(const std::string& a, const std::string& b);

/// What select_per_class would do with one class.
struct ClassPlan {
  std::string name;
  std::vector<Index> members;
  Index wanted = 0;
  SelectOptions options;  // with this class's k
  Plan plan;              // empty when nothing is wanted, or more than there is
};

/// The classes in the order of class_before. Throws as
/// `plan` does, and for counts that name no class.
std::vector<ClassPlan> plan_per_class(const PointsView& points, const Labels& labels,
                                      const ClassCounts& counts, const SelectOptions& options);

/// What all classes take together, in seconds, on so many threads.
double estimated_seconds(const std::vector<ClassPlan>& plans, int threads);

/// Runs every class by itself, classes in parallel. `labels` has the class of each point. A class
/// with no more points than asked gives all it has.
std::vector<ClassSelection> select_per_class(const PointsView& points, const Labels& labels,
                                             const ClassCounts& counts,
                                             const SelectOptions& options,
                                             const Observer& observer = {});

/// Largest-remainder shares of `total` in proportion to `sizes`, each at most its size; sums to
/// min(total, sum of sizes). Ties go to the earlier class.
std::vector<Index> proportional_shares(const std::vector<Index>& sizes, Index total);

}  // namespace fwsr
