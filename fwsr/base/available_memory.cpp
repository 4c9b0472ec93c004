// What the machine and the control groups of this process leave it.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <system_error>

#include "fwsr/base/system_memory.hpp"

namespace fwsr {

namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

/// The first number in `path`; nothing when it holds a word ("max"), or does not exist.
std::optional<double> first_number(const std::string& path) {
  std::ifstream in(path);
  double value = 0;
  if (in >> value) return value;
  return std::nullopt;
}

/// The number that follows `name` in a file of names and numbers.
std::optional<double> number_after(const std::string& path, const std::string& name) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(name)) continue;
    double value = 0;
    const std::size_t begin = std::min(line.find_first_not_of(" \t", name.size()), line.size());
    if (std::from_chars(line.data() + begin, line.data() + line.size(), value).ec == std::errc{})
      return value;
  }
  return std::nullopt;
}

/// The names of what one version of control groups says about memory.
struct Files {
  std::array<const char*, 2> limits;
  const char* used;
  const char* cached;  // in memory.stat: file pages, which the system drops when it needs room
};
constexpr Files version_1{{"memory.limit_in_bytes", "memory.limit_in_bytes"},
                          "memory.usage_in_bytes",
                          "total_inactive_file "};
constexpr Files version_2{{"memory.max", "memory.high"}, "memory.current", "inactive_file "};

double left_by_group(const std::string& folder, const Files& files) {
  double limit = unlimited;
  for (const char* name : files.limits)
    limit = std::min(limit, first_number(folder + "/" + name).value_or(unlimited));
  const auto used = first_number(folder + "/" + files.used);
  if (limit == unlimited || !used) return unlimited;
  const double cached = number_after(folder + "/memory.stat", files.cached).value_or(0);
  return std::max(0.0, limit - std::max(0.0, *used - cached));
}

/// The least that the group `path` and those above it leave. A container may not see the groups
/// outside it: what is not there has no say.
double left_by_groups(const std::string& mount, std::string path, const Files& files) {
  double left = unlimited;
  for (;;) {
    while (path.ends_with('/')) path.pop_back();
    left = std::min(left, left_by_group(mount + path, files));
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return left;
    path.resize(slash);
  }
}

/// All that /proc/self/cgroup lists: "0::/path" of version 2, "5:memory:/path" of version 1.
double left_by_all_groups(const std::string& root) {
  const std::string mount = root + "/sys/fs/cgroup";
  double left = left_by_groups(mount, "", version_2);
  std::ifstream in(root + "/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string path = line.substr(second + 1);
    line.resize(second);
    line[first] = ',';  // ",memory" or ",hugetlb,memory,cpu"
    const std::size_t memory = line.find(",memory", first);
    if (second == first + 1)
      left = std::min(left, left_by_groups(mount, path, version_2));
    else if (memory != std::string::npos && (memory + 7 == second || line[memory + 7] == ','))
      left = std::min(left, left_by_groups(mount + "/memory", path, version_1));
  }
  return left;
}

}  // namespace

Index available_memory(const std::string& root) {
  const auto kilobytes = number_after(root + "/proc/meminfo", "MemAvailable:");
  const double machine = kilobytes ? *kilobytes * 1024
                                   : static_cast<double>(::sysconf(_SC_AVPHYS_PAGES)) *
                                         static_cast<double>(::sysconf(_SC_PAGESIZE));
  return static_cast<Index>(std::min(machine, left_by_all_groups(root)));
}

}  // namespace fwsr
