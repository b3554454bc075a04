/// The cores of the host.
#pragma once

namespace torus {

/// Cores that this process may run on: its affinity mask, as `taskset` and the cpusets of control groups set it. At least 1.
unsigned usable_cores() noexcept;

}  // namespace torus
