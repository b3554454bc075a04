/// The job that this process belongs to, where mpirun or the like has started several.
#pragma once

#include <torus/machine.hpp>
#include <torus/processes.hpp>

namespace torus::command {

/// Joins the job, if there is one: loads the module that speaks MPI, and makes all processes but the first silent. Only at the start of the
/// program. Throws RunError if the module is not there or MPI does not start, InputError if the processes are not all started alike.
void join_job(int argc, char** argv);
/// Leaves it; the first process sends the others home. Returns the exit status.
int leave_job(int status);

/// All processes of the job; null where this one is alone.
Processes* processes() noexcept;
/// The memory that a process may use by default: an equal part of 80 % of its host's; in a job, the minimum over all hosts.
Bytes memory_of_a_process();
/// The descriptor for what a process says before it ends at once, the silent ones too: standard error as it was at the start.
int complaints() noexcept;
/// Whether this process prints and writes files: the first, or the only one.
bool speaks() noexcept;

}  // namespace torus::command
