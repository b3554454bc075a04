/// The plan of a broadcast that sends the message whole, in one block.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include <torus/algorithm.hpp>

namespace torus::broadcast {

/// A channel carries the message at most once a step. `header`: words that each message carries beside the block.
inline Plan whole_message_plan(const Request& request, std::uint64_t steps, std::string_view formula, std::function<Program(Node&)> start,
                               std::uint64_t header = 0) {
  Plan plan;
  plan.start = std::move(start);
  plan.steps = steps;
  plan.formula = formula;
  plan.channel_bytes = static_cast<double>(steps) * static_cast<double>(request.bytes + header * sizeof(Word));
  return plan;
}

}  // namespace torus::broadcast
