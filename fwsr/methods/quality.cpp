#include "fwsr/methods/quality.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/base/check_view.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/base/total.hpp"
#include "fwsr/kernel/formula.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/blas_room.hpp"
#include "fwsr/methods/distances.hpp"
#include "fwsr/solver/clock.hpp"
#include "fwsr/solver/prepared_problem.hpp"
#include "fwsr/solver/regression.hpp"
#include "fwsr/solver/select_points.hpp"

namespace fwsr {

namespace {

constexpr Index most_in_sample = 2000;

}  // namespace

struct Judge::State {
  Labels labels;
  const SelectOptions& options;
  KeepGoing keep_going;
  int threads = 1;
  PreparedProblem prepared;
  Task task;
  bool given = false;         // the data is a kernel matrix
  double gamma = 0;           // of the discrepancy, in the user's units
  std::vector<Index> sample;  // points it is measured against
  double sample_mean = 0;     // of the kernel over all pairs of them
  std::size_t classes = 0;

  /// Mean of the discrepancy's kernel over left x right.
  double mean_kernel(std::span<const Index> left, std::span<const Index> right) const {
    std::vector<double> sums(at(block_count(static_cast<Index>(left.size()), 96)));
    const double unit = prepared.source->unit();
    const KernelFormula& rbf = formula_of(KernelType::rbf);
    const KernelNumbers numbers{.gamma = gamma / unit / unit};
    for_blocks(
        threads, static_cast<Index>(left.size()),
        [&](Index b, Index first, Index last) {
          throw_if_cancelled(keep_going);
          const std::span<const Index> rows = left.subspan(at(first), at(last - first));
          const std::vector<double> values = prepared.source->values(rows, right);
          for (std::size_t r = 0; r < rows.size(); ++r)
            for (std::size_t c = 0; c < right.size(); ++c) {
              const double product = values[r * right.size() + c];
              const double square = rows[r] == right[c]
                                        ? 0.0
                                        : prepared.source->diagonal(rows[r]) +
                                              prepared.source->diagonal(right[c]) - 2 * product;
              sums[at(b)] +=
                  given ? product / unit / unit : rbf.value(numbers, std::max(0.0, square));
            }
        },
        96);
    return total(sums) / static_cast<double>(left.size()) / static_cast<double>(right.size());
  }
};

Judge::Judge(const PointsView& view, Labels labels, const SelectOptions& options,
             const KeepGoing& keep_going)
    : state_(new State{.labels = std::move(labels),
                       .options = options,
                       .keep_going = keep_going,
                       .prepared = {},
                       .task = {},
                       .sample = {}}) {
  State& s = *state_;
  check_view(view);
  if (!s.labels.empty() && static_cast<Index>(s.labels.size()) != rows_of(view))
    throw Error(fmt::format("there are {} labels for {} points; there must be one for each",
                            s.labels.size(), rows_of(view)));
  const SerialBlas serial;
  s.threads = threads_of(options);
  make_room_for_products(s.threads);
  s.given = options.kernel.type == KernelType::precomputed;
  SelectOptions own = options;
  if (!s.given) own.kernel = {};
  own.eta = 0;
  s.prepared = prepare_problem(view, {}, own, Plan{.threads = s.threads}, keep_going);
  s.task = {.points = s.prepared.points.get(),
            .kernel = s.prepared.source.get(),
            .linear = !s.given,
            .threads = s.threads,
            .keep_going = keep_going};
  if (!s.given) s.gamma = default_gamma(*s.prepared.points, KernelType::rbf, s.threads);
  const Index n = s.prepared.source->size(), count = std::min(n, most_in_sample);
  for (Index i = 0; i < count; ++i) s.sample.push_back(i * n / count);
  s.sample_mean = s.mean_kernel(s.sample, s.sample);
  for (const Index points : s.labels.counts()) s.classes += points > 0;
}

Judge::~Judge() = default;

double Judge::mmd_gamma() const {
  return state_->gamma;
}
Index Judge::mmd_points() const {
  return static_cast<Index>(state_->sample.size());
}

Quality Judge::of(std::span<const Index> exemplars) const {
  const State& s = *state_;
  const SerialBlas serial;
  const SelectOptions& o = s.options;
  const double unit = s.prepared.source->unit();
  Quality q;
  const Regression errors =
      regress(*s.prepared.source, s.given ? nullptr : s.prepared.points.get(), exemplars,
              o.rho ? *o.rho * unit : -1.0, s.threads, s.keep_going);
  q.reconstruction_error = errors.trace > 0 ? errors.projection / errors.trace : 0.0;
  if (o.lambda && o.rho)
    q.boolean_objective =
        *o.lambda * static_cast<double>(exemplars.size()) + errors.ridge / unit / unit;
  if (exemplars.empty()) return q;

  const Distances distances(s.task, "euclidean");
  const Nearest near = nearest_of(distances, exemplars, s.threads, s.keep_going);
  q.medoid_cost = total(near.distance) * distances.scale();
  q.coverage_radius =
      *std::max_element(near.distance.begin(), near.distance.end()) * distances.scale();
  q.mmd = std::sqrt(std::max(0.0, s.sample_mean - 2 * s.mean_kernel(exemplars, s.sample) +
                                      s.mean_kernel(exemplars, exemplars)));
  if (s.labels.empty()) return q;
  const std::vector<Labels::Code>& codes = s.labels.codes();
  std::set<Labels::Code> found;
  std::vector<bool> chosen(codes.size(), false);
  for (const Index e : exemplars) found.insert(codes[at(e)]), chosen[at(e)] = true;
  q.class_coverage = static_cast<double>(found.size()) / static_cast<double>(s.classes);
  Index others = 0, right = 0;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (chosen[i]) continue;
    ++others;
    right += codes[i] == codes[at(exemplars[at(near.which[i])])];
  }
  if (others > 0) q.nearest_accuracy = static_cast<double>(right) / static_cast<double>(others);
  return q;
}

}  // namespace fwsr
