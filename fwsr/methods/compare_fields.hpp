// What a comparison says about each method, listed once, as solver/result_fields.hpp does for a run. The measures of its
// trials are listed by measures() (methods/compare.hpp).
#pragma once

#include "fwsr/methods/compare.hpp"
#include "fwsr/solver/result_fields.hpp"

namespace fwsr {

template <MaybeConst<Comparison> Given, class Visit>
void describe(Given& c, Visit&& visit) {
  visit("name", c.name, "as given, with settings");
  visit("outcome", c.outcome, "`done`, `too_large` (memory), `too_slow` (time limit) or `refused`");
  visit("reason", c.reason, "of every outcome but `done`: one sentence");
  visit("planned_seconds", c.planned_seconds, "the estimate of one run");
  visit("device", c.device, "where it ran: `cpu`, or the card");
  visit("warnings", c.warnings, "sentences to know");
}

}  // namespace fwsr
