// The options of a selection on the command line, made from describe().
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fwsr/solver/options.hpp"

namespace CLI {
class App;
}

namespace fwsr::app {

/// Adds one option to `app` for everything describe() lists except the number of exemplars.
/// `eta_relative` and `delta_absolute` take the value of eta and delta in their unit. `options`
/// must outlive `app`. Those named in `without` are left out.
void add_select_options(CLI::App& app, SelectOptions& options,
                        const std::vector<std::string_view>& without = {});

/// Sets the option `name` of describe() (dashes may stand for underscores) from text; `shown_as` begins
/// every message. @throws UsageError
void set_option(SelectOptions& options, std::string_view name, const std::string& text,
                const std::string& shown_as);

/// Refuses options that contradict each other, where `app` has them. Call after parsing.
void check_select_options(const CLI::App& app);

/// "when_converged" as on the command line: "--when-converged".
std::string flag_name(std::string_view name);

// What an option's text must be, or a UsageError that names the option and says what to write.
void read_value(const std::string& flag, const std::string& text, double& value);
void read_value(const std::string& flag, const std::string& text, Index& value);
void read_value(const std::string& flag, const std::string& text, int& value);
void read_value(const std::string& flag, const std::string& text, NumberOrAuto& value);

}  // namespace fwsr::app
