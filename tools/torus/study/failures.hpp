/// Every single failure of a machine, one at a time: each link dead once, or each node, and what each algorithm makes of what is left.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/torus/cli/json.hpp"
#include "tools/torus/setting/setting.hpp"
#include "tools/torus/study/comparison.hpp"

namespace torus::command {

/// One link or node that is dead, beside the faults that were there.
struct SingleFailure {
  std::string name;      ///< as an option that repeats it: `--dead-link 3:+0`, `--dead-node 7`
  Faults faults;         ///< all
  std::string cut = {};  ///< which parts they cut the machine into, once that is known; else empty
};
/// The shape with the failure; none where that cuts it apart, and then the failure says so. O(nodes).
std::optional<Topology> shape_with(SingleFailure& failure, const Topology& shape);
/// The spec with the failure, and its groups on what is left; none also where that cuts a group apart.
std::optional<RunSpec> spec_with(SingleFailure& failure, const RunSpec& spec);

/// Which failures there are.
struct FailureCases {
  bool links = false, nodes = false;
  std::vector<SingleFailure> failures;  ///< links before nodes, each by the rank of a node
  std::vector<std::string> skipped;     ///< nodes that must live, since they are asked for as source or root
  std::size_t outside = 0;              ///< links that no group has, which are no failures
};

/// Each link that lives and is in a group (`links`), each node (`nodes`). Throws InputError where there are more than a hundred thousand.
FailureCases single_failures(const RunSpec& spec, bool links, bool nodes);

enum class Fate { completed, refused, failed, cut };

/// What an algorithm came to on a machine with one failure.
struct FailureRun {
  Fate fate = Fate::completed;
  std::uint64_t steps = 0;
  Bytes channel_bytes = 0;  ///< sum over the steps of the most bytes on a channel
  double model_time_s = 0;
  double bound_s = 0;  ///< the lower bound of the machine with the failure
  std::string why;     ///< one line: why it was refused, what failed, which parts were cut; else empty
};

struct FailureRuns {
  const Algorithm* algorithm = nullptr;
  std::optional<FailureRun> whole;              ///< without a failure; none: not made, since interrupted
  std::vector<std::optional<FailureRun>> runs;  ///< by failure
};

/// All that live with one of the failures, on one machine.
struct FailureContest {
  Machine machine;
  std::vector<FailureRuns> entrants;
  std::vector<LeftOut> left_out;
};

struct FailureComparison {
  Request request;
  Topology shape;                     ///< of the machine, without the failures
  std::optional<std::string> groups;  ///< as typed; then the machines of contests are those of a group
  std::optional<std::string> map;     ///< of the ranks, as typed
  FailureCases cases;
  std::vector<FailureContest> contests = {};
  std::optional<std::string> failure = {};  ///< of the first run that failed: what
  std::size_t runs = 0, done = 0;           ///< to be made, made
  std::size_t from_before = 0;              ///< of those made, rows that the table had
  bool interrupted() const noexcept { return done < runs; }
};

/// What the runs of an algorithm come to. The median is that of a failure: of an even number, the lower of the two in the middle.
struct Survival {
  std::size_t completed = 0, refused = 0, failed = 0, cut = 0, missing = 0;  ///< missing: not made, since interrupted
  std::string refusal;                                                       ///< the first
  std::optional<std::size_t> median, worst;                                  ///< by model time, of those completed: the number of a failure
  std::uint64_t median_steps = 0, most_steps = 0;

  /// It completed all that left the machine in one piece.
  bool all() const noexcept { return completed > 0 && refused + failed + missing == 0; }
};
Survival survival_of(const FailureRuns& runs);

/// The entrant that survives all with the least worst time; none: none survives all.
const FailureRuns* best_survivor(const FailureContest& contest);

std::string to_table(const FailureComparison& comparison);
/// One object, stable names; see tools/json.md.
Json to_json(const FailureComparison& comparison);
/// A line for each run.
std::string to_csv(const FailureComparison& comparison);

/// A run as a row, which has the names of --json, and back.
Json run_json(const FailureRun& run);
FailureRun run_of(const Json& row);

/// Runs each algorithm on the whole machine and with each failure, every byte verified, every message judged. Ctrl-C ends it. Throws
/// InputError where nothing lives with any of the failures. It is what `torus compare` does with --every-single-link or
/// --every-single-node.
struct FailureArguments {
  std::string collective;
  TypedOptions setting;
  std::string algorithms = "all";
  std::optional<std::string> csv;
  bool links = false, nodes = false, json = false, all_machines = false;
};
int run_single_failures(const FailureArguments& arguments);

}  // namespace torus::command
