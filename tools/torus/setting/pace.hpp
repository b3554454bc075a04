/// How classes of groups that run at once keep step.
#pragma once

#include <torus/algorithm.hpp>
#include <torus/plan_cache.hpp>

#include "tools/torus/setting/setting.hpp"

namespace torus::command {

/// A step ends for all classes when it ends for the last. So a class that takes fewer and longer steps than the slowest one is cut into as
/// many segments as let its steps end with those of the slowest, if all classes then end sooner. For a setting whose classes are planned
/// with this algorithm; nothing if that has no segments, or the request names their number. Some plans a class.
void keep_pace(Setting& setting, const Algorithm& algorithm, PlanCache* cache);

}  // namespace torus::command
