#include "runtime/host/host_memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

#include "runtime/host/control_groups.hpp"

namespace torus {
namespace {

/// The address space that a limit such as that of `ulimit -v` still allows.
Bytes left_of_address_space() {
  struct rlimit limit {};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::numeric_limits<Bytes>::max();
  const Bytes used = detail::number_in("/proc/self/statm") * static_cast<Bytes>(sysconf(_SC_PAGESIZE));
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
    return std::min({available, detail::left_of_control_groups("/proc/self/cgroup", "/sys/fs/cgroup"), left_of_address_space()});
  } catch (...) {
    return std::numeric_limits<Bytes>::max();
  }
}

Bytes usable_memory() noexcept { return available_memory() / 5 * 4; }

Bytes last_level_cache() noexcept {
  // Not sysconf(): it sums the caches of all cores, and each core uses one.
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");
  Bytes kib = 0;
  return file >> kib && kib > 0 ? kib << 10U : Bytes{32} << 20U;
}

Bytes peak_memory() noexcept {
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<Bytes>(usage.ru_maxrss) * 1024;
}

}  // namespace torus
