/// Which nodes of its own class are nearest to a node of a torus.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <torus/machine.hpp>

#include "algorithms/reduction/sublattice.hpp"

namespace torus::reduction {

struct Near {
  NodeId node;
  std::int32_t distance;
  NodeId displacement;  ///< from the node that it is near to, written as the rank of what is there for node 0
};

/// Some nodes, and of each the nearest others of its class, nearest first.
struct Neighbourhood {
  std::vector<NodeId> nodes;
  std::vector<std::vector<Near>> near;  ///< by position in `nodes`
};

class ClassNeighbours {
 public:
  /// The cosets are the classes. The topology must outlive it.
  ClassNeighbours(const Topology& topology, const Sublattice& classes);

  std::uint32_t class_of(NodeId node) const noexcept { return class_of_[node]; }
  const Coordinates& coordinates(NodeId node) const noexcept { return coordinates_[node]; }
  /// So many of the others that are active, and not kept.
  Neighbourhood around(const std::vector<bool>& active, const std::vector<bool>& kept, std::size_t enough) const;
  static Bytes bytes(const Topology& topology) noexcept;

 private:
  NodeId shifted(NodeId from, NodeId displacement) const noexcept;

  const Topology* topology_;
  std::vector<Near> displacements_;  // nearest first
  std::vector<Coordinates> coordinates_;
  std::vector<std::uint32_t> class_of_;
};

}  // namespace torus::reduction
