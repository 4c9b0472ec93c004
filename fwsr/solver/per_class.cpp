// Class by class: every class is a problem of its own, for one setting or many.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numeric>

#include <fmt/format.h>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/quoted.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/linalg/blas_room.hpp"
#include "fwsr/solver/on_card.hpp"
#include "fwsr/solver/planner.hpp"
#include "fwsr/solver/select.hpp"
#include "fwsr/solver/select_points.hpp"
#include "fwsr/solver/sweep_points.hpp"
#include "fwsr/solver/watch.hpp"

namespace fwsr {

namespace {

/// What a class name is worth in the order of classes: (is a word, value).
std::pair<bool, double> number_in(const std::string& s) {
  double value = 0;
  const auto [end, code] = std::from_chars(s.data(), s.data() + s.size(), value);
  const bool is_word = code != std::errc{} || end != s.data() + s.size() || !std::isfinite(value);
  return {is_word, is_word ? 0.0 : value};
}

struct ByName {
  bool operator()(const std::string& a, const std::string& b) const { return class_before(a, b); }
};

__extension__ using Wide = __int128;  // products of two sizes

using Members = std::map<std::string, std::vector<Index>, ByName>;

/// The points of every class that has some.
Members members_of(const Labels& labels) {
  const std::vector<Index> counts = labels.counts();
  std::vector<std::vector<Index>> found(counts.size());
  for (std::size_t c = 0; c < counts.size(); ++c)
    found[c].reserve(static_cast<std::size_t>(counts[c]));
  Index i = 0;
  for (const Labels::Code code : labels.codes())
    found[static_cast<std::size_t>(code)].push_back(i++);
  Members members;
  for (std::size_t c = 0; c < counts.size(); ++c)
    if (counts[c] > 0) members.emplace(labels.names()[c], std::move(found[c]));
  return members;
}

std::string list_of(const Members& members) {
  std::string names;
  for (const auto& [name, points] : members) {
    if (names.size() > 200) return names + ", ...";
    names += (names.empty() ? "" : ", ") + in_quotes(name);
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
      throw Error(fmt::format("there is no class {}; the classes are {}", in_quotes(name),
                              list_of(members)));
    if (number < 0)
      throw Error(fmt::format("class {} cannot give {} exemplars", in_quotes(name), number));
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

bool class_before(const std::string& a, const std::string& b) {
  const auto na = number_in(a), nb = number_in(b);
  return na != nb ? na < nb : a < b;
}

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

namespace {

/// False for a class that gives nothing, or all it has. Under conditions all that may be chosen do not stand for
/// themselves alone.
bool has_choice(const ClassPlan& p) {
  return p.wanted > 0 &&
         (p.wanted <= static_cast<Index>(p.members.size()) || !p.options.conditions.empty());
}

SelectOptions without_conditions(SelectOptions options) {
  options.conditions = {};
  options.recorder = nullptr;  // of one run
  return options;
}

/// A class that is asked for more than it has gives all of it: every point stands for itself, X =
/// I. A class that is asked for nothing gives nothing.
Selection everything(const ClassPlan& task) {
  Selection all;
  all.status = Status::exemplars_reached;
  if (task.wanted == 0) return all;
  all.exemplars = task.members;
  all.weights.assign(task.members.size(), 1.0);
  all.strength = all.weights;
  all.filled.assign(task.members.size(), false);
  all.included.assign(task.members.size(), false);
  const std::size_t n = task.members.size();
  for (std::size_t i = 0; i < n && task.options.assignment; ++i)
    all.assignment.push_back(static_cast<Index>(i));
  if (task.options.codes) all.codes.assign(n * n, 0.0);
  for (std::size_t i = 0; i < n && task.options.codes; ++i) all.codes[i * n + i] = 1;
  all.warnings.push_back(
      fmt::format("class {} has only {} points, {} were asked for: all were taken, in their order",
                  in_quotes(task.name), n, task.wanted));
  return all;
}

/// Classes side by side, one thread each, when there are enough of them; else all threads work on
/// one class at a time.
struct Team {
  int threads = 1;
  bool side_by_side = false;
};
Team team_for(const SelectOptions& options, Index classes) {
  const int threads = options.threads > 0 ? options.threads : default_threads();
  return {.threads = threads, .side_by_side = classes >= threads};
}

}  // namespace

std::vector<ClassPlan> plan_per_class(const PointsView& points, const Labels& labels,
                                      const ClassCounts& counts, const SelectOptions& options,
                                      const Chooser& chooser) {
  const Index n = rows_of(points);
  SelectOptions any_number = options;
  any_number.exemplars = 1;
  refuse_unsuitable(any_number, points);
  if (const auto problem = find_problem_per_class(options)) throw OptionError(*problem);
  if (static_cast<Index>(labels.size()) != n)
    throw Error(fmt::format("there are {} labels for {} points; there must be one for each",
                            labels.size(), n));
  Members members = members_of(labels);
  const std::vector<Index> wanted = wanted_of(members, counts);
  const auto classes = static_cast<Index>(members.size());
  const Team team = team_for(options, classes);
  PlanFacts all = facts_of(points, team.side_by_side ? 1 : team.threads);
  all.label_bytes = labels.bytes() + checked_bytes(n, 1, 2 * sizeof(Index));
  all.limit =
      memory_limit(all.data_bytes, options);  // asking the system takes longer than planning

  std::vector<ClassPlan> plans;
  for (auto& [name, indices] : members) {
    const auto size = static_cast<Index>(indices.size());
    ClassPlan own{.name = name,
                  .members = std::move(indices),
                  .wanted = wanted[plans.size()],
                  .options = without_conditions(options),
                  .plan = {}};
    own.options.conditions = conditions_of(options.conditions, own.members);
    const Index open = candidate_count(own.options.conditions, size);
    if (own.wanted > 0 && open == 0)
      throw OptionError(fmt::format(
          "class {} is asked for {} exemplars, and none of its points may be chosen; ask it for "
          "none",
          in_quotes(name), own.wanted));
    if (own.wanted == 0 && !own.options.conditions.included.empty())
      throw OptionError(fmt::format(
          "class {} has exemplars that are included, and is asked for none; ask it for one at "
          "least, or leave these out of include",
          in_quotes(name)));
    own.options.exemplars = std::min(own.wanted, open);
    if (has_choice(own)) {
      PlanFacts facts = all;
      facts.points = size;
      if (options.kernel.type == KernelType::precomputed) facts.features = size;
      facts.entries = static_cast<Index>(static_cast<double>(all.entries) / static_cast<double>(n) *
                                         static_cast<double>(size));
      if (team.side_by_side)
        facts.side_by_side = static_cast<int>(std::min<Index>(team.threads, classes));
      if (const auto problem = find_problem(own.options, size, facts.features))
        throw Error(fmt::format("class {}: {}", in_quotes(name), *problem));
      own.plan = chooser.plan(facts, own.options);
    }
    plans.push_back(std::move(own));
  }
  return plans;
}

namespace {

ClassSelection selection_of(const ClassPlan& p) {
  return {.name = p.name,
          .members = p.members,
          .points = static_cast<Index>(p.members.size()),
          .wanted = p.wanted,
          .selection = has_choice(p) ? Selection{} : everything(p)};
}

/// Calls work(class, observer) for every class that has a choice. Each gets an observer of its own;
/// `observer` is told how far all have come, of `runs` runs each.
template <class Work>
void for_classes(const std::vector<ClassPlan>& plans, const Team& team, Index runs,
                 const Observer& observer, Work&& work) {
  Index total = 0;
  for (const ClassPlan& p : plans) total += runs * p.options.exemplars;
  Watch watch(observer, total);
  std::vector<Index> found(plans.size());
  std::vector<Index> steps(plans.size()), exchanges(plans.size());
  // The largest first, so that none is left to one thread at the end.
  std::vector<std::size_t> order(plans.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return plans[a].members.size() > plans[b].members.size();
  });
  make_room_for_products(team.threads);
  for_tasks(team.side_by_side ? team.threads : 1, static_cast<Index>(plans.size()),
            [&](Index index) {
              const std::size_t t = order[static_cast<std::size_t>(index)];
              if (!has_choice(plans[t])) return;
              const Observer own = [&](const Progress& p) {
                return watch.tell([&](Progress& overall) {
                  found[t] = std::max(found[t], p.exemplars);
                  steps[t] = p.step;
                  exchanges[t] = p.exchanges;
                  overall = p;
                  overall.step = std::accumulate(steps.begin(), steps.end(), Index{0});
                  overall.exchanges = std::accumulate(exchanges.begin(), exchanges.end(), Index{0});
                  overall.exemplars = std::accumulate(found.begin(), found.end(), Index{0});
                  overall.wanted = total;
                });
              };
              work(t, observer ? own : Observer{});
            });
}

}  // namespace

std::vector<ClassSelection> select_per_class(const PointsView& points,
                                             const std::vector<ClassPlan>& plans,
                                             const SelectOptions& options, const Chooser& chooser,
                                             const Observer& observer) {
  std::vector<ClassSelection> result;
  for (const ClassPlan& p : plans) result.push_back(selection_of(p));
  const auto is_on_card = [](const ClassPlan& p) {
    return has_choice(p) && p.plan.device != "cpu";
  };
  const std::shared_ptr<void> devices = std::any_of(plans.begin(), plans.end(), is_on_card)
                                            ? keep_devices(options.device.number)
                                            : nullptr;
  const auto on_card = std::find_if(plans.begin(), plans.end(), [&](const ClassPlan& p) {
    return is_on_card(p) && p.plan.form == FormKind::covariance;
  });
  const std::shared_ptr<void> shared =
      on_card == plans.end() ? nullptr : share_on_card(points, options, threads_of(options));
  for_classes(plans, team_for(options, static_cast<Index>(plans.size())), 1, observer,
              [&](std::size_t t, const Observer& watch) {
                result[t].selection =
                    chooser.run(points, plans[t].members, plans[t].options, plans[t].plan, watch);
                if (plans[t].options.exemplars < plans[t].wanted)
                  result[t].selection.warnings.push_back(fmt::format(
                      "class {} has only {} points that may be chosen, {} were asked for",
                      in_quotes(plans[t].name), plans[t].options.exemplars, plans[t].wanted));
              });
  return result;
}

namespace {

const Chooser by_frank_wolfe{.plan = make_plan, .run = select_points};

}  // namespace

std::vector<ClassPlan> plan_per_class(const PointsView& points, const Labels& labels,
                                      const ClassCounts& counts, const SelectOptions& options) {
  return plan_per_class(points, labels, counts, options, by_frank_wolfe);
}

std::vector<ClassSelection> select_per_class(const PointsView& points, const Labels& labels,
                                             const ClassCounts& counts,
                                             const SelectOptions& options,
                                             const Observer& observer) {
  // Plan everything first: what does not fit is refused before any work.
  return select_per_class(points, plan_per_class(points, labels, counts, options), options,
                          by_frank_wolfe, observer);
}

std::vector<ClassSweepPlan> plan_sweep_per_class(const PointsView& points, const Labels& labels,
                                                 const ClassCounts& counts,
                                                 const SelectOptions& options,
                                                 const std::vector<NumberOrAuto>& alphas,
                                                 const std::vector<double>& etas) {
  const Grid grid = make_grid(options, alphas, etas);
  SelectOptions any_number = options;
  any_number.exemplars = 1;
  refuse_settings(any_number, grid, rows_of(points), cols_of(points));
  std::vector<ClassSweepPlan> result;
  for (ClassPlan& p : plan_per_class(points, labels, counts, options))
    result.push_back({.of_class = std::move(p), .sweep = {}});
  const auto classes = static_cast<Index>(result.size());
  const Team team = team_for(options, classes);
  const auto side =
      static_cast<int>(team.side_by_side ? std::min<Index>(team.threads, classes) : 1);
  for (auto& [p, sweep] : result) {
    sweep.grid = grid;
    if (!has_choice(p)) continue;
    const auto size = static_cast<Index>(p.members.size());
    const bool given = options.kernel.type == KernelType::precomputed;
    try {
      refuse_settings(p.options, grid, size, given ? size : cols_of(points));
    } catch (const Error& e) {
      throw Error(fmt::format("class {}: {}", in_quotes(p.name), e.what()));
    }
    sweep = plan_settings(p.plan, p.options, grid, side);
  }
  return result;
}

std::vector<ClassSweepEntry> sweep_per_class(const PointsView& points, const Labels& labels,
                                             const ClassCounts& counts,
                                             const SelectOptions& options,
                                             const std::vector<NumberOrAuto>& alphas,
                                             const std::vector<double>& etas,
                                             const Observer& observer) {
  return sweep_as_planned(points, options,
                          plan_sweep_per_class(points, labels, counts, options, alphas, etas),
                          observer);
}

std::vector<ClassSweepEntry> sweep_as_planned(const PointsView& points,
                                              const SelectOptions& options,
                                              const std::vector<ClassSweepPlan>& plans,
                                              const Observer& observer) {
  std::vector<ClassPlan> classes;
  for (const ClassSweepPlan& p : plans) classes.push_back(p.of_class);
  std::vector<ClassSweepEntry> result;
  const Grid& grid = plans.front().sweep.grid;  // the same of all
  for (const NumberOrAuto& alpha : grid.alphas)
    for (const double eta : grid.etas) {
      result.push_back({.alpha = alpha, .eta = eta, .classes = {}});
      for (const ClassPlan& p : classes) result.back().classes.push_back(selection_of(p));
    }
  for_classes(classes, team_for(options, static_cast<Index>(classes.size())), grid.size(), observer,
              [&](std::size_t t, const Observer& watch) {
                std::vector<SweepEntry> entries = sweep_points(
                    points, classes[t].members, classes[t].options, plans[t].sweep, watch);
                for (std::size_t s = 0; s < entries.size(); ++s)
                  result[s].classes[t].selection = std::move(entries[s].selection);
              });
  return result;
}

}  // namespace fwsr
