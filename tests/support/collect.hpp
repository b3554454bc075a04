/// Runs a phase of an algorithm alone and keeps what each node came to.
#pragma once

#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include <torus/engine.hpp>

#include "tests/support/shapes.hpp"

namespace torus::support {

inline std::vector<NodeId> all_nodes(NodeId nodes) {
  std::vector<NodeId> all(nodes);
  std::iota(all.begin(), all.end(), NodeId{0});
  return all;
}

/// Each node with the same probability, one in `one_in`.
inline std::vector<NodeId> random_nodes(std::mt19937_64& random, NodeId nodes, std::uint32_t one_in) {
  std::vector<NodeId> chosen;
  for (NodeId node = 0; node < nodes; ++node) {
    if (random_below(random, one_in) == 0) chosen.push_back(node);
  }
  return chosen;
}

/// Runs start(node) on one thread, without asking that every block be everywhere in the end.
inline RunResult run_phase(const Machine& machine, const std::vector<NodeId>& sources, Bytes bytes, std::uint32_t segments,
                           const std::function<Program(Node&)>& start) {
  RunOptions options;
  options.executor = ExecutorKind::serial;
  options.verify = false;
  Engine engine(machine, Placement::replicated(machine.topology, sources, bytes, segments), options);
  return engine.run(start);
}

}  // namespace torus::support
