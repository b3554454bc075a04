/// Processes that are threads of this one: for tests, and for `torus stress`.
#pragma once

#include <functional>

#include <torus/processes.hpp>

namespace torus::detail {

/// Calls body(processes) on `count` threads at once, each as one of so many processes that speak through memory. Returns when all have
/// returned. Rethrows what the first process threw that threw anything. Where a process leaves while others wait for it, they throw
/// RunError; so does this where the system does not start so many threads.
void run_as_processes(unsigned count, const std::function<void(Processes&)>& body);

}  // namespace torus::detail
