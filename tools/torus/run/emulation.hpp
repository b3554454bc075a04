/// Runs settings and says whether all is as it must be; and how the first process of a job has the others run what it runs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <torus/injection.hpp>
#include <torus/processes.hpp>
#include <torus/session.hpp>

#include "tools/torus/setting/setting.hpp"

namespace torus::command {

/// One of the settings that run at once.
struct Part {
  const Setting& setting;
  std::vector<Watcher*> watchers = {};
  Step offset = 0;
  std::string name = {};  ///< for texts; empty: as a session says it
};

/// The setting as a member of a session, and options with what it says of the session: executor, threads, seed, memory.
Member member_of(const Setting& setting);
SessionOptions options_of(const Setting& setting, SessionOptions options = {});
/// The first line of the run's trace.
TraceHeader header_of(const Setting& setting);

/// Runs settings of one machine: a session in which a node that is stuck or crashes is named, and signals are awaited for as long as it
/// runs, if RunOptions::stop is given. What a setting says goes before the options, but of several settings they say the memory of all.
/// Where the processes are those of the job, the first one calls this, and follow() has the others call it likewise.
SessionRun emulate(std::span<const Part> parts, const SessionOptions& options);
/// Runs a setting, its classes of groups at once and as one run; repeated, they are each time a session of their own.
/// watchers: of each class, in the order of Setting::classes(); they see the first repetition.
Run emulate(const Setting& setting, const SessionOptions& options = {}, std::vector<std::vector<Watcher*>> watchers = {});

/// Says once, on standard error, that the system starts fewer threads than there are cores, where nobody said how many.
void note_threads(const Setting& setting, unsigned started);

/// What the first process tells the others of a setting that it runs: all that it has decided.
struct Lead {
  std::string line;  ///< the command line that repeats the setting, from "run" on
  /// What a command line does not say.
  struct Beside {
    unsigned repeat = 1;
    std::optional<double> expected_sources = {};  ///< of the request
    std::optional<Fault> fault = {};
    Step offset = 0;
    NodeId first_group = 0;  ///< of the class of groups that it is
    bool more = false;       ///< another setting runs at once
  } beside = {};
};
Lead lead_of(const Part& part, const SessionOptions& options, bool more = false);

/// The same setting in another process, planned there. Throws InputError.
Setting led_by(const Lead& lead);

/// Called by the first process before a run: tells the others the settings. All follow with emulate(), or throw what one of them throws
/// that cannot.
void lead(Processes& processes, std::span<const Part> parts, const SessionOptions& options);

/// Called by all other processes instead of a subcommand: runs what the first one leads, until it has nothing more. Returns 0: what is
/// wrong the first one says.
int follow();

}  // namespace torus::command
