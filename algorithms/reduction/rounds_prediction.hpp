/// What a plan predicts that repeats a schedule, a round for each segment.
#pragma once

#include <cstdint>

#include <torus/algorithm.hpp>

#include "algorithms/reduction/segment_bytes.hpp"
#include "algorithms/schedule/repeated.hpp"

namespace torus::reduction {

/// Fills in the steps, the bytes and the hops of a vector that is cut into `segments` segments, of which each round handles as many.
inline void predict_rounds(Plan& plan, const Machine& machine, const Request& request, const RepeatedSchedule& schedule,
                           std::uint32_t rounds, std::uint64_t segments) {
  const RepeatedSchedule::Loads loads = schedule.loads(rounds);
  const SegmentBytes segment(request, segments);
  plan.steps = schedule.steps(rounds);
  plan.bytes_exact = segment.equal;
  plan.channel_bytes = segment.of(loads.channel);
  if (!machine.cost.one_speed()) plan.channel_time_s = loads.channel_byte_s * static_cast<double>(segment.longest);
  plan.combined_bytes = segment.of(loads.combined);
  plan.route_hops = loads.busy;
}

}  // namespace torus::reduction
