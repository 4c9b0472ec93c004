// What a run says about itself, listed once: the program's JSON and CSV, Python's attributes and the pages read `describe`.
//
// Every field is visited as (name, value, sentence), in the order of documents. A value is a number, a word, a list, an
// object that is described itself, or a std::optional of these where it may not exist; a number that is not finite does
// not exist either. Sentences begin with a small letter and have no full stop.
#pragma once

#include <cmath>
#include <concepts>
#include <limits>
#include <optional>
#include <type_traits>

#include "fwsr/solver/selection.hpp"
#include "fwsr/solver/sweep.hpp"

namespace fwsr {

/// The number of these lists: larger by one whenever a name goes, or means something else. Added names leave it alone.
inline constexpr int result_schema = 1;

/// A struct that may be const, so that a visitor can read the fields or move them out.
template <class Given, class Struct>
concept MaybeConst = std::same_as<std::remove_const_t<Given>, Struct>;

/// A step of the trace.
template <MaybeConst<Step> Given, class Visit>
void describe(Given& s, Visit&& visit) {
  visit("pick", s.pick, "index of the point that the step picked");
  visit("f", s.f, "the objective after the step");
  visit("gap", s.gap, "the gap before the step");
  visit("step_size", s.step_size, "how far the step went, in [0, 1]: gamma of the paper's line 15");
  visit("beta", s.beta, "the radius of the step");
  visit("score", s.score, "the dual norm of the picked row of K - K X, before the step");
  visit("rows", s.rows, "the number of exemplars after the step");
}

/// Methods that solve another problem have nothing but f_at_zero, reconstruction_error and boolean_objective.
template <MaybeConst<Certificate> Given, class Visit>
void describe(Given& c, Visit&& visit) {
  const bool solved = !std::isnan(c.f);
  const auto if_solved = [solved](double v) {
    return solved ? v : std::numeric_limits<double>::quiet_NaN();
  };
  const auto whether = [solved](bool v) { return solved ? std::optional(v) : std::nullopt; };
  visit("f", c.f, "the objective of the final codes");
  visit("f_at_zero", c.f_at_zero, "the objective for X = 0");
  visit("gap", c.gap, "nobody can do better than `f - gap` within the radius");
  visit("beta", c.beta, "the radius");
  visit("radius_used", c.radius_used, "the sum of the norms of the rows of codes, at most `beta`");
  visit("feasible", whether(c.feasible), "whether the codes obey the constraints, to rounding");
  visit("f_error", if_solved(c.f_error),
        "`f` is right to within this: what rounding may have done");
  visit("gap_error", if_solved(std::isfinite(c.gap) ? c.gap_error : c.gap),
        "and `gap` to within this");
  visit("trusted", whether(c.trusted),
        "false where rounding leaves no digits, as beside a point that is 1e20 times the others");
  visit("reconstruction_error", c.reconstruction_error,
        "the fraction of the points outside the span of the exemplars, by squared norms");
  visit("boolean_objective", c.boolean_objective,
        "the paper's Eq. (1), where lambda and rho are given");
}

template <MaybeConst<Refinement> Given, class Visit>
void describe(Given& r, Visit&& visit) {
  visit("before", r.before, "the ridge form of the paper's Eq. (1) for the exemplars as chosen");
  visit("after_exchange", r.after_exchange, "the same when no exchange helped any more");
  visit("after", r.after,
        "the same for the exemplars of the answer: larger where they moved to the middle");
  visit("mu", r.mu, "its ridge weight");
  visit("exchanges", r.exchanges, "how many exemplars were exchanged, one at a time");
  visit("rounds", r.rounds, "visits to all points for that");
  visit("local_optimum", r.local_optimum,
        "whether no permitted exchange of one exemplar for one other point helped any more; of the "
        "exemplars before they moved");
  visit("moves", r.moves,
        "how often an exemplar moved to the middle of the points that it stands for");
  visit("middle_rounds", r.middle_rounds, "visits to all points for that, two each");
}

/// Of a run itself. Reading and writing are the program's.
template <MaybeConst<Seconds> Given, class Visit>
void describe(Given& s, Visit&& visit) {
  visit("setup", s.setup, "before the first step");
  visit("steps", s.steps, "all steps");
  visit("exchange", s.exchange, "exchanging exemplars");
  visit("certificate", s.certificate, "weights and certificate");
}

template <MaybeConst<Plan> Given, class Visit>
void describe(Given& p, Visit&& visit) {
  visit("method", p.method, "name of the method");
  visit("form", p.form, "of exchange, fwsr and k-fwsr: `covariance`, `representer` or `gradient`");
  visit("kernel", p.kernel, "whose space the exemplars are chosen in");
  visit("kernel_by", p.kernel_by,
        "where the kernel comes from: `held`, `tiles`, `products`, `given` or `factor`");
  visit("rank", p.rank, "columns asked of a factor in place of the kernel; 0: the kernel itself");
  visit("refine", p.refine,
        "what is done with the exemplars once they are chosen: `none`, `exchange` or `middle`");
  visit("why", p.why, "one sentence: why this form, what is held");
  visit("points", p.points, "number of points");
  visit("features", p.features, "number of features");
  visit("passes", p.passes, "over the points, about");
  visit("memory_bytes", p.memory_bytes, "what the run takes beside the data, all threads together");
  visit("data_bytes", p.data_bytes, "the points; of streamed ones what is held at a time");
  visit("memory_per_thread", p.memory_per_thread,
        "the part of `memory_bytes` that every thread adds");
  visit("setup_flops", p.setup_flops, "operations before the first step");
  visit("step_flops", p.step_flops, "operations of a step");
  visit("notes", p.notes, "copies, conversions and other things to know");
  visit("threads", p.threads, "how many");
  visit("device", p.device, "where the work is done: `cpu`, or a card, as `cuda`");
  visit("device_bytes", p.device_bytes,
        "what the run takes of the card's memory; 0: there is none");
}

/// The chosen points, as lists of equal length.
template <MaybeConst<Selection> Given, class Visit>
void describe_chosen(Given& s, Visit&& visit) {
  visit("exemplars", s.exemplars,
        "indices of the chosen points, in the order of choosing; per class: class after class");
  visit("weights", s.weights,
        "for each exemplar the number of points it stands for: those it is nearest to");
  visit("strength", s.strength,
        "for each the norm of its row of codes, or the method's own measure");
  visit("filled", s.filled, "for each whether `fill` added it, or the floor of its group");
  visit("included", s.included, "for each whether it was there already; these come first");
}

/// How the run went, and how good the answer is.
template <MaybeConst<Selection> Given, class Visit>
void describe_outcome(Given& s, Visit&& visit) {
  const auto gamma = s.gamma > 0 ? std::optional(s.gamma) : std::nullopt;
  const auto kernel_rank = s.kernel_rank > 0 ? std::optional(s.kernel_rank) : std::nullopt;
  visit(
      "status", s.status,
      "how the run ended: `exemplars_reached`, or why there are fewer: `converged` (the gap closed "
      "first), `exhausted` (nothing is left to represent), `iteration_limit`, `interrupted` (while "
      "exemplars were exchanged: these are the best so far), and under conditions `budget_spent`, "
      "`error_reached`, `time_limit`, `candidates_exhausted`");
  visit("f_at_zero", s.f_at_zero, "the objective for X = 0, before the first step");
  visit("beta", s.beta, "the radius at the end; infinite for alpha = 0");
  visit("eta", s.eta, "the penalty for codes whose sum is not 1, absolute");
  visit("eta_in_rms", s.eta_in_rms,
        "the same in units of the root-mean-square norm of the points, as `eta_relative` takes it");
  visit("gamma", gamma, "width of the kernel, as given or as found; none for kernels without one");
  visit("kernel_rank", kernel_rank,
        "columns of the factor in place of the kernel; none where the kernel is exact");
  visit("kernel_error", s.kernel_error,
        "the fraction of the kernel's trace that the factor leaves out");
  visit("trace", s.trace, "the steps; empty for methods other than exchange, fwsr and k-fwsr");
  visit("facts", s.facts,
        "what another method found out, by name, as in `cost` or `iterations`; empty for "
        "exchange, fwsr and k-fwsr");
  visit("refinement", s.refinement, "what refine did; none where it was not asked for");
  visit("certificate", s.certificate,
        "how good the answer is, computed anew from the data; none where it was not asked for");
}

/// What only some methods find: lists that are empty for all others.
template <MaybeConst<Selection> Given, class Visit>
void describe_found(Given& s, Visit&& visit) {
  visit("importance", s.importance,
        "for each exemplar what it counts for: of coreset in a sum over all points, of fw-coreset "
        "in the combination that is the centre, or in all that are nearest to the points; 0 where "
        "`fill` added it");
  visit("clusters", s.clusters,
        "for every point the number of its cluster, from 0; of ssc and ssc-omp with `clusters`");
  visit("atoms", s.atoms,
        "of ksvd: for each exemplar the atom that it is nearest to; where codes were asked for, "
        "which are then those of all points over the atoms");
}

template <MaybeConst<Selection> Given, class Visit>
void describe(Given& s, Visit&& visit) {
  describe_chosen(s, visit);
  describe_outcome(s, visit);
  describe_found(s, visit);
  visit("plan", s.plan, "how it was computed, and what that takes");
  visit("seconds", s.seconds, "what its parts took");
  visit(
      "assignment", s.assignment,
      "for every point the position of its exemplar in `exemplars`, or -1; where it was asked for");
  visit("codes", s.codes,
        "of all points over the exemplars, one row a point; where they were asked for");
  visit("coefficients", s.coefficients,
        "what gives codes of new points: Theta and its basis, for q = 2 and free signs");
  visit("warnings", s.warnings, "sentences to know, as they are printed");
}

/// What all settings of a sweep take together.
template <MaybeConst<SweepPlan> Given, class Visit>
void describe(Given& p, Visit&& visit) {
  visit("settings", p.settings, "how many there are");
  visit("at_once", p.at_once, "how many share a pass over the points");
  visit("rounds", p.rounds, "how often so many are run");
  visit("shared", p.shared, "one sentence: what they share");
  visit("memory_bytes", p.memory_bytes, "what all take beside the data, all threads together");
}

}  // namespace fwsr
