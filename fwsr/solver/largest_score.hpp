// max_i ||p_i||, the largest score of the final X, from the points and the codes themselves: what the
// certificate falls back on where few products do not tell it well enough.
#pragma once

#include "fwsr/solver/certificate.hpp"

namespace fwsr {

/// Costs as much as another set-up, in double; beside what is included not where f, the sum of squares of all residuals,
/// is nothing but rounding: ||p_i|| <= ||R|| ||a_i||.
ScoreBound largest_score(const Problem& problem, const Codes& codes, const CodeSums& sums,
                         double f);

/// What rounding of the points may do to a score, but for its cost: |p_il| is known to ||a_i|| times what is known of
/// residual l, and the other way round.
double score_rounding(const Problem& problem, const CodeSums& sums);

}  // namespace fwsr
