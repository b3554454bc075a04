#include "runtime/host/host_cores.hpp"

#include <algorithm>
#include <cerrno>
#include <sched.h>
#include <thread>
#include <vector>

namespace torus {

unsigned usable_cores() noexcept {
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

}  // namespace torus
