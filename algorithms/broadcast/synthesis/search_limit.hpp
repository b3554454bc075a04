/// The largest machine that a search for a broadcast takes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <torus/algorithm.hpp>

namespace torus::broadcast {

inline std::optional<Refusal> too_large_to_search(std::string_view algorithm, const Topology& topology) {
  constexpr NodeId most_nodes = NodeId{1} << 20U;
  if (topology.nodes() <= most_nodes) return std::nullopt;
  return Refusal{Refusal::About::shape, topology.text(),
                 std::string(algorithm) + " searches machines of up to " + std::to_string(most_nodes) + " nodes", "1024x1024"};
}

}  // namespace torus::broadcast
