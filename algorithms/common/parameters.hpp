/// Parameters that several algorithms declare.
#pragma once

#include <torus/requirements.hpp>

namespace torus::parameter {

inline constexpr Parameter segments{"segments", "blocks that each message is split into"};
inline constexpr Parameter chunk{"chunk", "segments that a channel carries in a step"};

}  // namespace torus::parameter
