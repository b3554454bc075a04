/// Gathering to one node, the root, along one dimension after the other, and spreading from it the same way backwards.
///
/// Machine  torus or mesh of any sides; wormhole (single legs); any ports: with one port the trees have one child a level, else two.
/// Steps    sum over the dimensions of ceil(log_b n), each way; b = 2 with one port, else 3.   Header  none.
/// Source   folklore.
#pragma once

#include <vector>

#include <torus/machine.hpp>
#include <torus/program.hpp>

#include "algorithms/multinode_broadcast/bundle.hpp"
#include "algorithms/multinode_broadcast/line_tree.hpp"

namespace torus::multinode {

/// What every node knows beforehand.
struct RootTrees {
  explicit RootTrees(const Machine& machine);

  /// One way.
  std::int32_t steps() const noexcept;
  /// Sum over the steps of a gather of the most bytes on a channel, for s sources of m bytes: exact for s = all, else for random ones,
  /// about.
  double gathering_bytes(double s, double m) const;

  double nodes;
  std::vector<Dimension> axes;
  std::vector<LineTree> trees;  ///< by axis
  NodeId root;
};

/// Every bundle ends at the root; all others' are empty then.
Program gather_to_root(Node& self, const RootTrees& trees, Cargo cargo, Bundle& bundle);
/// The root's bundle ends at every node. All others' are empty before.
Program spread_from_root(Node& self, const RootTrees& trees, Cargo cargo, Bundle& bundle);

}  // namespace torus::multinode
