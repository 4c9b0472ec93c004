// A method on the command line: kmedoids, or with its settings smrs:alpha=20:affine=no.
#pragma once

#include <string>
#include <vector>

#include "apps/json.hpp"
#include "fwsr/methods/methods.hpp"

namespace CLI {
class App;
}

namespace fwsr::app {

/// The settings of fwsr and k-fwsr are options of a selection (fwsr:alpha=5); all others have their own.
/// Names and values are checked. @throws UsageError
Request parse_method(const std::string& text, const SelectOptions& options, std::uint64_t seed);

/// Refuses options on the command line that the method (as given to parse_method) would ignore.
void refuse_foreign_options(const CLI::App& app, const std::string& text);

/// The settings of a method with their values, null when it has none of its own.
Json settings_json(const Request& request);

/// "alpha = 5, affine = yes"; empty when there are none.
std::string settings_text(const Method& method);

}  // namespace fwsr::app
