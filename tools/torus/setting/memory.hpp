/// What memory a run of a setting needs.
#pragma once

#include "tools/torus/setting/setting.hpp"

namespace torus::command {

/// Of several processes, what the first needs, by the engine's own estimate.
Bytes memory_needed(const Setting& setting, const Plan& plan);

/// Throws InputError where a run needs more memory than it may use, with bytes that would fit. The engine refuses it as well, but knows no
/// options.
void refuse_too_large(const Setting& setting);

}  // namespace torus::command
