#include "python/bindings/planned.hpp"

#include <utility>

#include <nanobind/stl/string.h>

#include "fwsr/solver/plan_time.hpp"
#include "python/bindings/results.hpp"
#include "python/bindings/watched.hpp"

namespace fwsr::python {

namespace {

/// The observer of one run, where that of a comparison is given.
Observer observer_of(const CompareObserver& observer) {
  return [&observer](const Progress& p) { return observer({.method = 0, .trial = 0, .run = p}); };
}

}  // namespace

Planned::Planned(const GivenPoints& points, const nb::dict& options, const std::string& method,
                 const nb::dict& settings, std::uint64_t seed, const nb::object& labels,
                 const std::vector<std::string>& names, const nb::object& counts)
    : points_(points),
      request_(read_options(options), read_choice(method, settings, seed)),
      classes_(read_classes(labels, names, counts, points.rows())) {
  if (classes_.counts)
    class_plans_ = request_.plan_per_class(points.here(), classes_.labels, *classes_.counts);
  else
    plan_ = points.there ? request_.plan(*points.there) : request_.plan(points.here());
}

nb::object Planned::as_python() const {
  if (!classes_.counts) return to_python(plan_);
  nb::list all;
  for (const ClassPlan& part : class_plans_) all.append(to_python(part));
  return all;
}

std::string Planned::long_run() const {
  if (plan_.device != "cpu") return {};
  return classes_.counts ? warning_of_long_run(class_plans_, request_.options.threads)
                         : request_.warning_of_long_run(points_.here(), plan_);
}

nb::object Planned::select(const nb::object& callback, bool every_step) const {
  Watched watched({callback, every_step});
  if (classes_.counts)
    return list_of(unless_changed(points_, watched.run([&](const CompareObserver& observer) {
      return request_.run_per_class(points_.here(), class_plans_, observer_of(observer));
    })));
  return to_python(unless_changed(points_, watched.run([&](const CompareObserver& observer) {
    return points_.there ? request_.run(*points_.there, plan_, observer_of(observer))
                         : request_.run(points_.here(), plan_, observer_of(observer));
  })));
}

PlannedSweep::PlannedSweep(const GivenPoints& points, const nb::dict& options,
                           const nb::list& alphas, const std::vector<double>& etas,
                           const nb::object& labels, const std::vector<std::string>& names,
                           const nb::object& counts)
    : points_(points),
      options_(read_options(options)),
      classes_(read_classes(labels, names, counts, points.rows())) {
  const std::vector<NumberOrAuto> listed = read_list("alphas", alphas);
  if (classes_.counts)
    class_plans_ = plan_sweep_per_class(points.here(), classes_.labels, *classes_.counts, options_,
                                        listed, etas);
  else
    plan_ = points.there ? plan_sweep(*points.there, options_, listed, etas)
                         : plan_sweep(points.here(), options_, listed, etas);
}

nb::list PlannedSweep::sweep(const nb::object& callback, bool every_step) const {
  Watched watched({callback, every_step});
  nb::list all;
  if (classes_.counts) {
    auto entries = unless_changed(points_, watched.run([&](const CompareObserver& observer) {
      return sweep_as_planned(points_.here(), options_, class_plans_, observer_of(observer));
    }));
    for (ClassSweepEntry& e : entries)
      all.append(nb::make_tuple(python::as_python(e.alpha), e.eta, list_of(std::move(e.classes))));
  } else {
    auto entries = unless_changed(points_, watched.run([&](const CompareObserver& observer) {
      return points_.there
                 ? sweep_as_planned(*points_.there, options_, plan_, observer_of(observer))
                 : sweep_as_planned(points_.here(), options_, plan_, observer_of(observer));
    }));
    for (SweepEntry& e : entries)
      all.append(
          nb::make_tuple(python::as_python(e.alpha), e.eta, to_python(std::move(e.selection))));
  }
  return all;
}

}  // namespace fwsr::python
