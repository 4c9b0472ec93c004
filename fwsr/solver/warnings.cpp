#include "fwsr/solver/warnings.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "fwsr/kernel/formula.hpp"
#include "fwsr/solver/linear_sweep.hpp"

namespace fwsr {

namespace {

/// A factor that leaves out more than this part of what the exemplars leave out has begun to
/// choose worse; and more than this part of tr K, where nobody measured the exemplars.
constexpr double large_beside_exemplars = 0.6;
constexpr double large_alone = 0.1;
constexpr double never_large = 0.01;

/// Whether included exemplars leave nothing of the points, to rounding.
bool spanned_by_included(const Selection& s, const SelectOptions& o) {
  return formula_of(o.kernel.type).linear && s.f_at_zero == 0 &&
         std::find(s.included.begin(), s.included.end(), true) != s.included.end();
}

std::string words_of_span(Index included, Index features) {
  const std::string enough =
      included >= features
          ? fmt::format(
                ": of points with {0} features any {0} that differ, if only by rounding, do",
                features)
          : "";
  return fmt::format(
      "the exemplars that are included span all points already{}; include fewer, or choose another "
      "kernel, such as rbf, which tells more apart",
      enough);
}

}  // namespace

std::string words_of_filling(const Selection& s, const SelectOptions& o, bool fill_would_add) {
  const Index included = std::count(s.included.begin(), s.included.end(), true),
              filled = std::count(s.filled.begin(), s.filled.end(), true),
              missing = o.exemplars - (std::ssize(s.exemplars) - included);
  std::string words;
  if (filled > 0 && !o.fill)
    words = fmt::format("; {} {} added for the floors of groups, the farthest points of these",
                        filled, filled == 1 ? "was" : "were");
  else if (filled > 0 && missing > 0)
    words = fmt::format("; {} {} filled up with the farthest points, and nobody else may be chosen",
                        filled, filled == 1 ? "was" : "were");
  else if (filled > 0)
    words = "; the rest was filled up with the farthest points";
  if (!o.fill && missing > 0 && fill_would_add) words += "; fill would add the farthest ones";
  return words;
}

void warn_if_short(Selection& s, const SelectOptions& o, Index features, std::size_t place) {
  const Index included = std::count(s.included.begin(), s.included.end(), true),
              filled = std::count(s.filled.begin(), s.filled.end(), true),
              found = std::ssize(s.exemplars) - included - filled;
  if (found >= o.exemplars || s.status == Status::error_reached || s.status == Status::budget_spent)
    return;
  std::string reason;
  switch (s.status) {
    case Status::converged:
      reason =
          "the gap closed first; a smaller alpha, a larger beta or when-converged grow finds more";
      break;
    case Status::exhausted:
      reason =
          spanned_by_included(s, o) ? words_of_span(included, features)
          : s.eta_in_rms > 1e3
              ? "eta is so large beside the points that nothing else counts; choose a smaller one"
          : o.kernel.type != KernelType::precomputed && effective_center(o) != Center::none
              ? "the others add nothing (copies, already represented, or nothing but what centring "
                "takes away)"
              : "the others add nothing (copies, or already represented)";
      break;
    case Status::iteration_limit:
      reason =
          s.plan.method == "exchange"
              ? "the iteration limit came first; ask for fewer, or with fill "
                "for the farthest of the others"
          : o.when_converged == WhenConverged::grow
              ? "the iteration limit came first; raise it, or try center feature: what all points "
                "have in common may hide how they differ"
              : "the iteration limit came first; raise it, or choose a larger beta";
      break;
    case Status::interrupted:
      reason = "the run was interrupted";
      break;
    case Status::time_limit:
      reason = "the time limit came first; allow more, or ask for fewer";
      break;
    case Status::candidates_exhausted:
      reason = "nobody else may be chosen";
      break;
    case Status::budget_spent:
    case Status::error_reached:
    case Status::exemplars_reached:
      break;
  }
  // A budget stands for a number that nobody gave.
  s.warnings.insert(
      s.warnings.begin() + static_cast<std::ptrdiff_t>(place),
      fmt::format("{}found {}: {}{}", o.budget ? "" : fmt::format("asked for {}, ", o.exemplars),
                  found, reason, words_of_filling(s, o, s.status == Status::exhausted)));
}

std::string words_of_interruption(const std::optional<Refinement>& found) {
  if (!found)
    return "interrupted before the first exchange: the exemplars are as they were chosen, and "
           "exchanges might help";
  if (found->local_optimum)
    return "interrupted while exemplars moved to the middle of what they stand for: not all are "
           "there yet";
  return fmt::format(
      "the exchanges were interrupted after {} visit{} to the points: this is not yet a local "
      "optimum, and others might help",
      found->rounds, found->rounds == 1 ? "" : "s");
}

void warn_if_exchange_ended(const std::optional<Exchanged>& found, const SelectOptions& o,
                            Selection& s) {
  if (o.refine == Refine::none) return;
  if (s.status == Status::time_limit && !found)
    s.warnings.push_back(
        "the time limit came before the first exchange: the exemplars are as they were chosen; "
        "allow more time, or ask for fewer");
  else if (s.status == Status::time_limit)
    s.warnings.push_back(fmt::format(
        "the time limit ended the exchanges after {} visit{} to the points: others might help",
        found->rounds, found->rounds == 1 ? "" : "s"));
  if (s.status == Status::interrupted) s.warnings.push_back(words_of_interruption(s.refinement));
  if (found && found->only_refused)
    s.warnings.push_back(fmt::format(
        "exchanges ended where all that were found would leave more than {} unexplained; others "
        "might help",
        *o.until_error));
}

void warn_if_spanned(Selection& s, const SelectOptions& o, Index features) {
  const bool linear = formula_of(o.kernel.type).linear;
  const Index dimensions = features - (effective_center(o) == Center::point ? 1 : 0);
  // Where the number is a limit, or nobody gave one, what counts is how many there are.
  const Index exemplars = o.budget || o.until_error ? std::ssize(s.exemplars) : o.exemplars;
  if (!linear || exemplars <= dimensions) return;
  s.warnings.push_back(fmt::format(
      "{} exemplars of points with {} dimension{}{}: once these are spanned, further picks add "
      "nothing; another kernel, such as rbf, tells more apart",
      exemplars, dimensions, dimensions == 1 ? "" : "s",
      effective_center(o) == Center::point ? " after centring each point" : ""));
}

void warn_if_rounded(const Coefficients& theta, const KernelMatrix& kernel, Selection& s) {
  constexpr double most = 1e-4;
  const auto norms = [&](const std::vector<Index>& points) {
    std::vector<double> all;
    for (const Index i : points) all.push_back(std::sqrt(std::max(0.0, kernel.diagonal(i))));
    return all;
  };
  const double lost = code_roughness(theta, norms(theta.basis), norms(s.exemplars));
  if (lost < most) return;
  s.warnings.push_back(fmt::format(
      "codes tell points to no more than {:.1g} of their length: the exemplars that are included "
      "differ by little of theirs; include fewer, or take away what they have in common (center "
      "feature)",
      std::min(1.0, lost)));
}

void warn_if_not_trusted(bool in_float32, Selection& s) {
  if (!s.certificate) return;
  const Certificate& c = *s.certificate;
  if (c.f < -c.f_error)
    s.warnings.push_back(
        "f is below zero: the kernel is not positive semi-definite on these points, so that f and "
        "gap say nothing; a polynomial with a larger coef0 is, and so are other kernels");
  if (c.trusted) return;
  const bool included = std::find(s.included.begin(), s.included.end(), true) != s.included.end();
  const bool little_left = included && std::max(c.f_error, c.gap_error) > 1e-3 * c.f_at_zero;
  s.warnings.push_back(fmt::format(
      "the certificate cannot be trusted: rounding may have changed f by {:.2g} and the gap by "
      "{:.2g}, because {}",
      c.f_error, c.gap_error,
      little_left
          ? fmt::format("the exemplars that are included leave no more of the points than {:.2g}: "
                        "they are represented already; include fewer, or ask for fewer",
                        c.f_at_zero)
      : in_float32
          ? fmt::format(
                "the kernel is held in float32, and its rounding shows beside what is left; {}give "
                "float64 points",
                s.plan.method == "exchange" ? ""
                                            : "hold it in double (--precise, precise=True), or ")
          : "some numbers are so large that the others are lost beside them; remove these points, "
            "or rescale or centre the features"));
}

void describe_factor(const Factor& factor, const SelectOptions& o, Selection& s) {
  s.kernel_rank = factor.rank();
  s.kernel_error = factor.error();
  const double error = factor.error();
  const double limit =
      s.certificate ? large_beside_exemplars * s.certificate->reconstruction_error : large_alone;
  if (error > std::max(limit, never_large))
    s.warnings.push_back(
        fmt::format("the factor of rank {} leaves {:.3g} % of the kernel's trace out{}: a larger "
                    "rank chooses better",
                    factor.rank(), 100 * error,
                    s.certificate ? fmt::format(", beside {:.3g} % that the exemplars leave",
                                                100 * s.certificate->reconstruction_error)
                                  : ""));
  if (!o.budget && o.exemplars > factor.rank())
    s.warnings.push_back(
        fmt::format("{} exemplars through a factor of rank {}: once its columns are spanned, "
                    "further picks add nothing",
                    o.exemplars, factor.rank()));
}

}  // namespace fwsr
