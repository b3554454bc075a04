/// The memory of the host.
#pragma once

#include <torus/machine.hpp>

namespace torus {

/// Bytes that this process can still take without making the host swap. The min of what the kernel calls available and what is left of the
/// limits of its control groups (a container's, a user's, a job's) and of its address space (`ulimit -v`).
Bytes available_memory() noexcept;

/// The memory that a run or a judge takes unless told otherwise: 80 % of available_memory().
Bytes usable_memory() noexcept;

/// Size of the last-level cache of a core; 32 MiB if the kernel does not say.
Bytes last_level_cache() noexcept;

/// The max resident memory of this process so far.
Bytes peak_memory() noexcept;

}  // namespace torus
