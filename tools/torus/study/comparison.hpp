/// Algorithms side by side: what each is predicted to take for each size, what it took where it ran, and which is the fastest where.
///
/// Algorithms are ranked only against those of the same machine: the one that `torus run` takes, where the options leave it open, or each
/// that one of the algorithms was made for. On each of them all that apply take part, whatever they were made for, as in `torus run`.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <torus/bounds.hpp>

#include "tools/torus/cli/json.hpp"
#include "tools/torus/setting/setting.hpp"
#include "tools/torus/study/study.hpp"

namespace torus::command {

/// What a run came to.
struct Measured {
  std::uint64_t steps = 0;
  Bytes channel_bytes = 0;  ///< sum over the steps of the most bytes on a channel
  double model_time_s = 0;
  std::optional<double> error_ulp = {};  ///< RunResult's
};

/// One algorithm at one size.
struct Entry {
  std::uint32_t segments = 1;
  std::uint64_t steps = 0;  ///< predicted, as the next two
  double channel_bytes = 0;
  double predicted_s = 0;
  bool predicted = true;  ///< false: the algorithm predicts nothing, or has no plan at this size
  bool exact = true;      ///< false: the prediction is an upper limit or an estimate
  bool by_speed = true;   ///< false: it is an upper limit, since channels differ in speed
  std::optional<Measured> run;
  std::string not_run;                     ///< why it did not run where it was to; empty: it did, or was not to
  std::string no_plan;                     ///< why it could not be planned; empty: it was
  std::string failure;                     ///< what was wrong with the run
  bool best = false;                       ///< no other takes less at this size on this machine
  bool too_long = false;                   ///< its planner did not end in time
  std::optional<double> hops_a_step = {};  ///< of the longest route, where the plan knows it

  /// Whether a time is known: by a run that is right, or by prediction.
  bool timed() const noexcept { return failure.empty() && (run || predicted); }
  /// The best that is known: measured, or else predicted.
  double model_time_s() const noexcept { return run ? run->model_time_s : predicted_s; }
};

struct Contender {
  const Algorithm* algorithm = nullptr;
  std::vector<std::optional<Entry>> entries;  ///< by size; none where the algorithm refuses it
};

struct LeftOut {
  const Algorithm* algorithm = nullptr;
  std::string because;
};

/// Neighbouring sizes at which the same algorithms are the fastest.
struct WinnerRange {
  std::size_t first = 0, last = 0;        ///< of the sizes
  std::vector<const Contender*> fastest;  ///< more than one where they tie; in the order of the catalogue
};

/// All that apply on one machine.
struct Contest {
  Machine machine;
  std::vector<Bounds> bounds;       ///< by size
  std::vector<double> asked_bytes;  ///< by size: what the collective asks for, as for algbw
  std::vector<Contender> contenders;
  std::vector<LeftOut> left_out;
};

struct Comparison {
  Request request;                              ///< all but the bytes; of each group
  Topology shape;                               ///< of the whole machine
  std::optional<std::string> groups = {};       ///< as typed; then the machines of contests are those of a group
  std::vector<std::string> other_classes = {};  ///< of them, those in which something else is dead or slow than in group 0: "group 3"
  std::optional<std::string> map = {};          ///< of the ranks, as typed
  std::vector<Bytes> sizes = {};
  std::size_t run_sizes = 0;  ///< how many of them, from the smallest, were to be run
  bool run_best = false;      ///< the best of each size were to be run
  std::vector<Contest> contests = {};
  std::optional<std::string> failure = {};  ///< of the first run that failed: what, and the command that repeats it
  std::size_t other_machines = 0;           ///< that algorithms were made for, and that were not asked for
  bool usual_switching = false;             ///< that of the machine was left open, so that it is what a run of the collective takes
  bool named = false;                       ///< the algorithms were named: then the table says why some do not apply
  bool interrupted = false;
};

struct ComparisonOptions {
  std::vector<Bytes> sizes;  ///< ascending
  std::vector<const Algorithm*> algorithms;
  bool named = false;  ///< not all of the collective, but those that were asked for
  std::size_t run_sizes = 1;
  bool run_best = false;      ///< runs at every size those whose prediction is the least, whatever run_sizes says
  bool all_machines = false;  ///< each that an algorithm was made for, not only the one that `torus run` takes
  double most_node_steps = std::numeric_limits<double>::infinity();  ///< nodes times steps: what takes more is not run
  double most_blocks = std::numeric_limits<double>::infinity();      ///< at all nodes in the end: what takes more is not run
  double most_bytes = std::numeric_limits<double>::infinity();       ///< at all nodes in the end: what takes more is not run

  /// Runs the smallest size, and what no formula predicts, where that takes a second or two at most for each algorithm.
  void run_what_is_quick() noexcept {
    run_sizes = 1;
    most_node_steps = 5e6;
    most_blocks = 0x1p23;
    most_bytes = 0x1p30;
  }
};

/// Makes the rows of a study, one for each algorithm and size, or several such comparisons make them. Predicts all and runs the smallest
/// sizes, verified and judged; where an algorithm predicts nothing, it runs every size, if any is to be run. Throws InputError on wrong
/// options, and where nothing applies. For a multi-node broadcast, whose programs do not know the sources, predictions assume as many as
/// there are, unless --expect says otherwise.
Comparison compare(const RunSpec& spec, const ComparisonOptions& options, Study& study);

/// The fastest at a size, more than one where they tie, in the order of the catalogue.
std::vector<const Contender*> fastest_at(const Contest& contest, std::size_t size);
/// How many times the bound of the model time an entry takes; none where the bound is 0, or no time is known.
std::optional<double> times_the_bound(const Contest& contest, const Entry& entry, std::size_t size);
/// The fastest algorithms, in ascending sizes.
std::vector<WinnerRange> winners_of(const Contest& contest);

/// "broadcast (MPI: Bcast) on 4x4, 16 nodes, from (0,0)".
std::string heading_text(const Topology& topology, const Request& request);
/// What a comparison of any kind begins with: the collective, the shape, the sources.
Json heading_json(const Topology& topology, const Request& request);
/// The fewest steps with which any schedule does, where they are known: "4", "4 or 5", else empty; and as members of JSON.
std::string fewest_text(const Machine& machine, Collective collective);
Json fewest_json(const Machine& machine, Collective collective);

std::string to_table(const Comparison& comparison);
/// One object, stable names; see tools/measuring.md.
Json to_json(const Comparison& comparison);
/// One line a machine, algorithm and size, below a line of names.
std::string to_csv(const Comparison& comparison);

}  // namespace torus::command
