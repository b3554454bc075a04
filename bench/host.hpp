/// What the host says of itself and of this process. Linux.
#pragma once

#include <string>

#include <torus/machine.hpp>

namespace torus::bench {

std::string cpu_model();

/// Seconds on a clock that only goes forward.
double wall_s() noexcept;
/// Seconds that cores have spent in this process, all threads together.
double core_s() noexcept;

/// Memory that the process has in RAM now.
Bytes resident_bytes();
/// From here on peak_memory() is the most since. False where the kernel does not let us: then it is that of the whole process.
bool forget_peak();

}  // namespace torus::bench
