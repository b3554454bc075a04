/// The stress: random settings of every algorithm of a catalogue, each run audited, judged, verified, held against its formula, and run
/// again by another executor. A failure is shrunk to the smallest setting that still fails.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <torus/injection.hpp>
#include <torus/result.hpp>

#include "tools/torus/stress/draw.hpp"
#include "tools/torus/stress/repeat.hpp"

namespace torus::command {

struct StressOptions {
  std::span<const Algorithm* const> algorithms;  ///< taken in turn
  std::uint64_t seed = 1;
  std::uint64_t runs = std::numeric_limits<std::uint64_t>::max();  ///< the most turns, of one setting each, and
  double seconds = std::numeric_limits<double>::infinity();        ///< the longest time; whichever is over first
  std::optional<ExecutorKind> executor;                            ///< of the first run of each setting; else a random one
  unsigned threads = 0;                                            ///< of the first run of each setting; 0: a random number
  StressBudget budget;
  const std::atomic<bool>* stop = nullptr;
  std::function<void(std::string_view)> progress;    ///< called often, with a line
  std::function<void(const RepeatLine&)> on_struck;  ///< called for each fault that struck, with the line that repeats it
};

/// What was done with one algorithm.
struct StressRow {
  const Algorithm* algorithm = nullptr;
  std::uint64_t runs = 0;
  std::uint64_t undrawn = 0;      ///< turns in which no setting was met that it takes
  std::uint64_t shapes = 0;       ///< different ones
  std::uint64_t sources = 0;      ///< different pairs of a shape and a set of sources
  std::uint64_t with_faults = 0;  ///< runs on a machine with dead or slow links
  std::uint64_t most_nodes = 0;
  std::uint64_t steps = 0;
  std::uint64_t messages = 0;
  Bytes bytes = 0;               ///< delivered
  std::uint64_t blocks = 0;      ///< delivered
  std::uint64_t duplicates = 0;  ///< of them, to a node that had them already
  std::string duplicating = {};  ///< the line that repeats the first run with such
  std::uint64_t failures = 0;
};

/// How many of the runs were more than one vector of equal blocks on one machine.
struct SpecialRuns {
  std::uint64_t mapped = 0;  ///< with ranks laid out otherwise
  std::uint64_t in_groups = 0;
  std::uint64_t uneven = 0;  ///< of sizes that differ
  std::uint64_t both = 0;    ///< counted in both

  void add(const Setting& setting);
};

struct StressFailure {
  std::string what;     ///< one line
  std::string command;  ///< one line: repeats it
  std::optional<Setting> shrunk;
  std::vector<std::string> says = {};  ///< what the command then says, wherever; its exit status is `status`
  int status = 1;
  std::uint64_t number = 0;               ///< of its turn, from 1: a stress of the same seed comes to it with as many runs
  std::optional<RepeatLine> before = {};  ///< the line before it was shrunk
  std::string not_repeated = {};          ///< what the command did in a process of its own, where it did not repeat the failure
};

struct StressOutcome {
  std::vector<StressRow> rows;          ///< one an algorithm
  std::vector<StressFailure> failures;  ///< the first of each algorithm
  std::vector<const Algorithm*> idle;   ///< algorithms that had no run
  std::uint64_t runs = 0;
  SpecialRuns special = {};
  bool interrupted = false;
};

/// The same seed and number of runs give the same rows, whatever the executor and the number of threads.
StressOutcome stress(const StressOptions& options);

/// A setting, and how it is run the second time.
struct StressCase {
  Setting setting;
  ExecutorKind other = ExecutorKind::serial;
  unsigned other_threads = 1;
  unsigned other_processes = 1;     ///< threads in memory, that do the other run together
  std::optional<Bytes> fewer = {};  ///< bytes of a third run by the same plan, which must not take longer; where there are more
  /// A random number, from which follows how many steps later the setting begins once more beside itself. Without, it does not.
  std::optional<std::uint64_t> beside = {};
  bool threads_typed = false;  ///< the system must start all threads of the setting
};

/// What is wrong with a case.
struct CaseFailure {
  std::string what;
  std::string command;  ///< torus run ...
  std::string says;     ///< what that says, which exits with status 1
};

/// Runs a case both ways, with fewer bytes, and beside itself; none if all is as it must be. `result` gets the first run's.
std::optional<CaseFailure> failure_of(const StressCase& stress_case, RunResult& result);

/// The smallest case that still fails, as far as a greedy search finds: fewer dimensions, shorter sides, fewer dead and slow links, fewer
/// sources, fewer bytes, fewer options, one thread. A raised `stop` ends the search.
StressCase shrink(StressCase failing, const std::atomic<bool>* stop = nullptr);

/// What came of the faults of one kind.
struct FaultRow {
  FaultKind kind{};
  std::uint64_t runs = 0;
  std::uint64_t detected = 0;                                  ///< refused, with a step and a node
  std::uint64_t harmless = 0;                                  ///< every node holds, byte for byte, what it must and nothing else
  std::uint64_t missed = 0;                                    ///< neither
  std::uint64_t idle = 0;                                      ///< the fault found nothing to strike
  std::map<std::string, std::uint64_t> harmless_because = {};  ///< why, by Harmless::kind
};

struct FaultOutcome {
  std::vector<FaultRow> rows;           ///< one a kind
  std::vector<StressFailure> failures;  ///< the first that was missed of each kind
  std::vector<const Algorithm*> idle;   ///< algorithms in which no fault struck
  std::uint64_t runs = 0;
  SpecialRuns special = {};  ///< of those that a fault struck
  bool interrupted = false;
};

/// Draws settings as stress() does, smaller ones, and injects a random fault into each. A turn in which a fault finds nothing to strike
/// has up to four settings.
FaultOutcome stress_faults(const StressOptions& options);

/// True if a text names a step and a node.
bool names_step_and_node(const std::string& text);

}  // namespace torus::command
