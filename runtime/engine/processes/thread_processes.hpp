/// Processes that are threads of this one: for tests, and for `torus stress`.
#pragma once

#include <functional>

#include <torus/processes.hpp>

namespace torus::detail {

/// Calls body(processes) on `count` threads at once, one for each process; the processes exchange through memory. Returns when all have
/// returned. Rethrows the exception of the lowest process that threw. If a process leaves while others wait for it, they throw RunError.
/// Throws RunError if the system does not start the threads.
void run_as_processes(unsigned count, const std::function<void(Processes&)>& body);

}  // namespace torus::detail
