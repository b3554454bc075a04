/// What `joint-swath` takes for sources that are not known, after they have been learned.
#pragma once

#include "algorithms/multinode_broadcast/joint_schedule.hpp"

namespace torus::multinode {

struct JointForecast {
  std::uint64_t steps = 0;
  double channel_bytes = 0;
};

/// Sources of a set at most: a few full rounds. More of them take more rounds of the same kind.
std::int32_t most_forecast_sources(const JointFrame& frame) noexcept;

/// The mean of a few sets of s sources at random, always the same sets.
JointForecast joint_forecast(const JointFrame& frame, double s);

/// Steps that no set of s sources exceeds: one source after the other, and the longest gather.
std::uint64_t most_joint_steps(const JointFrame& frame, double s);

}  // namespace torus::multinode
