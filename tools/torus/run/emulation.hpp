/// Runs a setting and says whether all is as it must be; and how the first process of a job has the others run what it runs.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <torus/engine.hpp>
#include <torus/injection.hpp>
#include <torus/processes.hpp>
#include <torus/trace.hpp>

#include "tools/torus/setting/setting.hpp"

namespace torus::command {

struct Emulation {
  RunResult result;                       ///< of the first run
  std::vector<double> run_s;              ///< of every repetition that was not interrupted
  bool interrupted = false;               ///< the last repetition was
  std::vector<Observation> observations;  ///< of the first run
  std::optional<std::string> failure;     ///< one line; none: done and verified
  std::string fault_option = {};          ///< what --fault takes to inject the fault of this run again, where there was one
  std::string harmless = {};              ///< why that fault did no harm, where it did none
};

struct EmulationOptions {
  std::optional<std::string> trace;         ///< file to write. It is there, complete, after a run to the end, and else not at all
  unsigned repeat = 1;                      ///< timed repetitions; set-up of the engine once
  const std::atomic<bool>* stop = nullptr;  ///< looked at after every step; signals are awaited as long
  std::function<void(Step)> on_step;
  std::function<void(std::span<const Message* const>)> on_messages;  ///< of the first run
  std::function<bool(const RunResult&)> on_run;                      ///< called after each repetition; false: it was the last
  std::optional<std::uint64_t> digest;                               ///< the trace digest that it must have
  /// Have the judge of traces look at every message too, and hold the bytes against the plan's prediction and all against the lower bounds.
  bool judge = false;
  std::optional<Fault> fault;                             ///< injected
  std::function<void(const FaultRecord&)> on_fault = {};  ///< called as soon as it has struck; what follows may throw
  /// Those that do the runs together; null: this one alone. Only the first looks at messages and writes the trace. Where they are those of
  /// the job, it calls this, and follow() has the others call it likewise.
  Processes* processes = nullptr;
  std::function<void(const Engine&)> on_engine;         ///< called after the first run
  std::shared_ptr<detail::KeptPages> keep_memory = {};  ///< see RunOptions
  bool fewer_threads_do = false;                        ///< see RunOptions; always so where Setting::threads leaves them open
};

/// The first line of the run's trace.
TraceHeader header_of(const Setting& setting);

Emulation emulate(const Setting& setting, const EmulationOptions& options);

/// Says once, on standard error, that the system starts fewer threads than there are cores, where nobody said how many.
void note_threads(const Setting& setting, unsigned started);

/// What the first process tells the others of a run: all that it has decided.
struct Lead {
  std::string line;  ///< the command line that repeats the setting, from "run" on
  /// What a command line does not say.
  struct Beside {
    unsigned repeat = 1;
    std::optional<double> expected_sources = {};  ///< of the request
    std::optional<Fault> fault = {};
  } beside = {};
};
Lead lead_of(const Setting& setting, const EmulationOptions& options);

/// The same setting in another process, planned there. Throws InputError.
Setting led_by(const Lead& lead);

/// Called by the first process before a run: tells the others the setting. All follow with emulate(), or
/// throw what one of them throws that cannot.
void lead(Processes& processes, const Setting& setting, const EmulationOptions& options);

/// Called by all other processes instead of a subcommand: runs what the first one leads, until it has nothing more. Returns 0: what is
/// wrong the first one says.
int follow();

}  // namespace torus::command
