/// Memory and cores of the host.
#pragma once

#include <limits>
#include <optional>

#include <torus/machine.hpp>

namespace torus {

/// Bytes that this process can still take without making the host swap. The min of what the kernel calls available and what is left of the
/// limits of its control groups (a container's, a user's, a job's) and of its address space (`ulimit -v`). If few bytes are
/// needed, the first two may be up to a tenth of a second old: reading them takes longer than many a run.
Bytes available_memory(Bytes needed = std::numeric_limits<Bytes>::max()) noexcept;

/// The default memory limit of a run or a judge: 80 % of available_memory().
Bytes usable_memory(Bytes needed = std::numeric_limits<Bytes>::max()) noexcept;

/// Size of the last-level cache of a core; 32 MiB if the kernel does not say.
Bytes last_level_cache() noexcept;

/// The max resident memory of this program so far; none if the kernel does not say.
std::optional<Bytes> peak_memory() noexcept;

/// Seconds that a thread of this process was ready to run and waited for a core, on a host that others keep busy; 0 if the kernel does not
/// say. `thread`: its number in the system, as gettid() gives it.
double waited_for_core_s(int thread) noexcept;

/// Cores that this process may run on: its affinity mask, as `taskset` and the cpusets of control groups set it, but no more than a quota
/// of its control groups allows when it is first asked. At least 1.
unsigned usable_cores() noexcept;

}  // namespace torus
