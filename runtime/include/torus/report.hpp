/// The report of a run: rows of text for people, the same from the `torus` command and from a program that runs an engine itself.
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
/// One line a row, the texts aligned.
std::string aligned(const Rows& rows);

/// The algorithm's formulas, and lower bounds.
struct Expected {
  std::uint64_t steps = 0;
  bool exact = true;    ///< false: `steps` is an upper bound
  std::string formula;  ///< of the steps, as text; empty: nothing is predicted but the bounds
  std::uint64_t steps_bound = 0;
  double model_time_s = 0;
  double model_time_bound_s = 0;
};

/// What a report shows beside the machine and the result.
struct ReportContext {
  std::optional<Expected> expected = {};
  double plan_s = 0;                        ///< set-up outside the engine: tables, schedules
  std::optional<double> run_s = {};         ///< the run time to report, where there were several runs; none: this run's
  std::optional<std::string> failure = {};  ///< a failure that the engine does not know
};

/// Machine, steps, messages, bytes, channels, model time, wall time, speed, memory, seed and digest, verdict: a row each.
Rows report(const Machine& machine, const RunResult& result, const RunOptions& options, const ReportContext& context = {});

/// One line on what went wrong: the first violation, the nodes of a hang, the first wrong byte. None if nothing did; the bytes were then
/// verified, unless verification was turned off.
std::optional<std::string> failure_of(const Machine& machine, const RunResult& result);

/// A trace digest in 16 hexadecimal digits.
std::string digest_text(std::uint64_t digest);
/// "at most 3 blocks, 192 bytes, at a node to be sent on in a later step".
std::string buffered_text(const Buffered& buffered);

}  // namespace torus
