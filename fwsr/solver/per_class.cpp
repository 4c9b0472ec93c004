// Class by class: every class is a problem of its own.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>

#include <fmt/format.h>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/solver/planner.hpp"
#include "fwsr/solver/select.hpp"
#include "fwsr/solver/select_points.hpp"

namespace fwsr {

namespace {

/// Numbers before words, numbers by value.
struct ByName {
  static std::pair<bool, double> number(const std::string& s) {
    double value = 0;
    const auto [end, code] = std::from_chars(s.data(), s.data() + s.size(), value);
    const bool is_word = code != std::errc{} || end != s.data() + s.size() || std::isnan(value);
    return {is_word, is_word ? 0.0 : value};
  }
  bool operator()(const std::string& a, const std::string& b) const {
    const auto na = number(a), nb = number(b);
    return na != nb ? na < nb : a < b;
  }
};

__extension__ using Wide = __int128;  // products of two sizes

using Members = std::map<std::string, std::vector<Index>, ByName>;

std::string list_of(const Members& members) {
  std::string names;
  for (const auto& [name, points] : members) {
    if (names.size() > 200) return names + ", ...";
    names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

/// How many each class is asked for, in the order of the classes.
std::vector<Index> wanted_of(const Members& members, const ClassCounts& counts) {
  std::vector<Index> wanted;
  if (counts.kind == ClassCounts::Kind::proportional) {
    std::vector<Index> sizes;
    for (const auto& [name, points] : members) sizes.push_back(static_cast<Index>(points.size()));
    const Index all = std::accumulate(sizes.begin(), sizes.end(), Index{0});
    if (counts.number < 1 || counts.number > all)
      throw Error(
          fmt::format("{} exemplars in all were asked for, out of {} points; ask for 1 to {}",
                      counts.number, all, all));
    return proportional_shares(sizes, counts.number);
  }
  for (const auto& [name, number] : counts.named) {
    if (!members.contains(name))
      throw Error(
          fmt::format("there is no class '{}'; the classes are {}", name, list_of(members)));
    if (number < 0) throw Error(fmt::format("class '{}' cannot give {} exemplars", name, number));
  }
  if (counts.kind == ClassCounts::Kind::each && counts.number < 1)
    throw Error(
        fmt::format("the number of exemplars per class must be at least 1, got {}", counts.number));
  for (const auto& [name, points] : members) {
    const auto found = counts.named.find(name);
    wanted.push_back(counts.kind == ClassCounts::Kind::each ? counts.number
                     : found == counts.named.end()          ? 0
                                                            : found->second);
  }
  return wanted;
}

}  // namespace

std::vector<Index> proportional_shares(const std::vector<Index>& sizes, Index total) {
  const Index all = std::accumulate(sizes.begin(), sizes.end(), Index{0});
  total = std::min(total, all);
  std::vector<Index> shares;
  std::vector<std::pair<Index, std::size_t>> rest;  // remainder times -1, class
  for (std::size_t c = 0; c < sizes.size(); ++c) {
    const auto product = static_cast<Wide>(sizes[c]) * total;
    shares.push_back(static_cast<Index>(product / all));
    rest.push_back({-static_cast<Index>(product % all), c});
  }
  Index left = total - std::accumulate(shares.begin(), shares.end(), Index{0});
  std::sort(rest.begin(), rest.end());
  for (std::size_t i = 0; left > 0; ++i, --left) ++shares[rest[i].second];
  return shares;
}

std::vector<ClassSelection> select_per_class(const PointsView& points,
                                             const std::vector<std::string>& labels,
                                             const ClassCounts& counts,
                                             const SelectOptions& options,
                                             const Observer& observer) {
  const Index n = rows_of(points);
  if (static_cast<Index>(labels.size()) != n)
    throw Error(fmt::format("there are {} labels for {} points; there must be one for each",
                            labels.size(), n));
  Members members;
  for (Index i = 0; i < n; ++i) members[labels[static_cast<std::size_t>(i)]].push_back(i);
  const std::vector<Index> wanted = wanted_of(members, counts);

  const int threads = options.threads > 0 ? options.threads : default_threads();
  const auto classes = static_cast<Index>(members.size());
  const bool in_parallel = classes >= threads;  // else all threads work on one class at a time
  const PlanFacts all = facts_of(points, in_parallel ? 1 : threads);

  // Plan everything first: what does not fit is refused before any work.
  struct Task {
    const std::vector<Index>* members;
    SelectOptions options;
    Plan plan;
  };
  std::vector<ClassSelection> result;
  std::vector<Task> tasks;
  std::size_t c = 0;
  for (const auto& [name, indices] : members) {
    const auto size = static_cast<Index>(indices.size());
    result.push_back({.name = name, .points = size, .wanted = wanted[c], .selection = {}});
    SelectOptions own = options;
    own.exemplars = std::min(wanted[c], size);
    if (wanted[c] >= size) own.fill = true;  // it gives all it has
    Plan plan;
    if (own.exemplars > 0) {
      const Index features = options.kernel.type == KernelType::precomputed ? size : all.features;
      if (const auto problem = find_problem(own, size, features))
        throw Error(fmt::format("class '{}': {}", name, *problem));
      PlanFacts facts = all;
      facts.points = size;
      facts.features = features;
      facts.entries = all.entries * size / std::max<Index>(1, n);
      facts.side_by_side = in_parallel ? static_cast<int>(std::min<Index>(threads, classes)) : 1;
      plan = make_plan(facts, own);
    }
    tasks.push_back({.members = &indices, .options = own, .plan = plan});
    ++c;
  }

  std::mutex watching;
  std::vector<Index> found(tasks.size());
  Index steps = 0;
  bool stopped = false;
  const Index total = std::accumulate(wanted.begin(), wanted.end(), Index{0});
  for_tasks(in_parallel ? threads : 1, classes, [&](Index index) {
    const auto t = static_cast<std::size_t>(index);
    const Task& task = tasks[t];
    ClassSelection& own = result[t];
    if (task.options.exemplars == 0) {
      own.selection.status = Status::exemplars_reached;
      return;
    }
    const Observer watch = [&](const Progress& p) {
      const std::lock_guard lock(watching);
      found[t] = std::max(found[t], p.exemplars);
      Progress everything = p;
      everything.step = p.step > 0 ? ++steps : steps;
      everything.exemplars = std::accumulate(found.begin(), found.end(), Index{0});
      everything.wanted = total;
      stopped = stopped || !observer(everything);
      return !stopped;
    };
    own.selection = select_points(points, *task.members, task.options, task.plan,
                                  observer ? watch : Observer{});
    if (own.wanted > own.points)
      own.selection.warnings.insert(
          own.selection.warnings.begin(),
          fmt::format("class '{}' has only {} points, {} were asked for: all were taken", own.name,
                      own.points, own.wanted));
  });
  return result;
}

}  // namespace fwsr
