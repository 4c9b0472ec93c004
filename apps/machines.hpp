// Several processes that share the work of a command (fwsr-mpi): the program asks here first.
#pragma once

#include <memory>
#include <vector>

#include "apps/data_arguments.hpp"
#include "fwsr/data/dataset.hpp"
#include "fwsr/methods/request.hpp"
#include "fwsr/solver/sweep.hpp"

namespace fwsr::app {

class Machines {
 public:
  virtual ~Machines() = default;
  /// All points of DATA, none of which is here yet, with their labels. `memory`: what each may use; 0: what is free.
  virtual Dataset load(const DataArguments& arguments, Index memory) = 0;
  /// Who plans and runs `request` on them. @pre the request outlives it
  virtual std::shared_ptr<const Chooser> chooser(const Request& request) = 0;
  virtual SweepPlan plan_sweep(const PointsView& points, const SelectOptions& options,
                               const std::vector<NumberOrAuto>& alphas,
                               const std::vector<double>& etas) = 0;
  /// @pre `plan` was made for these points and options
  virtual std::vector<SweepEntry> sweep(const PointsView& points, const SelectOptions& options,
                                        const SweepPlan& plan, const Observer& observer) = 0;
};

/// Null: this process is alone.
Machines*& machines();

}  // namespace fwsr::app
