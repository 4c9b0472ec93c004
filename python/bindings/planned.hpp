// A request of Python's with its plan: planned once, then told about and run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "fwsr/methods/request.hpp"
#include "fwsr/solver/sweep.hpp"
#include "python/bindings/options.hpp"
#include "python/bindings/points.hpp"

namespace fwsr::python {

namespace nb = nanobind;

/// A selection. The points must outlive it.
class Planned {
 public:
  /// Plans. Throws OptionError, MemoryError, and what read_options and read_classes raise.
  Planned(const GivenPoints& points, const nb::dict& options, const std::string& method,
          const nb::dict& settings, std::uint64_t seed, const nb::object& labels,
          const std::vector<std::string>& names, const nb::object& counts);

  /// A dictionary, or one for each class.
  nb::object as_python() const;
  /// What to know before a run that takes long; empty: it does not.
  std::string long_run() const;
  /// A dictionary, or one for each class.
  nb::object select(const nb::object& callback, bool every_step) const;

 private:
  const GivenPoints& points_;
  Request request_;
  Classes classes_;
  Plan plan_;                           // of all points, or ...
  std::vector<ClassPlan> class_plans_;  // ... of every class
};

/// A sweep. The points must outlive it.
class PlannedSweep {
 public:
  PlannedSweep(const GivenPoints& points, const nb::dict& options, const nb::list& alphas,
               const std::vector<double>& etas, const nb::object& labels,
               const std::vector<std::string>& names, const nb::object& counts);

  /// Tuples of alpha, eta and what Planned::select answers.
  nb::list sweep(const nb::object& callback, bool every_step) const;

 private:
  const GivenPoints& points_;
  SelectOptions options_;
  Classes classes_;
  SweepPlan plan_;
  std::vector<ClassSweepPlan> class_plans_;
};

/// What a run made of points that stayed as they were. Throws Error when their file has changed.
template <class T>
T unless_changed(const GivenPoints& points, T result) {
  require_unchanged(points);
  return result;
}

}  // namespace fwsr::python
