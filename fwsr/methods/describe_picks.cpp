#include "fwsr/methods/describe_picks.hpp"

#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/base/finite.hpp"
#include "fwsr/methods/distances.hpp"
#include "fwsr/methods/settings.hpp"
#include "fwsr/solver/fill.hpp"
#include "fwsr/solver/regression.hpp"

namespace fwsr {

namespace {

/// A point goes to the exemplar with the largest code, of equal ones to the first chosen.
std::vector<Index> assign_by_codes(const std::vector<double>& codes, Index n, Index k) {
  std::vector<Index> to(at(n), 0);
  for (Index i = 0; i < n; ++i)
    for (Index t = 1; t < k; ++t)
      if (std::abs(codes[at(t * n + i)]) > std::abs(codes[at(to[at(i)] * n + i)])) to[at(i)] = t;
  return to;
}

/// A point goes to the nearest exemplar, of equal ones to the first chosen; an exemplar to itself.
std::vector<Index> assign_to_nearest(const Task& task, const std::vector<Index>& exemplars) {
  const Index n = task.size(), k = static_cast<Index>(exemplars.size());
  std::vector<Index> to(at(n), 0);
  const auto itself = [&] {
    for (Index t = 0; t < k; ++t) to[at(exemplars[at(t)])] = t;
    return to;
  };
  for (const char* metric : {"manhattan", "cosine", "precomputed"})
    if (has_word(task.settings, "metric", metric)) {
      to = nearest_of(Distances(task, metric), exemplars, task.threads, task.keep_going).which;
      return itself();
    }
  for_blocks(
      task.threads, n,
      [&](Index, Index first, Index last) {
        throw_if_cancelled(task.keep_going);
        std::vector<Index> points(at(last - first));
        std::iota(points.begin(), points.end(), first);
        const std::vector<double> values = task.kernel->values(points, exemplars);
        for (Index i = first; i < last; ++i) {
          double least = std::numeric_limits<double>::infinity();
          for (Index t = 0; t < k; ++t) {  // ||a_i - a_t||^2 less K_ii
            const double far =
                task.kernel->diagonal(exemplars[at(t)]) - 2 * values[at((i - first) * k + t)];
            const double doubt =
                1e-14 * (task.kernel->diagonal(exemplars[at(t)]) + task.kernel->diagonal(i));
            if (far < least - doubt) least = far, to[at(i)] = t;
          }
        }
      },
      384);
  return itself();
}

/// How well the exemplars represent the points, by least squares.
void add_certificate(const Task& task, const SelectOptions& o, Selection& result) {
  const double unit = task.unit(), none = std::numeric_limits<double>::quiet_NaN();
  const Regression errors =
      regress(*task.kernel, task.linear ? task.points : nullptr, result.exemplars,
              o.rho ? *o.rho * unit : -1.0, task.threads, task.keep_going);
  require_finite(errors.trace);
  require_finite(errors.projection);
  result.f_at_zero = errors.trace / unit / unit;
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

void describe_picks(const Task& task, Picks picks, const SelectOptions& o, Selection& result) {
  const auto found = static_cast<Index>(picks.exemplars.size());
  result.status = picks.status;
  const bool explained = !picks.warnings.empty();  // the method says why there are fewer
  if (found < o.exemplars && result.status == Status::exemplars_reached)
    result.status = explained ? Status::converged : Status::exhausted;
  if (picks.assignment.empty() && found > 0) {
    if (!picks.codes.empty())
      picks.assignment = assign_by_codes(picks.codes, task.size(), found);
    else
      picks.assignment = assign_to_nearest(task, picks.exemplars);
  }
  result.exemplars = std::move(picks.exemplars);
  result.strength = std::move(picks.strength);
  result.strength.resize(at(found), 0.0);
  result.weights.assign(at(found), 0.0);
  for (const Index t : picks.assignment) ++result.weights[at(t)];
  result.filled.assign(at(found), false);
  if (o.assignment) result.assignment = std::move(picks.assignment);
  if (o.codes) {
    result.codes.resize(picks.codes.size());
    for (Index t = 0; t < found; ++t)
      for (Index i = 0; i < task.size(); ++i)
        result.codes[at(i * found + t)] = picks.codes[at(t * task.size() + i)];
  }
  result.facts = std::move(picks.facts);
  result.warnings = std::move(picks.warnings);
  if (found < o.exemplars)
    result.warnings.push_back(
        fmt::format("asked for {}, found {}{}{}", o.exemplars, found,
                    explained ? "" : ": the others add nothing (copies, or already represented)",
                    o.fill ? "; the rest was filled up with the farthest points"
                           : "; fill would add the farthest ones"));
  if (task.points && task.points->warning()) result.warnings.push_back(*task.points->warning());
  if (!task.kernel) return;
  if (o.fill) fill_up(*task.kernel, o.exemplars, task.threads, o.codes, result);
  if (o.certificate == CertificateKind::full) add_certificate(task, o, result);
}

}  // namespace fwsr
