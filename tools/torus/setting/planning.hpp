/// Planning one algorithm, within a time limit.
#pragma once

#include <limits>
#include <optional>
#include <string>

#include <torus/algorithm.hpp>
#include <torus/bounds.hpp>

namespace torus::command {

struct Planned {
  std::optional<Plan> plan;
  double seconds = 0;  ///< wall time
  /// By which algorithms are compared: the model time, where hops that could not be counted are taken for the most that the steps can have.
  /// Infinite: not predicted.
  double model_time_s = std::numeric_limits<double>::infinity();
  bool of_mean_size = false;  ///< that is the time of blocks of the mean size, since nothing is predicted for sizes that differ
  std::string why_not;        ///< one line, where there is no plan
  bool fault = false;     ///< the planner broke its contract: it threw what it must not, did not end in time, or predicts what cannot be
  bool too_long = false;  ///< it did not end in time
};

/// Plans as make_plan() does, and checks the prediction against the bounds as that does, within `seconds`, of which those are not counted
/// in which the planner waited for a core. One that was found waiting for something else is not asked again. The plan has no hops where the
/// dry run that counts them would take longer. A planner cannot be stopped: one that does not end in time goes on in a thread of its own,
/// as idle work, until the process ends. With a cache of searches, the same plan, sooner.
Planned plan_within(const Algorithm& algorithm, const Machine& machine, const Request& request, const Bounds& bounds, double seconds,
                    PlanCache* cache = nullptr);

/// Whether a planner goes on that was given up. Then the process must end without destroying what that may use.
bool planner_given_up() noexcept;

}  // namespace torus::command
