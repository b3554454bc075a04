/// What a run did, in rows of text for people: the same rows for whoever runs an engine, the `torus` command or a program with an algorithm
/// of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <torus/engine.hpp>
#include <torus/machine.hpp>

namespace torus {

/// Rows of a report: a name and a text.
using Rows = std::vector<std::pair<std::string, std::string>>;
/// A line a row, the texts below each other.
std::string aligned(const Rows& rows);

/// What a run should do by its algorithm's formula, and what no run can do better.
struct Expected {
  std::uint64_t steps = 0;
  bool exact = true;    ///< false: at most so many steps
  std::string formula;  ///< of the steps, in words
  std::uint64_t steps_bound = 0;
  double model_time_s = 0;
  double model_time_bound_s = 0;
};

/// What a report can say that neither the machine nor the result tells.
struct ReportContext {
  std::optional<Expected> expected = {};
  double plan_s = 0;                        ///< set-up beside the engine's: tables, schedules
  std::optional<double> run_s = {};         ///< the time to report, of several runs; none: this run's
  std::optional<std::string> failure = {};  ///< what is wrong with a run that the engine finds good
};

/// Machine, steps, messages, bytes, channels, model time, wall time, speed, memory, seed and digest, verdict: a row each.
Rows report(const Machine& machine, const RunResult& result, const RunOptions& options, const ReportContext& context = {});

/// One line that says how a run went wrong: its first violation, the nodes of a hang, the first wrong byte. None: every byte is where it
/// should be.
std::optional<std::string> failure_of(const Machine& machine, const RunResult& result);

/// The steps that carried control messages alone.
std::uint64_t control_steps_of(const RunResult& result);

/// A trace's digest, in 16 hexadecimal digits.
std::string digest_text(std::uint64_t digest);

}  // namespace torus
