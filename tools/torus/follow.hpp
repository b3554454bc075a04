/// How the first process of a job has the others run what it runs.
#pragma once

#include <optional>
#include <string>

#include <torus/fault.hpp>
#include <torus/processes.hpp>

#include "tools/torus/emulation.hpp"

namespace torus::command {

/// What the first process tells the others of a run: all that it has decided.
struct Lead {
  std::string line;  ///< the command line that repeats the setting, from "run" on
  /// What a command line does not say.
  struct Beside {
    unsigned repeat = 1;
    std::optional<double> expected_sources = {};  ///< of the request
    std::optional<torus::Fault> fault = {};
  } beside = {};
};
Lead lead_of(const Setting& setting, const EmulationOptions& options);

/// The same setting in another process, planned there. Throws InputError.
Setting led_by(const Lead& lead);

/// Of the first process, before a run: tells the others the setting. All follow with emulate(), or
/// throw what one of them throws that cannot.
void lead(Processes& processes, const Setting& setting, const EmulationOptions& options);

/// Of all other processes, instead of a subcommand: runs what the first one leads, until it has nothing more. Returns 0: what is wrong the
/// first one says.
int follow();

}  // namespace torus::command
