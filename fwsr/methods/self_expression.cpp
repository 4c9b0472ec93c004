#include "fwsr/methods/self_expression.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/methods/point_count.hpp"
#include "fwsr/methods/spectral.hpp"
#include "fwsr/methods/ties.hpp"

namespace fwsr {

namespace {

/// The strongest of each cluster in turn, larger clusters first; those no other point uses are no exemplars.
std::vector<Index> in_turn(const std::vector<Index>& order, const std::vector<Index>& clusters,
                           Index count) {
  std::vector<std::vector<Index>> members;
  std::vector<Index> sizes;
  for (const Index c : clusters) {
    sizes.resize(std::max(sizes.size(), at(c) + 1));
    ++sizes[at(c)];
  }
  members.resize(sizes.size());
  for (const Index i : order) members[at(clusters[at(i)])].push_back(i);
  std::vector<std::size_t> turns(sizes.size());
  for (std::size_t c = 0; c < turns.size(); ++c) turns[c] = c;
  std::stable_sort(turns.begin(), turns.end(),
                   [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
  std::vector<Index> chosen;
  for (std::size_t round = 0;; ++round) {
    const std::size_t before = chosen.size();
    for (const std::size_t c : turns)
      if (round < members[c].size() && static_cast<Index>(chosen.size()) < count)
        chosen.push_back(members[c][round]);
    if (chosen.size() == before) return chosen;
  }
}

/// Rows of C for codes: exemplars x points.
std::vector<double> codes_of(const SparseCodes& codes, const std::vector<Index>& exemplars,
                             std::span<const double> scales) {
  const Index n = codes.size();
  std::vector<Index> place(at(n), -1);
  for (std::size_t t = 0; t < exemplars.size(); ++t)
    place[at(exemplars[t])] = static_cast<Index>(t);
  std::vector<double> rows(exemplars.size() * at(n));
  for (Index i = 0; i < n; ++i)
    for (const SparseCodes::Entry& e : codes.columns[at(i)]) {
      const double times = scales.empty() ? 1 : scales[at(i)] / scales[at(e.row)];
      if (place[at(e.row)] >= 0) rows[at(place[at(e.row)] * n + i)] = times * e.value;
    }
  return rows;
}

}  // namespace

double SparseCodes::nonzeros() const {
  double count = 0;
  for (const auto& column : columns) count += static_cast<double>(column.size());
  return count;
}

std::vector<double> row_norms(const SparseCodes& codes) {
  std::vector<double> norms(codes.columns.size());
  for (const auto& column : codes.columns)
    for (const SparseCodes::Entry& e : column) norms[at(e.row)] += e.value * e.value;
  for (double& v : norms) v = std::sqrt(v);
  return norms;
}

Picks choose_by_rows(const Task& task, const SparseCodes& codes, std::span<const double> scales,
                     const std::string& more) {
  const std::vector<double> norms = row_norms(codes);
  std::vector<Index> order = by_score(norms, rough_width);
  for (Index i = 0; i < task.size(); ++i)
    if (codes.columns[at(i)].empty() && !(norms[at(i)] > 0) && task.points->squared_norm(i) > 0)
      order.push_back(i);
  const std::size_t rows = order.size();
  const Index asked = task.settings.whole("clusters"), wanted = std::min(asked, task.size());
  Picks picks;
  if (wanted < asked)
    picks.warnings.push_back(
        fmt::format("clusters is {}, and there are {}: {} groups are looked for; ask for fewer",
                    asked, point_count(task.size()), wanted));
  if (wanted > 0) {
    picks.clusters = spectral_clusters(codes, wanted, task.threads, task.keep_going);
    order = in_turn(order, picks.clusters, task.exemplars);
  }
  order.resize(std::min(order.size(), at(task.exemplars)));
  for (const Index i : order) picks.strength.push_back(norms[at(i)]);
  if (task.codes) picks.codes = codes_of(codes, order, scales);
  picks.exemplars = std::move(order);
  if (rows > 0 && rows < at(std::min(task.exemplars, task.size())))
    picks.warnings.push_back(fmt::format("only {} {} used by others; {} may give more",
                                         point_count(static_cast<Index>(rows)),
                                         rows == 1 ? "is" : "are", more));
  return picks;
}

Parameter clusters_parameter() {
  return {.name = "clusters",
          .value = Index{0},
          .about =
              "groups of points to find by spectral clustering of the codes, of each of "
              "which the strongest are taken; 0: none",
          .least = 0,
          .most = 1e5};
}

double by_rows_bytes(const Sizes& s, const Settings& settings, double nonzeros) {
  const auto clusters = static_cast<double>(settings.whole("clusters"));
  const double own = s.n * (24 + 16 * nonzeros + 16);
  return own + (clusters > 0 ? spectral_bytes(s.n, clusters, nonzeros) : 0);
}

double by_rows_flops(const Sizes& s, const Settings& settings, double nonzeros) {
  const auto clusters = static_cast<double>(settings.whole("clusters"));
  return 40 * s.n * nonzeros + (clusters > 0 ? spectral_flops(s.n, clusters, nonzeros) : 0);
}

}  // namespace fwsr
