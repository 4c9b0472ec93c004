// The forms: whom each serves, what it takes, how it is made. A form is a class (form.hpp), a
// FormEntry that its plan describes (gradient_plan.cpp is the shortest) and a line of the table in
// selection.hpp.
#pragma once

#include <memory>
#include <vector>

#include "fwsr/solver/form.hpp"
#include "fwsr/solver/plan_parts.hpp"
#include "fwsr/solver/prepared_problem.hpp"
#include "fwsr/solver/selection.hpp"

namespace fwsr {

struct FormEntry {
  const char* name = "";
  /// Appends its ways to do the work; none where it cannot serve.
  void (*candidates)(const PlanRequest& request, std::vector<Candidate>& all) = nullptr;
  /// Adds what the plan's way takes, beside reading and preparing the points.
  void (*count)(const Pieces& p, const SelectOptions& o, Plan& plan) = nullptr;
  /// As make_form (prepared_problem.hpp).
  std::unique_ptr<Form> (*make)(PreparedProblem& prepared, const SelectOptions& o, const Plan& plan,
                                const KeepGoing& keep_going) = nullptr;
};

/// @pre kind is not none
const FormEntry& entry_of(FormKind kind);

}  // namespace fwsr
