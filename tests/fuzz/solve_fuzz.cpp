// Whole runs, by every method, on small problems made of the bytes: refused with a sentence, or answered
// with everything an answer promises, twice the same.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <set>

#include "fuzz.hpp"
#include "fwsr/base/result.hpp"
#include "small_problem.hpp"

namespace {

using namespace fwsr;
using fuzz::require;

void check_answer(const Selection& s, const fuzz::SmallProblem& problem) {
  const auto found = s.exemplars.size();
  require(s.status != Status::interrupted, "nobody interrupted");
  require(std::ssize(s.exemplars) <= problem.options.exemplars, "no more exemplars than asked for");
  require(std::ssize(s.exemplars) == problem.options.exemplars || !s.warnings.empty(),
          "a short answer says why");
  require(std::set<Index>(s.exemplars.begin(), s.exemplars.end()).size() == found,
          "exemplars are distinct");
  for (const Index e : s.exemplars) require(e >= 0 && e < problem.n, "exemplars are points");
  require(s.weights.size() == found && s.strength.size() == found, "each has weight and strength");
  double sum = 0;
  for (const double w : s.weights) {
    require(w >= 0, "no weight is negative");
    sum += w;
  }
  require(found == 0 || sum == static_cast<double>(problem.n), "weights sum to the points");
  for (const double v : s.strength) require(v >= 0, "strength is a number");
  for (const Fact& fact : s.facts)
    require(!std::isnan(fact.value) || s.f_at_zero > 1e300, "a fact is a number");
  if (problem.options.assignment && found > 0)
    require(std::ssize(s.assignment) == problem.n, "every point is assigned");
  if (found == 0) return;
  for (const Index a : s.assignment) require(a >= 0 && a < std::ssize(s.exemplars), "to a rank");
  for (const double x : s.codes) require(std::isfinite(x), "codes are numbers");
}

/// Sums over all points, again and again: what they may be off by.
double rounding(const Selection& s, Index n) {
  const double unit = s.plan.form == fwsr::FormKind::none ? 1e-9 : 1e-6;  // set-up in float32
  return unit * static_cast<double>(n) * static_cast<double>(s.trace.size() + 1);
}

void check_certificate(const Selection& s, const fuzz::SmallProblem& problem) {
  require(s.certificate.has_value(), "there is a certificate");
  const Certificate& c = *s.certificate;
  const double off = rounding(s, problem.n);
  require(c.reconstruction_error >= 0 && c.reconstruction_error <= 1 + off,
          "the error is in 0 .. 1");
  if (c.boolean_objective) require(!std::isnan(*c.boolean_objective), "Eq. (1) is a number");
  if (s.plan.form == fwsr::FormKind::none) return;  // other methods solve other problems
  // Sums of squares that no number holds, or of which one takes all digits of the others.
  if (s.f_at_zero > 1e300 || problem.spread() > 1e30) return;
  require(std::isfinite(c.f_at_zero) && c.f_at_zero >= 0, "f(0) is a number");
  require(std::isfinite(c.f) && c.f >= -off * c.f_at_zero, "f is a number");
  require(!std::isnan(c.gap) && c.gap > -1e300, "the gap is a number");
  if (std::isfinite(c.gap))
    require(c.gap >= -off * std::max(1.0, c.beta) * c.f_at_zero, "the gap is not negative");
  require(c.radius_used >= 0 && std::isfinite(c.radius_used), "the radius is a number");
  require(c.feasible, "the codes are feasible");
  double before = s.f_at_zero;
  for (const Step& step : s.trace) {
    require(step.pick >= 0 && step.pick < problem.n, "a pick is a point");
    require(step.f >= -off * s.f_at_zero, "f is not negative");
    require(step.f <= before + off * s.f_at_zero, "f never rises");
    require(!std::isnan(step.gap) && step.step_size >= 0 && step.step_size <= 1,
            "a step is a step");
    before = step.f;
  }
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}
bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

void check_same(const Selection& a, const Selection& b) {
  require(a.exemplars == b.exemplars && a.status == b.status, "the same exemplars again");
  require(same_bits(a.weights, b.weights) && same_bits(a.strength, b.strength) &&
              same_bits(a.codes, b.codes) && a.assignment == b.assignment,
          "the same codes again");
  const Certificate &c = *a.certificate, &e = *b.certificate;
  require(same_bits(c.f, e.f) && same_bits(c.gap, e.gap) &&
              same_bits(c.reconstruction_error, e.reconstruction_error),
          "the same certificate again");
}

/// The answer, or nothing when the problem was refused.
std::optional<Selection> solve(const fuzz::SmallProblem& problem) {
  try {
    return select(problem.view(), problem.options, problem.choice);
  } catch (const Error& refused) {
    require(std::strlen(refused.what()) > 10, "a refusal is a sentence");
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::SmallProblem problem{fuzz::Bytes({data, size})};
  const auto answer = solve(problem);
  const auto again = solve(problem);
  require(answer.has_value() == again.has_value(), "refused twice, or never");
  if (!answer) return 0;
  check_answer(*answer, problem);
  check_certificate(*answer, problem);
  check_same(*answer, *again);
  return 0;
}
