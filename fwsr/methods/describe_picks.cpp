#include "fwsr/methods/describe_picks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/base/finite.hpp"
#include "fwsr/methods/distances.hpp"
#include "fwsr/methods/settings.hpp"
#include "fwsr/solver/fill.hpp"
#include "fwsr/solver/nearest_exemplar.hpp"
#include "fwsr/solver/regression.hpp"
#include "fwsr/solver/warnings.hpp"

namespace fwsr {

namespace {

/// A point goes to the nearest exemplar, of equal ones to the first chosen; an exemplar to itself. With a factor in
/// the kernel's space all the same: new points are compared there.
std::vector<Index> assign_to_nearest(const Task& task, const PreparedProblem& prepared,
                                     const std::vector<Index>& exemplars) {
  for (const char* metric : {"manhattan", "cosine", "precomputed"})
    if (has_word(task.settings, "metric", metric)) {
      std::vector<Index> to =
          nearest_of(Distances(task, metric), exemplars, task.threads, task.keep_going).which;
      for (std::size_t t = 0; t < exemplars.size(); ++t)
        to[at(exemplars[t])] = static_cast<Index>(t);
      return to;
    }
  return nearest_exemplars(*prepared.source, exemplars, task.threads, task.keep_going);
}

/// How well the exemplars represent the points, by least squares.
void add_certificate(const Task& task, const PreparedProblem& prepared, const SelectOptions& o,
                     Selection& result) {
  const KernelMatrix& kernel = *prepared.source;
  const double unit = kernel.unit(), none = std::numeric_limits<double>::quiet_NaN();
  const bool vectors = task.linear && !prepared.factor && !task.terms.weighted();
  const Regression errors =
      regress(kernel, vectors ? task.points : nullptr, result.exemplars,
              o.rho ? *o.rho * unit : -1.0, task.threads, task.keep_going, task.terms.weights);
  require_finite(errors.trace);
  require_finite(errors.projection);
  result.f_at_zero = errors.trace / unit / unit;
  if (prepared.factor)  // f(0) is that of the problem that was solved
    result.f_at_zero =
        block_sum(task.threads, task.size(),
                  [&](Index i) { return task.terms.weight(i) * task.kernel->diagonal(i); }) /
        task.unit() / task.unit();
  result.certificate =
      Certificate{.f = none,
                  .f_at_zero = result.f_at_zero,
                  .gap = none,
                  .beta = none,
                  .radius_used = none,
                  .reconstruction_error = errors.trace > 0 ? errors.projection / errors.trace : 0.0,
                  .boolean_objective = {},
                  .f_error = none,
                  .gap_error = none};
  if (o.lambda && o.rho)
    result.certificate->boolean_objective =
        *o.lambda * static_cast<double>(result.exemplars.size()) + errors.ridge / unit / unit;
}

}  // namespace

void list_exemplars(const Task& task, std::vector<Index> chosen, Selection& result) {
  const std::vector<Index>& there = task.terms.included;
  result.exemplars = there;
  result.exemplars.insert(result.exemplars.end(), chosen.begin(), chosen.end());
  result.filled.assign(result.exemplars.size(), false);
  result.included.assign(result.exemplars.size(), false);
  std::fill_n(result.included.begin(), there.size(), true);
}

void describe_picks(const Task& task, const PreparedProblem& prepared, Picks picks,
                    const SelectOptions& o, Selection& result) {
  const auto found = static_cast<Index>(picks.exemplars.size());
  result.status = picks.status;
  const bool explained = !picks.warnings.empty();  // the method says why there are fewer
  if (found < o.exemplars && result.status == Status::exemplars_reached)
    result.status = explained ? Status::converged : Status::exhausted;
  list_exemplars(task, std::move(picks.exemplars), result);
  result.strength.assign(task.terms.included.size(), 0.0);
  result.strength.insert(result.strength.end(), picks.strength.begin(), picks.strength.end());
  result.strength.resize(result.exemplars.size(), 0.0);
  if (o.codes) {
    result.codes.resize(picks.codes.size());
    for (Index t = 0; t < found; ++t)
      for (Index i = 0; i < task.size(); ++i)
        result.codes[at(i * found + t)] = picks.codes[at(t * task.size() + i)];
  }
  result.importance = std::move(picks.importance);
  result.clusters = std::move(picks.clusters);
  if (o.codes) result.atoms = std::move(picks.atoms);
  result.refinement = picks.refinement;
  result.facts = std::move(picks.facts);
  result.warnings = std::move(picks.warnings);
  const auto distances = [&] {
    return distances_in(*task.kernel, task.linear && !prepared.factor ? task.points : nullptr,
                        task.threads);
  };
  if (task.kernel && fill_short_answer(task.size(), distances, o, task.terms, result))
    picks.assignment.clear();
  if (found < o.exemplars)
    result.warnings.push_back(
        fmt::format("asked for {}, found {}{}{}", o.exemplars, found,
                    explained ? "" : ": the others add nothing (copies, or already represented)",
                    words_of_filling(result, o, true)));
  if (prepared.warning) result.warnings.push_back(*prepared.warning);
  if (!result.importance.empty()) result.importance.resize(result.exemplars.size(), 0.0);
  if (picks.assignment.empty() && !result.exemplars.empty())
    picks.assignment = assign_to_nearest(task, prepared, result.exemplars);
  result.weights = counts_of(picks.assignment, result.exemplars.size(), task.terms.weights);
  if (o.assignment) result.assignment = std::move(picks.assignment);
  if (!task.kernel) return;
  if (o.certificate == CertificateKind::full) add_certificate(task, prepared, o, result);
  if (prepared.factor) describe_factor(*prepared.factor, o, result);
}

}  // namespace fwsr
