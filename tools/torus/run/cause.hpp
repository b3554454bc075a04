/// Where a wrong result comes from: the step, the message and the node that a run's own check, at its end, cannot name.
#pragma once

#include <optional>
#include <string>

#include <torus/result.hpp>

#include "tools/torus/setting/setting.hpp"

namespace torus::command {

/// Runs the setting again and looks at every message: first as the judge of traces does, then for the block that came out wrong. One line,
/// to follow the failure; none if that finds nothing, or would take too long.
std::optional<std::string> cause_of(const Setting& setting, const RunResult& result);

}  // namespace torus::command
