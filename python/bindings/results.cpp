#include "python/bindings/results.hpp"

#include <cstdint>
#include <utility>

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/bindings/words.hpp"

namespace fwsr::python {

namespace {

/// The numbers of a vector as a NumPy array that owns them.
template <class T>
nb::object array(std::vector<T> values, std::vector<std::size_t> shape = {}) {
  if (shape.empty()) shape = {values.size()};
  auto* const kept = new std::vector<T>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), shape.size(), shape.data(), owner));
}

std::vector<std::int64_t> whole(const std::vector<Index>& values) {
  return {values.begin(), values.end()};
}

template <class T, class Get>
nb::object column(const std::vector<Step>& trace, Get&& get) {
  std::vector<T> values;
  values.reserve(trace.size());
  for (const Step& step : trace) values.push_back(static_cast<T>(get(step)));
  return array(std::move(values));
}

nb::dict to_python(const std::vector<Step>& trace) {
  nb::dict d;
  d["pick"] = column<std::int64_t>(trace, [](const Step& s) { return s.pick; });
  d["f"] = column<double>(trace, [](const Step& s) { return s.f; });
  d["gap"] = column<double>(trace, [](const Step& s) { return s.gap; });
  d["gamma"] = column<double>(trace, [](const Step& s) { return s.gamma; });
  d["beta"] = column<double>(trace, [](const Step& s) { return s.beta; });
  d["score"] = column<double>(trace, [](const Step& s) { return s.score; });
  d["rows"] = column<std::int64_t>(trace, [](const Step& s) { return s.rows; });
  return d;
}

nb::object to_python(const std::optional<double>& value) {
  return value ? nb::cast(*value) : nb::none();
}

nb::dict to_python(const Certificate& c) {
  nb::dict d;
  d["f"] = c.f;
  d["f_at_zero"] = c.f_at_zero;
  d["gap"] = c.gap;
  d["beta"] = c.beta;
  d["radius_used"] = c.radius_used;
  d["feasible"] = c.feasible;
  d["reconstruction_error"] = c.reconstruction_error;
  d["boolean_objective"] = to_python(c.boolean_objective);
  d["f_error"] = c.f_error;
  d["gap_error"] = c.gap_error;
  d["trusted"] = c.trusted;
  return d;
}

nb::object to_python(std::optional<Coefficients> c, std::size_t exemplars) {
  if (!c) return nb::none();
  nb::dict d;
  const std::size_t basis = c->basis.size();
  d["basis"] = array(whole(c->basis));
  d["theta"] = array(std::move(c->theta), {exemplars, basis});
  d["offset"] = c->offset.empty() ? nb::none() : array(std::move(c->offset));
  return d;
}

nb::dict to_python(const Seconds& s) {
  nb::dict d;
  d["setup"] = s.setup;
  d["steps"] = s.steps;
  d["certificate"] = s.certificate;
  return d;
}

}  // namespace

nb::dict to_python(const Plan& p) {
  nb::dict d;
  d["method"] = p.method;
  d["form"] = name_of(p.form);
  d["kernel_by"] = name_of(p.kernel_by);
  d["why"] = p.why;
  d["points"] = p.points;
  d["features"] = p.features;
  d["threads"] = p.threads;
  d["memory_bytes"] = p.memory_bytes + p.memory_per_thread * p.threads;
  d["data_bytes"] = p.data_bytes;
  d["seconds"] = estimated_seconds(p);
  d["passes"] = p.passes;
  d["notes"] = p.notes;
  return d;
}

nb::dict to_python(Selection s) {
  nb::dict d;
  const std::size_t k = s.exemplars.size();
  std::vector<std::uint8_t> filled(s.filled.begin(), s.filled.end());
  nb::dict facts;
  for (const Fact& fact : s.facts) facts[fact.name.c_str()] = fact.value;
  d["exemplars"] = array(whole(s.exemplars));
  d["weights"] = array(std::move(s.weights));
  d["strength"] = array(std::move(s.strength));
  d["filled"] = array(std::move(filled));
  d["status"] = name_of(s.status);
  d["trace"] = to_python(s.trace);
  d["certificate"] = s.certificate ? nb::object(to_python(*s.certificate)) : nb::none();
  d["plan"] = to_python(s.plan);
  d["seconds"] = to_python(s.seconds);
  d["facts"] = facts;
  d["f_at_zero"] = s.f_at_zero;
  d["beta"] = s.beta;
  d["eta"] = s.eta;
  d["gamma"] = s.gamma;
  d["kernel_rank"] = s.kernel_rank;
  d["kernel_error"] = to_python(s.kernel_error);
  d["coefficients"] = to_python(std::move(s.coefficients), k);
  d["assignment"] = s.assignment.empty() ? nb::none() : array(whole(s.assignment));
  const std::size_t coded = k > 0 ? s.codes.size() / k : 0;
  d["codes"] = s.codes.empty() ? nb::none() : array(std::move(s.codes), {coded, k});
  d["warnings"] = in_python_words(std::move(s.warnings));
  return d;
}

nb::dict to_python(ClassSelection part) {
  nb::dict d;
  d["name"] = part.name;
  d["members"] = array(whole(part.members));
  d["wanted"] = part.wanted;
  d["selection"] = to_python(std::move(part.selection));
  return d;
}

nb::dict to_python(const ClassPlan& part) {
  nb::dict d;
  d["name"] = part.name;
  d["points"] = part.members.size();
  d["wanted"] = part.wanted;
  // A class that gives nothing, or all it has, needs no plan.
  d["plan"] = part.plan.points > 0 ? nb::object(to_python(part.plan)) : nb::none();
  return d;
}

nb::dict to_python(const Comparison& row) {
  nb::dict d;
  d["name"] = row.name;
  d["outcome"] = name_of(row.outcome);
  d["reason"] = in_python_words(row.reason);
  d["planned_seconds"] = row.planned_seconds;
  d["warnings"] = in_python_words(row.warnings);
  nb::list trials;
  for (const Trial& trial : row.trials) {
    nb::dict t;
    t["exemplars"] = array(whole(trial.exemplars));
    for (const Measure& measure : measures()) t[measure.name] = measure.of(trial);
    trials.append(t);
  }
  d["trials"] = trials;
  return d;
}

nb::dict to_python(const Method& m) {
  nb::dict d;
  d["name"] = m.name;
  d["title"] = m.title;
  d["about"] = m.about;
  nb::list knobs;
  for (const Knob& knob : m.knobs)
    knobs.append(nb::make_tuple(
        knob.name, std::visit([](const auto& v) { return nb::cast(v); }, knob.value), knob.about));
  d["settings"] = knobs;
  d["random"] = m.random;
  d["any_kernel"] = m.any_kernel;
  d["uses_rbf"] = m.uses_rbf;
  d["codes"] = m.codes || !m.choose;
  d["streams"] = m.streams;
  return d;
}

}  // namespace fwsr::python
