// All that is said about a run that has ended.
#pragma once

#include <optional>

#include "fwsr/base/blocks.hpp"
#include "fwsr/solver/exchange.hpp"
#include "fwsr/solver/frank_wolfe.hpp"
#include "fwsr/solver/prepared_problem.hpp"
#include "fwsr/solver/run_products.hpp"
#include "fwsr/solver/selection.hpp"

namespace fwsr {

/// `refined`: what exchange made of the run. Exemplars, codes, weights, certificate, warnings. Throws Interrupted when `keep_going` says no. Of a run that was
/// interrupted itself only exemplars and trace are told, unless `keep_going` says yes: then only its exchanges were.
void describe_run(Run run, const std::optional<Exchanged>& refined, const RunProducts& products,
                  const PreparedProblem& prepared, const SelectOptions& options,
                  const KeepGoing& keep_going, Selection& result);

}  // namespace fwsr
