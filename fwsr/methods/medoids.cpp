#include "fwsr/methods/medoids.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/base/random.hpp"
#include "fwsr/methods/alternating_medoids.hpp"
#include "fwsr/methods/faster_pam.hpp"
#include "fwsr/methods/medoid_seeds.hpp"

namespace fwsr {

namespace {

/// The best of `restarts` searches; search(first, rng) goes on from first medoids.
template <class T, class Search>
MedoidSearch best_search(const DissimilarityTable<T>& table, const Task& task,
                         const Search& search) {
  Rng rng(task.seed);
  MedoidSearch best;
  for (Index r = 0; r < task.settings.whole("restarts"); ++r) {
    Rng own = rng.split(static_cast<std::uint64_t>(r));
    std::vector<Index> first = first_medoids(table, task, own);
    if (task.exemplars == 1) return {.medoids = std::move(first), .converged = true};
    MedoidSearch found = search(std::move(first), own);
    if (r == 0 || found.cost < best.cost * clearly_less) best = std::move(found);
  }
  return best;
}

/// The places of medoids from the cluster that weighs most to the one that weighs least, of equal ones the first.
std::vector<Index> by_size(const std::vector<Index>& to, std::size_t k, const Terms& terms) {
  std::vector<double> sizes(k);
  std::vector<Index> order(k);
  for (std::size_t i = 0; i < to.size(); ++i)
    sizes[at(to[i])] += terms.weight(static_cast<Index>(i));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return sizes[at(a)] > sizes[at(b)]; });
  return order;
}

}  // namespace

Method medoid_method(std::string name, std::string title, std::string about, Parameter own) {
  return {.name = std::move(name),
          .title = std::move(title),
          .about = std::move(about),
          .parameters = {metric_parameter(),
                         {.name = "init",
                          .value = std::string("random"),
                          .about =
                              "where to begin: random points, build (greedy, slow), lab (greedy on "
                              "samples) or kmeans++ (drawn by distance)",
                          .words = {"random", "build", "lab", "kmeans++"}},
                         {.name = "restarts",
                          .value = Index{1},
                          .about = "the best of so many searches is taken",
                          .least = 1,
                          .most = 1e6},
                         {.name = "max_iterations",
                          .value = Index{100},
                          .about = "how often all candidates are tried, at most",
                          .least = 0,
                          .most = 1e9},
                         std::move(own)},
          .random = true,
          .any_kernel = true,
          .conditions = {Condition::weights}};
}

double medoid_flops(double candidates, double columns, double k, const Settings& settings) {
  constexpr double passes = 8, slower = 8;  // a pass waits for memory
  const double build = settings.word("init") == "build" ? k : 0;
  return static_cast<double>(settings.whole("restarts")) * slower * candidates * columns *
         (passes + build);
}

bool holds_single(const Task& task) {
  return task.given ? is_single(*task.given) : task.points && task.points->single();
}

std::vector<double> table_weights(const Task& task) {
  std::vector<double> weights = task.terms.weights;
  if (weights.empty()) return weights;
  const double largest = *std::max_element(weights.begin(), weights.end());
  for (double& w : weights) w /= largest;
  return weights;
}

template <class T>
MedoidSearch find_medoids(const DissimilarityTable<T>& table, const Task& task) {
  return best_search(table, task, [&](std::vector<Index> first, Rng& rng) {
    return swap_search(table, task, std::move(first), rng);
  });
}
template MedoidSearch find_medoids(const DissimilarityTable<float>&, const Task&);
template MedoidSearch find_medoids(const DissimilarityTable<double>&, const Task&);

template <class T>
MedoidSearch alternate_medoids(const DissimilarityTable<T>& table, const Task& task) {
  return best_search(table, task, [&](std::vector<Index> first, const Rng&) {
    return alternating_search(table, task, std::move(first));
  });
}
template MedoidSearch alternate_medoids(const DissimilarityTable<float>&, const Task&);
template MedoidSearch alternate_medoids(const DissimilarityTable<double>&, const Task&);

Picks describe_medoids(const Distances& distances, const Task& task, const MedoidSearch& search) {
  std::vector<Index> medoids = search.medoids;
  std::sort(medoids.begin(), medoids.end());
  Nearest found = nearest_of(distances, medoids, task.threads, task.keep_going);
  std::vector<Index> distinct;
  for (std::size_t t = 0; t < medoids.size(); ++t)
    if (found.which[at(medoids[t])] >= static_cast<Index>(t)) distinct.push_back(medoids[t]);
  if (distinct.size() < medoids.size()) {
    medoids = std::move(distinct);
    found = nearest_of(distances, medoids, task.threads, task.keep_going);
  }
  const std::vector<Index> order = by_size(found.which, medoids.size(), task.terms);
  Picks picks;
  std::vector<Index> place(order.size());
  for (std::size_t t = 0; t < order.size(); ++t) {
    picks.exemplars.push_back(medoids[at(order[t])]);
    place[at(order[t])] = static_cast<Index>(t);
  }
  for (Index& t : found.which) t = place[at(t)];
  picks.assignment = std::move(found.which);
  const double cost = block_sum(task.threads, task.size(), [&](Index i) {
    return task.terms.weight(i) * found.distance[at(i)];
  });
  if (!search.converged) picks.status = Status::iteration_limit;
  picks.facts = {{"cost", cost * distances.scale()},
                 {"swaps", static_cast<double>(search.swaps)},
                 {"iterations", static_cast<double>(search.iterations)}};
  return picks;
}

}  // namespace fwsr
