// SPDX-License-Identifier: MIT
#include "runtime/host_memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <limits>
#include <string>

namespace torus {
namespace {

/// A file that holds one number; the greatest number if it does not.
Bytes number_in(const char* path) {
  std::ifstream file(path);
  Bytes value = 0;
  return file >> value ? value : std::numeric_limits<Bytes>::max();
}

/// The number behind a word of a file; 0 if there is none.
Bytes number_behind(const char* word, const char* path) {
  std::ifstream file(path);
  Bytes value = 0;
  for (std::string key; file >> key >> value;) {
    if (key == word) return value;
  }
  return 0;
}

/// What is left of a container's limit. Files that the kernel keeps in memory count as used there, but it drops them when asked for more.
Bytes left_of_limit(const std::string& folder, const char* limit_file, const char* used_file, const char* dropped) {
  constexpr Bytes none = std::numeric_limits<Bytes>::max();
  const Bytes limit = number_in((folder + limit_file).c_str());
  const Bytes used = number_in((folder + used_file).c_str());
  if (limit == none || used == none) return none;
  const Bytes kept = used - std::min(used, number_behind(dropped, (folder + "memory.stat").c_str()));
  return limit > kept ? limit - kept : 0;
}

/// What a limit like that of `ulimit -v` leaves of the address space.
Bytes left_of_address_space() {
  struct rlimit limit {};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::numeric_limits<Bytes>::max();
  const Bytes used = number_in("/proc/self/statm") * static_cast<Bytes>(sysconf(_SC_PAGESIZE));
  return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

}  // namespace

Bytes available_memory() noexcept {
  try {
    Bytes available = std::numeric_limits<Bytes>::max();
    std::ifstream info("/proc/meminfo");
    for (std::string key; info >> key;) {
      Bytes kib = 0;
      if (key == "MemAvailable:" && info >> kib) available = kib * 1024;
      info.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    const Bytes second = left_of_limit("/sys/fs/cgroup/", "memory.max", "memory.current", "inactive_file");
    const Bytes first = left_of_limit("/sys/fs/cgroup/memory/", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file");
    return std::min({available, first, second, left_of_address_space()});
  } catch (...) {
    return std::numeric_limits<Bytes>::max();
  }
}

Bytes usable_memory() noexcept { return available_memory() / 5 * 4; }

Bytes last_level_cache() noexcept {
  // Not sysconf(): it adds up the caches of all cores of the processor, of which each uses one.
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");
  Bytes kib = 0;
  return file >> kib && kib > 0 ? kib << 10U : Bytes{32} << 20U;
}

Bytes peak_memory() noexcept {
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<Bytes>(usage.ru_maxrss) * 1024;
}

std::string bytes_text(Bytes bytes) {
  static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit) value /= 1024;
  char text[40];
  std::snprintf(text, sizeof text, value < 10 && unit > 0 && value != static_cast<int>(value) ? "%.1f %s" : "%.0f %s", value, units[unit]);
  return text;
}

}  // namespace torus
