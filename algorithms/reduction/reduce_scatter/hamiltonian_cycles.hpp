/// Edge-disjoint Hamiltonian cycles of a torus.
#pragma once

#include <cstdint>
#include <vector>

#include <torus/topology.hpp>

namespace torus::reduction {

/// A cycle through all nodes, and the step from each to the next.
struct HamiltonianCycle {
  std::vector<NodeId> order;            // by position
  std::vector<std::uint32_t> position;  // by rank
  std::vector<Dimension> dimension;     // by position: of the channel to the next node
  std::vector<std::int8_t> direction;   // +1 or -1
};

/// k of them, which use every link of a torus of k dimensions wider than 2 (the others have no links).
///
/// They exist on every such torus (Foregger 1978; Aubert & Schneider 1982). Found by a seeded search: colour d begins as all links of
/// dimension d. Draw a square of two dimensions; where its opposite sides have one colour each, two different ones, exchange the colours
/// unless that makes more cycles. Every colour keeps two links a node, so that it is a set of cycles; the search ends when each is one.
/// Throws RunError if it does not. Takes O(N) an exchange: for some thousands of nodes.
std::vector<HamiltonianCycle> hamiltonian_cycles(const Topology& topology);

}  // namespace torus::reduction
