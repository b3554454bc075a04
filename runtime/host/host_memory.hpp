/// What memory the host has for us.
#pragma once

#include <string>

#include <torus/machine.hpp>

namespace torus {

/// Bytes that this process may still take without driving the host into swap: what the kernel calls available, or what is left of the
/// limits of its control groups (a container's, a user's, a job's) or of the process's address space (`ulimit -v`) if that is less.
Bytes available_memory() noexcept;

/// What of that a run or a judge takes unless it is told otherwise: 80 %.
Bytes usable_memory() noexcept;

/// Size of the last cache that a core has before memory: 32 MiB if the kernel does not say.
Bytes last_level_cache() noexcept;

/// The most memory that this process has had at a time.
Bytes peak_memory() noexcept;

/// "1.5 GiB".
std::string bytes_text(Bytes bytes);

}  // namespace torus
