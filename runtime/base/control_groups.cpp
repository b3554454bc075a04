#include "runtime/base/control_groups.hpp"

#include <algorithm>
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

/// The min for a group and all groups around it.
Bytes left_up_to(const std::string& mount, std::string path, const Names& names) {
  Bytes left = left_of(mount, names);
  for (; path.size() > 1; path.resize(path.rfind('/'))) left = std::min(left, left_of(mount + path, names));
  return left;
}

}  // namespace

Bytes number_in(const std::string& path) {
  std::ifstream file(path);
  Bytes value = 0;
  return file >> value ? value : no_limit;
}

Bytes left_of_control_groups(const std::string& groups, const std::string& mount) {
  std::ifstream file(groups);
  Bytes left = no_limit;
  for (std::string line; std::getline(file, line);) {  // number:controllers:/path, without controllers in the second version
    const std::size_t controllers = line.find(':') + 1;
    const std::size_t path = line.find(":/", controllers);
    if (controllers == 0 || path == std::string::npos) continue;
    const std::string named = "," + line.substr(controllers, path - controllers) + ",";
    if (named == ",,")
      left = std::min(left, left_up_to(mount, line.substr(path + 1), second_version));
    else if (named.find(",memory,") != std::string::npos)
      left = std::min(left, left_up_to(mount + "/memory", line.substr(path + 1), first_version));
  }
  return left;
}

}  // namespace torus::detail
