/// How the first process of a job has the others run what it runs.
#pragma once

#include <torus/processes.hpp>

#include "tools/torus/emulation.hpp"

namespace torus::command {

/// Of the first process, before a run: tells the others the setting, as the command line that repeats it. All follow with emulate(), or
/// throw what one of them throws that cannot.
void lead(Processes& processes, const Setting& setting, const EmulationOptions& options);

/// Of all other processes, instead of a subcommand: runs what the first one leads, until it has nothing more. Returns 0: what is wrong the
/// first one says.
int follow();

}  // namespace torus::command
