#include "fwsr/solver/forms.hpp"

namespace fwsr {

#define FWSR_DECLARE(name) FormEntry name##_entry();
FWSR_FORMS(FWSR_DECLARE)
#undef FWSR_DECLARE

const FormEntry& entry_of(FormKind kind) {
#define FWSR_ENTRY(name) , name##_entry()
  static const std::vector<FormEntry> table = {FormEntry{} FWSR_FORMS(FWSR_ENTRY)};
#undef FWSR_ENTRY
  return table.at(static_cast<std::size_t>(kind));
}

const char* name_of(FormKind v) {
  return entry_of(v).name;
}

std::unique_ptr<Form> make_form(PreparedProblem& prepared, const SelectOptions& o, const Plan& plan,
                                const KeepGoing& keep_going) {
  return entry_of(plan.form).make(prepared, o, plan, keep_going);
}

}  // namespace fwsr
