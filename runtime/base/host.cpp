#include "runtime/base/host.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <limits>
#include <sched.h>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "runtime/base/control_groups.hpp"

namespace torus {
namespace {

/// The address space that a limit such as that of `ulimit -v` still allows.
Bytes left_of_address_space() {
  struct rlimit limit {};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::numeric_limits<Bytes>::max();
  const Bytes used = detail::number_in("/proc/self/statm") * static_cast<Bytes>(sysconf(_SC_PAGESIZE));
  return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

/// What stands behind a word such as "VmHWM:" in a file under /proc, whose lines say "VmHWM:  1234 kB". 0 if it is not there.
Bytes bytes_behind(std::string_view word, const char* path) {
  std::ifstream file(path);
  for (std::string key; file >> key;) {
    Bytes kib = 0;
    if (key == word && file >> kib) return kib * 1024;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

/// What the kernel calls available, and the limits of control groups allow.
Bytes left_of_host() {
  const Bytes available = bytes_behind("MemAvailable:", "/proc/meminfo");
  return std::min(available > 0 ? available : std::numeric_limits<Bytes>::max(),
                  detail::left_of_control_groups("/proc/self/cgroup", "/sys/fs/cgroup"));
}

}  // namespace

Bytes available_memory(Bytes needed) noexcept {
  using Clock = std::chrono::steady_clock;
  thread_local struct {
    Clock::time_point at;
    Bytes left = 0;
  } last;
  try {
    const Clock::time_point now = Clock::now();
    if (needed > last.left / 64 || now - last.at > std::chrono::milliseconds(100)) last = {now, left_of_host()};
    return std::min(last.left, left_of_address_space());
  } catch (...) {
    return std::numeric_limits<Bytes>::max();
  }
}

Bytes usable_memory(Bytes needed) noexcept { return available_memory(needed) / 5 * 4; }

Bytes last_level_cache() noexcept {
  static std::atomic<Bytes> cached{0};  // concurrent first calls store the same value
  if (cached.load(std::memory_order_relaxed) == 0) {
    // Not sysconf(): it sums the caches of all cores, and each core uses one.
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");
    Bytes kib = 0;
    cached.store(file >> kib && kib > 0 ? kib << 10U : Bytes{32} << 20U, std::memory_order_relaxed);
  }
  return cached.load(std::memory_order_relaxed);
}

double waited_for_core_s(int thread) noexcept {
  try {
    std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/schedstat");
    double ran_ns = 0, waited_ns = 0;
    return file >> ran_ns >> waited_ns ? 1e-9 * waited_ns : 0;
  } catch (...) {
    return 0;
  }
}

std::optional<Bytes> peak_memory() noexcept {
  // Not the ru_maxrss of getrusage(): Linux carries it over exec, so that it may be the peak of the program that started this one.
  try {
    const Bytes peak = bytes_behind("VmHWM:", "/proc/self/status");
    return peak > 0 ? std::optional(peak) : std::nullopt;
  } catch (...) {  // no memory to read it
    return std::nullopt;
  }
}

namespace {

/// The cores of the quota; the largest number without one.
unsigned cores_of_quota() noexcept {
  static const unsigned cores = [] {
    try {
      return detail::processors_of_control_groups("/proc/self/cgroup", "/sys/fs/cgroup").value_or(std::numeric_limits<unsigned>::max());
    } catch (...) {  // no memory to read it
      return std::numeric_limits<unsigned>::max();
    }
  }();
  return cores;
}

unsigned cores_of_mask() noexcept {
  try {
    for (std::size_t sets = 1; sets <= 64; sets *= 2) {  // a cpu_set_t holds 1024 cores; the kernel refuses a mask that is too short
      std::vector<cpu_set_t> mask(sets);
      const std::size_t bytes = sets * sizeof(cpu_set_t);
      if (sched_getaffinity(0, bytes, mask.data()) == 0) return static_cast<unsigned>(std::max(1, CPU_COUNT_S(bytes, mask.data())));
      if (errno != EINVAL) break;
    }
  } catch (...) {  // no memory for a mask
  }
  return std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace

unsigned usable_cores() noexcept { return std::min(cores_of_mask(), cores_of_quota()); }

}  // namespace torus
