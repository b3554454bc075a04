/// Runs an algorithm: plans it, places the blocks, runs a program on every node, and checks the run against its plan and the lower bounds.
/// Works for the algorithms of the catalogue and for any other Algorithm.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <torus/algorithm.hpp>
#include <torus/bounds.hpp>
#include <torus/engine.hpp>
#include <torus/error.hpp>
#include <torus/groups.hpp>

namespace torus {

/// What a check finds. Each text is one line.
struct Check {
  std::optional<std::string> failure;   ///< the run failed, or its steps are not those of the formula
  std::optional<std::string> surprise;  ///< a correct run with other bytes or hops than predicted, or with less than a lower bound

  bool good() const noexcept { return !failure && !surprise; }
};

/// Checks a run. The bytes of a multi-node broadcast are not held against the prediction: it assumes a number of sources.
/// groups: those of the run; null: none. Plan, request and bounds are then a group's, and the machine is the whole one. Bytes and hops are
/// not held against the prediction where a group's hop may be several of the machine.
Check check(const Machine& machine, const Request& request, const Plan& plan, const Bounds& bounds, const RunResult& result,
            const Groups* groups = nullptr);

struct Run {
  Plan plan = {};
  Bounds bounds = {};
  RunResult result = {};                       ///< of the first run, where there are several
  Check check = {};                            ///< of all
  std::vector<double> run_s = {};              ///< wall time of each that was not interrupted
  bool interrupted = false;                    ///< the last one was; of several collectives at once also: it never began
  double span_s = 0;                           ///< of several at once: model time of the global steps from its first to its last
  std::vector<Observation> observations = {};  ///< of the plan's observer, where it looked on
};

/// A session of one (torus/session.hpp). Throws InputError with the refusal's text if the algorithm does not apply; otherwise what
/// make_plan(), make_engine() and Engine::run() throw.
Run run(const Algorithm& algorithm, const Machine& machine, const Request& request, const RunOptions& options = {});
/// The same in each group of the machine, at once. The request is a group's: its sources are local ranks. So are plan and bounds.
Run run(const Algorithm& algorithm, const Machine& machine, const Groups& groups, const Request& request, const RunOptions& options = {});

// The parts of run(), for several runs of one plan.

/// A prediction that cannot be true: an error of the algorithm, which the text names.
class PredictionError : public RunError {
 public:
  using RunError::RunError;
};

/// Bytes of a plan may be left out: they are 0 where nothing takes less than a bound above that, and nothing is held against it. Where that
/// leaves the model time open, the plan predicts nothing from here on, and a note names the field. Combined bytes may be left out where
/// combining costs no time. Where hops are routes of several speeds (Groups::machine()), byte terms are left to the slowest channel, which
/// makes them a limit. To be called before check_prediction().
void set_aside_incomplete(Plan& plan, const Machine& machine, const Request& request, const Bounds& bounds);

/// Every prediction passes here before anything uses it. Throws PredictionError where one is no number, negative, or below a lower bound:
/// steps, bytes on the fullest channels, combined bytes, hops, or the model time that they give. Throws InputError where the bytes or steps
/// are past 2^63. The bounds are those of the machine and request. They are not compared where a multi-node broadcast expects fewer sources
/// than the request has: then the prediction is for others.
void check_prediction(const Algorithm& algorithm, const Machine& machine, const Request& request, const Plan& plan, const Bounds& bounds);

/// Plans an algorithm that is not refused. Where the machine charges for hops and the plan states none, count_hops() adds them.
/// Throws what Algorithm::plan and check_prediction() throw. A cache makes the same plan sooner where it holds what an earlier one searched
/// for. The bounds, where they are not given, are computed.
Plan make_plan(const Algorithm& algorithm, const Machine& machine, const Request& request);
Plan make_plan(const Algorithm& algorithm, const Machine& machine, const Request& request, PlanCache& cache,
               const Bounds* bounds = nullptr);

/// What programs, tables and the witness of a barrier take at most: RunOptions::program_memory. Measures a frame: of some nodes,
/// Plan::start makes the programs, which never run. groups: null for none.
ProgramMemory memory_beside_engine(const Machine& machine, const Request& request, const Plan& plan, const Groups* groups = nullptr);

/// An engine with the blocks of the request in place, ready for Plan::start. groups: those of the machine that request and plan are for;
/// null: none.
Engine make_engine(const Machine& machine, const Request& request, const Plan& plan, RunOptions options = {},
                   const Groups* groups = nullptr);
/// The same where the placement is known, that of placement_of(), and RunOptions::program_memory is filled in.
Engine make_engine(const Machine& machine, const Request& request, const Plan& plan, const Placement& placement, RunOptions options,
                   const Groups* groups);

/// For a request with sizes: predicts the bytes, and the hops, by a dry run as that of count_hops(), in which blocks count with their true
/// sizes; those of a reduce-scatter are held. Steps stay as the plan says them. Above 4,096 nodes or 2^24 copies of blocks, or where a run
/// is not done within `seconds`, the plan predicts nothing. Does nothing where the request has no sizes.
void predict_sizes(const Machine& machine, const Request& request, Plan& plan, double seconds = std::numeric_limits<double>::infinity());

/// The sum over the steps of the hops of the longest route, by a dry run: one thread, empty blocks, no verification. All nodes are sources
/// of a multi-node broadcast, so that the sum is a limit for any sources. None above 2^16 nodes or 2^24 copies of blocks, where that takes
/// seconds, and none if the dry run fails or has not ended within `seconds`.
std::optional<std::uint64_t> count_hops(const Machine& machine, const Request& request, const Plan& plan,
                                        double seconds = std::numeric_limits<double>::infinity());

/// The bounds of a group's request on the machine that it sees. Of mapped ranks that lie apart (Groups::carries()) they hold for any map:
/// on that machine where all its nodes are alike, else whatever the channels are. groups: null for none.
Bounds lower_bounds(const Machine& seen, const Request& request, const Groups* groups);

/// Which rule a plan breaks that is run in all of these groups at once, although no group alone breaks it: two messages on a channel, where
/// that is forbidden, or more than its queue holds. By such a dry run; none if it breaks no rule within `seconds`. The request is a
/// group's.
std::optional<std::string> violation_in_groups(const Machine& machine, const Groups& groups, const Request& request, const Plan& plan,
                                               double seconds = std::numeric_limits<double>::infinity());

}  // namespace torus
