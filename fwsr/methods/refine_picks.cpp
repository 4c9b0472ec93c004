#include "fwsr/methods/refine_picks.hpp"

#include <memory>

#include "fwsr/base/at.hpp"
#include "fwsr/base/index_range.hpp"
#include "fwsr/kernel/projected_kernel.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/solver/exchange_points.hpp"
#include "fwsr/solver/local_points.hpp"
#include "fwsr/solver/refine.hpp"

namespace fwsr {

std::optional<Exchanged> refine_picks(const Task& task, const PreparedProblem& prepared,
                                      const SelectOptions& o, const WatchExchange& watch,
                                      Picks& picks) {
  if (picks.exemplars.empty()) return std::nullopt;
  const Points* const rows = task.linear ? task.points : nullptr;
  const bool vectors =
      rows && exchanges_in_set(true, rows->sparse(), static_cast<double>(rows->dim()),
                               static_cast<double>(rows->size()));
  Exchanged found;
  try {
    std::unique_ptr<LocalPoints> set;
    std::unique_ptr<KernelMatrix> left;  // beyond what is there already
    std::unique_ptr<ExchangePoints> points;
    if (vectors) {
      set = std::make_unique<LocalPoints>(*task.points, task.threads, task.keep_going);
      set->narrow(task.terms);
      points = std::make_unique<ExchangeInSet>(*set, task.terms, task.threads);
    } else {
      if (!task.terms.included.empty())
        left = make_projected_kernel(*task.kernel, task.terms.included, true, task.threads);
      points = std::make_unique<ExchangeInKernel>(
          KernelToExchange{left ? *left : *task.kernel, *task.kernel, task.terms}, KernelProducts{},
          task.threads, task.keep_going);
    }
    const std::unique_ptr<MiddlePoints> middle =
        middle_for(o, prepared, task.threads, task.keep_going);
    ExchangeOptions own = exchange_options(o, *points, task.kernel->single());
    own.permitted = Permitted(o, task.terms, picks.exemplars);
    found = exchange(*points, picks.exemplars, own, watch, middle.get());
  } catch (const Interrupted&) {  // before it began
    picks.status = Status::interrupted;
    return std::nullopt;
  }
  picks.refinement = refinement_of(found, task.unit());
  picks.exemplars = found.exemplars;
  picks.strength.clear();
  picks.assignment.clear();
  picks.importance.clear();  // these were of the exemplars as chosen
  picks.atoms.clear();
  if (found.interrupted) picks.status = Status::interrupted;
  return found;
}

void replace_codes(const Task& task, const Exchanged& found, Picks& picks) {
  if (picks.codes.empty()) return;
  constexpr Index block = 384;
  const Index n = task.size(), k = static_cast<Index>(found.exemplars.size());
  picks.codes.assign(at(k * n), 0.0);
  for_blocks(
      task.threads, n,
      [&](Index, Index first, Index last) {
        throw_if_cancelled(task.keep_going);
        const std::vector<double> values =
            task.kernel->values(found.exemplars, index_range(first, last));
        multiply(Product<double>{.m = k,
                                 .n = last - first,
                                 .k = k,
                                 .left = found.m.data(),
                                 .left_stride = k,
                                 .right = values.data(),
                                 .right_stride = last - first,
                                 .out = picks.codes.data() + first,
                                 .out_stride = n});
      },
      block);
}

}  // namespace fwsr
