// The settings and options of a method: read from text, completed, and refused where the method does not have them.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "fwsr/methods/method.hpp"
#include "fwsr/solver/options.hpp"

namespace fwsr {

/// The settings given as text, with the defaults of all others. Throws Error for names and values that the
/// method does not have.
Settings settings_of(const Method& method, const std::map<std::string, std::string>& given);

/// Whether a setting is there and is this word.
bool has_word(const Settings& settings, std::string_view name, std::string_view word);

/// The options as the method understands them: with its kernel and its centring, where none was asked for
/// (fwsr: each point less its mean; all others: the points as they are). Throws Error
/// when an option is set that the method does not have.
SelectOptions options_for(const Method& method, const Settings& settings, SelectOptions options);

}  // namespace fwsr
