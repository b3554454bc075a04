/// The memory of the host.
#pragma once

#include <limits>

#include <torus/machine.hpp>

namespace torus {

/// Bytes that this process can still take without making the host swap. The min of what the kernel calls available and what is left of the
/// limits of its control groups (a container's, a user's, a job's) and of its address space (`ulimit -v`). For one who needs few bytes, the
/// first two as they were up to a tenth of a second ago: to ask takes longer than many a run.
Bytes available_memory(Bytes needed = std::numeric_limits<Bytes>::max()) noexcept;

/// The memory that a run or a judge takes unless told otherwise: 80 % of available_memory().
Bytes usable_memory(Bytes needed = std::numeric_limits<Bytes>::max()) noexcept;

/// Size of the last-level cache of a core; 32 MiB if the kernel does not say.
Bytes last_level_cache() noexcept;

/// The max resident memory of this program so far; 0 if the kernel does not say.
Bytes peak_memory() noexcept;

}  // namespace torus
