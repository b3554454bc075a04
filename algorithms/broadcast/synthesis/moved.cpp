#include "algorithms/broadcast/synthesis/moved.hpp"

namespace torus::broadcast {

void move_to_node_0(const Topology& topology, NodeId origin, std::vector<std::vector<Circuit>>& steps) {
  const Coordinates from = topology.coordinates(origin);
  const auto moved = [&](NodeId node) {
    Coordinates at = topology.coordinates(node);
    for (std::size_t d = 0; d < at.size(); ++d) at[d] -= from[d];
    return topology.rank(at);
  };
  for (std::vector<Circuit>& step : steps) {
    for (Circuit& circuit : step) {
      circuit.from = moved(circuit.from);
      circuit.to = moved(circuit.to);
    }
  }
}

}  // namespace torus::broadcast
