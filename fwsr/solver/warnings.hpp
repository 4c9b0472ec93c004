// Sentences about an answer that is not what its user may think.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "fwsr/kernel/factor.hpp"
#include "fwsr/solver/exchange.hpp"
#include "fwsr/solver/options.hpp"
#include "fwsr/solver/selection.hpp"

namespace fwsr {

/// What was added to the exemplars that were found (fill.hpp), or would be: the end of a sentence, or nothing.
std::string words_of_filling(const Selection& s, const SelectOptions& o, bool fill_would_add);
/// Fewer exemplars were found than asked for, why, and what was added to them: the sentence comes before all others but
/// the first `place`.
void warn_if_short(Selection& s, const SelectOptions& o, Index features, std::size_t place);
/// What is said of exchanges that were told to end. None: they had not begun.
std::string words_of_interruption(const std::optional<Refinement>& found);
/// Exchanges that were told to end, or that a limit of time or of error ended or kept from beginning.
void warn_if_exchange_ended(const std::optional<Exchanged>& found, const SelectOptions& o,
                            Selection& s);
/// A linear kernel tells no more than as many exemplars apart as the points have dimensions.
void warn_if_spanned(Selection& s, const SelectOptions& o, Index features);
/// Codes over what is included, with coefficients that are far larger than their sums.
void warn_if_rounded(const Coefficients& theta, const KernelMatrix& kernel, Selection& s);
/// Rounding may have changed what the certificate says.
/// `in_float32`: of a kernel that is held so, whose rounding is the reason.
void warn_if_not_trusted(bool in_float32, Selection& s);
/// A factor that leaves out too much, or is spanned. Also tells its rank and error.
void describe_factor(const Factor& factor, const SelectOptions& o, Selection& s);

}  // namespace fwsr
