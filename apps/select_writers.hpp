// The formats in which `fwsr select` writes its answer, its codes and its assignment.
#pragma once

#include "apps/select_result.hpp"
#include "apps/writers.hpp"

namespace fwsr::app {

const Writers<SelectResult>& select_writers();      // -o
const Writers<SelectResult>& codes_writers();       // --codes
const Writers<SelectResult>& assignment_writers();  // --assignment

// One file each.

/// One line per exemplar: rank,index[,id][,class],weight,strength[,filled].
void write_picks_csv(std::ostream& out, const SelectResult& result, const WriteStyle& style);
/// Everything, as result_json (apps/result_json.hpp) has it.
void write_picks_json(std::ostream& out, const SelectResult& result, const WriteStyle& style);
/// The codes as a NumPy array of n x k float64.
void write_codes_npy(std::ostream& out, const SelectResult& result, const WriteStyle& style);
/// One line per point: index[,id],position,exemplar.
void write_assignment_csv(std::ostream& out, const SelectResult& result, const WriteStyle& style);
/// The positions as a NumPy array of n int64.
void write_assignment_npy(std::ostream& out, const SelectResult& result, const WriteStyle& style);

}  // namespace fwsr::app
