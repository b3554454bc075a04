#include "runtime/base/control_groups.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <string_view>

namespace torus::detail {
namespace {

constexpr Bytes no_limit = std::numeric_limits<Bytes>::max();

/// The files of a group in the two versions.
struct Names {
  const char* limit;
  const char* used;
  const char* dropped;  // a line of memory.stat
};
constexpr Names first_version{"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file"};
constexpr Names second_version{"/memory.max", "/memory.current", "inactive_file"};

/// The number after a word in a file; 0 if there is none.
Bytes number_behind(std::string_view word, const std::string& path) {
  std::ifstream file(path);
  Bytes value = 0;
  for (std::string key; file >> key >> value;) {
    if (key == word) return value;
  }
  return 0;
}

/// What is left of one group's limit. The kernel counts cached files as used, but drops them when a process asks for memory.
Bytes left_of(const std::string& folder, const Names& names) {
  const Bytes limit = number_in(folder + names.limit);
  const Bytes used = number_in(folder + names.used);
  if (limit == no_limit || used == no_limit) return no_limit;
  const Bytes kept = used - std::min(used, number_behind(names.dropped, folder + "/memory.stat"));
  return limit > kept ? limit - kept : 0;
}

/// Processors of a group's quota, in the second version "150000 100000" or "max 100000".
std::optional<double> quota_of(const std::string& folder, const Names& names) {
  double quota = 0, period = 0;
  if (&names == &second_version) {
    std::ifstream file(folder + "/cpu.max");
    if (!(file >> quota >> period)) return std::nullopt;
  } else {
    std::ifstream quotas(folder + "/cpu.cfs_quota_us"), periods(folder + "/cpu.cfs_period_us");
    if (!(quotas >> quota) || !(periods >> period)) return std::nullopt;
  }
  return quota > 0 && period > 0 ? std::optional(quota / period) : std::nullopt;
}

/// Calls visit(folder, names) for a process's groups of a controller and all groups around them.
template <class Visit>
void each_group(const std::string& groups, const std::string& mount, const std::string& controller, const Visit& visit) {
  std::ifstream file(groups);
  for (std::string line; std::getline(file, line);) {  // number:controllers:/path, without controllers in the second version
    const std::size_t controllers = line.find(':') + 1;
    const std::size_t path = line.find(":/", controllers);
    if (controllers == 0 || path == std::string::npos) continue;
    const std::string named = "," + line.substr(controllers, path - controllers) + ",";
    if (named != ",," && named.find("," + controller + ",") == std::string::npos) continue;
    const Names& names = named == ",," ? second_version : first_version;
    const std::string top = named == ",," ? mount : mount + "/" + controller;
    visit(top, names);
    for (std::string group = line.substr(path + 1); group.size() > 1; group.resize(group.rfind('/'))) visit(top + group, names);
  }
}

}  // namespace

Bytes number_in(const std::string& path) {
  std::ifstream file(path);
  Bytes value = 0;
  return file >> value ? value : no_limit;
}

Bytes left_of_control_groups(const std::string& groups, const std::string& mount) {
  Bytes left = no_limit;
  each_group(groups, mount, "memory",
             [&](const std::string& folder, const Names& names) { left = std::min(left, left_of(folder, names)); });
  return left;
}

std::optional<unsigned> processors_of_control_groups(const std::string& groups, const std::string& mount) {
  std::optional<double> least;
  each_group(groups, mount, "cpu", [&](const std::string& folder, const Names& names) {
    if (const auto quota = quota_of(folder, names)) least = std::min(least.value_or(*quota), *quota);
  });
  if (!least || *least > 1e6) return std::nullopt;
  return std::max(1U, static_cast<unsigned>(std::ceil(*least)));
}

}  // namespace torus::detail
