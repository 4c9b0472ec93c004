// Random conditions for random problems, whether an answer keeps them, and whether it is that of the literal algorithm.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fwsr/base/random.hpp"
#include "fwsr/solver/selection.hpp"
#include "problems.hpp"

namespace random_conditions {

using fwsr::Index;

bool chance(fwsr::Rng& rng, double p);
Index below(fwsr::Rng& rng, Index n);

/// Some conditions of every kind, each with the given chance, that the options of the problem can be kept under.
void add_conditions(problems::Problem& p, double each);

/// What candidates, floors, caps and a budget ask of the exemplars of a run that ended by itself.
void expect_kept(const fwsr::Selection& s, const fwsr::SelectOptions& o);

/// The seeds of a test, or the one that FWSR_SEED names: then nothing is asked of how many there were of a kind.
struct Seeds {
  Seeds(std::uint64_t first, std::uint64_t last);
  std::uint64_t from, to;
  bool one;
};

/// How often each form and condition was met.
using Seen = std::map<std::string, Index>;
void see(const fwsr::Plan& plan, const fwsr::SelectOptions& o, Seen& seen);
std::string text_of(const Seen& seen);

struct Tally {
  Index problems = 0, whole = 0, steps = 0;
  Seen seen;
};
void print(const char* title, const Tally& tally);

/// Runs a problem by this plan, and the literal algorithm beside it: same picks, steps, codes and certificate.
void try_problem(const problems::Problem& problem, const fwsr::Plan& plan, Tally& tally);
/// The same for an answer that is there.
void compare_with_oracle(const problems::Problem& problem, const fwsr::Selection& selection,
                         Tally& tally);

/// Data of n points in d dimensions around some centres.
struct Points {
  Points(Index n, Index d, std::uint64_t seed,
         problems::Storage storage = problems::Storage::dense_f64);
  std::vector<double> values;
  problems::Data data;
};

/// Points of which each stands there one to three times, and how often: the meaning of whole weights.
struct Repeated {
  Repeated(const Points& points, fwsr::Rng& rng);
  std::vector<double> copies;
  std::vector<Index> first;  // for every point where its copies begin
  Index n = 0;               // of all copies
  problems::Data data;
};

}  // namespace random_conditions
