#include "algorithms/common/received.hpp"

#include <string>

#include <torus/error.hpp>

namespace torus {

void unexpected(const Message& message, std::string_view why) {
  throw RunError("a message from node " + std::to_string(message.source()) + " of step " + std::to_string(message.step()) +
                 " along dimension " + std::to_string(message.dimension()) + ": " + std::string(why));
}

void out_of_bounds(std::string_view what, std::int64_t value, std::int64_t low, std::int64_t high) {
  throw RunError("a message brings the " + std::string(what) + " " + std::to_string(value) + ": it must be " + std::to_string(low) +
                 " to " + std::to_string(high) + " here");
}

}  // namespace torus
