/// Runs a setting and says whether all is as it must be.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <torus/engine.hpp>
#include <torus/trace.hpp>

#include "tools/torus/setting.hpp"

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
  std::optional<torus::Fault> fault;                      ///< injected
  std::function<void(const FaultRecord&)> on_fault = {};  ///< called as soon as it has struck; what follows may throw
  /// Those that do the runs together; null: this one alone. Only the first looks at messages and writes the trace. Where they are those of
  /// the job, it calls this, and follow() has the others call it likewise.
  Processes* processes = nullptr;
  std::function<void(const Engine&)> on_engine;  ///< called after the first run
};

/// The first line of the run's trace.
TraceHeader header_of(const Setting& setting);

Emulation emulate(const Setting& setting, const EmulationOptions& options);

}  // namespace torus::command
