#include "fwsr/report/groups.hpp"

#include <algorithm>

#include "fwsr/base/at.hpp"

namespace fwsr::report {

std::vector<Group> groups_of(const Rows& rows, const Classes& classes, const Measured& measured,
                             const std::vector<Index>& exemplars, std::size_t members) {
  std::vector<Group> groups(exemplars.size());
  std::vector<std::vector<Index>> others(exemplars.size());
  for (Group& group : groups) group.classes.assign(classes.names.size(), 0);
  for (Index i = 0; i < std::ssize(measured.group); ++i) {
    const Index to = measured.group[at(i)];
    if (to < 0) continue;
    Group& group = groups[at(to)];
    ++group.points;
    group.mean_distance += static_cast<double>(measured.distance[at(i)]);
    if (const Index c = classes.of(rows, i); c >= 0) ++group.classes[at(c)];
    if (exemplars[at(to)] != i) others[at(to)].push_back(i);
  }
  for (std::size_t t = 0; t < groups.size(); ++t) {
    Group& group = groups[t];
    if (group.points > 0) group.mean_distance /= static_cast<double>(group.points);
    std::vector<Index>& all = others[t];
    const auto distance = [&](Index i) { return measured.distance[at(i)]; };
    const std::size_t near = std::min(members, all.size());
    std::partial_sort(all.begin(), all.begin() + static_cast<Index>(near), all.end(),
                      [&](Index a, Index b) {
                        return distance(a) < distance(b) || (distance(a) == distance(b) && a < b);
                      });
    group.nearest.assign(all.begin(), all.begin() + static_cast<Index>(near));
    all.erase(all.begin(), all.begin() + static_cast<Index>(near));
    const std::size_t far = std::min(members, all.size());
    std::partial_sort(all.begin(), all.begin() + static_cast<Index>(far), all.end(),
                      [&](Index a, Index b) {
                        return distance(a) > distance(b) || (distance(a) == distance(b) && a < b);
                      });
    group.farthest.assign(all.begin(), all.begin() + static_cast<Index>(far));
  }
  return groups;
}

std::vector<Index> largest(const std::vector<float>& values, std::size_t most) {
  std::vector<Index> all(values.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Index>(i);
  const std::size_t count = std::min(most, all.size());
  std::partial_sort(
      all.begin(), all.begin() + static_cast<Index>(count), all.end(), [&](Index a, Index b) {
        return values[at(a)] > values[at(b)] || (values[at(a)] == values[at(b)] && a < b);
      });
  all.resize(count);
  return all;
}

std::vector<std::size_t> loosest(const std::vector<Group>& groups, std::size_t most) {
  std::vector<std::size_t> order;
  for (std::size_t t = 0; t < groups.size(); ++t)
    if (groups[t].points > 1) order.push_back(t);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return groups[a].mean_distance > groups[b].mean_distance;
  });
  if (order.size() > most) order.resize(most);
  return order;
}

}  // namespace fwsr::report
