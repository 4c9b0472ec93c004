#include "fwsr/solver/terms.hpp"

#include <algorithm>
#include <type_traits>

#include "fwsr/base/at.hpp"

namespace fwsr {

namespace {

std::vector<double> unless_all_one(const std::vector<double>& values) {
  const bool plain = std::all_of(values.begin(), values.end(), [](double v) { return v == 1; });
  return plain ? std::vector<double>{} : values;
}

}  // namespace

Terms terms_of(const Conditions& c, Index n) {
  Terms terms{.weights = unless_all_one(c.weights),
              .candidates = {},
              .costs = unless_all_one(c.costs),
              .included = c.included};
  if (!c.at_least.empty() || !c.at_most.empty())
    terms.groups.assign(c.groups.codes().begin(), c.groups.codes().end());
  if (candidate_count(c, n) < n) terms.candidates = candidates_of(c, n);
  return terms;
}

Terms terms_of(const Terms& terms, Index first, Index size) {
  const auto part = [&](const auto& v) {
    using List = std::remove_cvref_t<decltype(v)>;
    return v.empty() ? v : List(v.begin() + first, v.begin() + first + size);
  };
  Terms own{.weights = part(terms.weights), .candidates = {}, .costs = part(terms.costs)};
  own.groups = part(terms.groups);
  for (const Index i : terms.candidates)
    if (i >= first && i < first + size) own.candidates.push_back(i - first);
  return own;
}

std::vector<char> candidate_marks(const Terms& terms, Index n) {
  if (terms.candidates.empty()) return {};
  std::vector<char> marks(at(n));
  for (const Index i : terms.candidates) marks[at(i)] = 1;
  return marks;
}

}  // namespace fwsr
