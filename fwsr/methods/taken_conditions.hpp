// Which conditions a method chooses under: said by its entry, refused from there.
#pragma once

#include "fwsr/methods/method.hpp"
#include "fwsr/solver/options.hpp"

namespace fwsr {

/// For entries: every condition there is.
std::vector<Condition> all_conditions();

/// Throws OptionError, which names the methods that take what this one does not.
void refuse_conditions(const Method& method, const Settings& settings,
                       const SelectOptions& options);

}  // namespace fwsr
