// Several processes that share the work of a command (fwsr-mpi): the program asks here first.
#pragma once

#include <memory>

#include "apps/data_arguments.hpp"
#include "fwsr/data/dataset.hpp"
#include "fwsr/methods/request.hpp"

namespace fwsr::app {

class Machines {
 public:
  virtual ~Machines() = default;
  /// All points of DATA, none of which is here yet, with their labels.
  virtual Dataset load(const DataArguments& arguments) = 0;
  /// Who plans and runs `request` on them. @pre the request outlives it
  virtual std::shared_ptr<const Chooser> chooser(const Request& request) = 0;
};

/// Null: this process is alone.
Machines*& machines();

}  // namespace fwsr::app
