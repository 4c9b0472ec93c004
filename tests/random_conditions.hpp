// Random conditions for random problems, and whether an answer keeps them.
#pragma once

#include "fwsr/base/random.hpp"
#include "fwsr/solver/selection.hpp"
#include "problems.hpp"

namespace random_conditions {

using fwsr::Index;

bool chance(fwsr::Rng& rng, double p);
Index below(fwsr::Rng& rng, Index n);

/// Some conditions of every kind, each with the given chance, that the options of the problem can be kept under.
void add_conditions(problems::Problem& p, double each);

/// What candidates, floors, caps and a budget ask of the exemplars of a run that ended by itself.
void expect_kept(const fwsr::Selection& s, const fwsr::SelectOptions& o);

}  // namespace random_conditions
