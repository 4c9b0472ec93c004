// The result of a selection as JSON, and what the JSON of all commands has in common.
#pragma once

#include <ostream>
#include <string>

#include "apps/json.hpp"
#include "apps/select_result.hpp"

namespace fwsr::app {

/// Everything. Keys that depend on the machine and not on the question are `seconds`, `threads`
/// (also in a plan) and `peak_memory_bytes`.
Json result_json(const SelectResult& result);

/// The part of it that the selection is: picks, runs and warnings.
void add_selection(Json& json, const SelectResult& result);

/// The options as the user gave them.
Json asked_json(const SelectResult& result);

/// Shape, type and notes of the data: the same in every command.
Json data_json(const Dataset& data);
/// A plan with the seconds it would take.
Json timed_plan_json(const Plan& plan);

/// Which lists of keys these are (result_schema), and which program wrote them: at the end of every answer.
void add_version(Json& json);

/// `json` with line breaks; bytes that are not UTF-8 are replaced, as JSON has no way to hold them.
void write_json(std::ostream& out, const Json& json);

}  // namespace fwsr::app
