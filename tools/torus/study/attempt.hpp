/// One algorithm in one setting: planned, run, verified and judged, and what came of it. All that runs many settings goes through here, so
/// that each command knows the same ways to end, and *verified* means one thing.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tools/torus/cli/console.hpp"
#include "tools/torus/run/emulation.hpp"
#include "tools/torus/setting/setting.hpp"

namespace torus::command {

/// How far an attempt goes, and what it may know already.
struct Effort {
  bool run = true;      ///< false: it is planned alone
  unsigned repeat = 1;  ///< timed repetitions
  /// Have the judge look at every message of the first run, whose trace digest the others must have.
  bool judge = true;
  /// In a run of its own, before the others, which then cost what they do without it: the engine shows messages to nobody.
  bool judge_apart = false;
  std::function<bool(const RunResult&)> on_run = {};    ///< called after each repetition; false: it was the last
  std::shared_ptr<detail::KeptPages> keep_memory = {};  ///< see RunOptions
  const Bounds* bounds = nullptr;                       ///< of the machine and the request, where they are known
  PlanCache* plans = nullptr;                           ///< of searches
  Progress* progress = nullptr;                         ///< shows `what`, and the step
  std::string what = {};
};

/// What came of an attempt.
struct Outcome {
  enum class Kind { done, refused, unplanned, no_room, interrupted, failed };
  Kind kind = Kind::done;
  std::string why = {};     ///< one line; empty: done, or interrupted
  bool too_long = false;    ///< unplanned: the planner did not end in time
  bool ran = false;         ///< a run came to its end, right or wrong, and `run` tells of it
  Run run = {};             ///< its failure is `why` where it failed
  std::string repeat = {};  ///< the command that repeats what failed

  bool is(Kind which) const noexcept { return kind == which; }
  /// Refused, or there is no plan, or no room: nothing is wrong with the algorithm.
  bool left_out() const noexcept { return is(Kind::refused) || is(Kind::unplanned) || is(Kind::no_room); }
};

/// Plans the setting for the algorithm, unless it is planned for it, and runs it. Every ending but a setting that contradicts itself is an
/// outcome.
Outcome attempt(Setting& setting, const Algorithm& algorithm, const Effort& effort);

/// The same on the machine that the spec leaves to the algorithm. `setting` is set unless there is no such machine or request, which is
/// refused.
Outcome attempt(const RunSpec& spec, const Algorithm& algorithm, const Effort& effort, std::optional<Setting>& setting);

}  // namespace torus::command
