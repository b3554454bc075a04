#include "algorithms/multinode_broadcast/root_trees.hpp"

#include "algorithms/common/linked_dimensions.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"

namespace torus::multinode {
namespace {

/// Whether a node takes part along an axis: in all earlier ones it stands where their bundles went.
bool takes_part(const Node& self, const RootTrees& trees, std::size_t axis) {
  for (std::size_t earlier = 0; earlier < axis; ++earlier) {
    if (self.coordinate(trees.axes[earlier]) != trees.trees[earlier].root()) return false;
  }
  return true;
}

}  // namespace

RootTrees::RootTrees(const Machine& machine)
    : nodes{static_cast<double>(machine.topology.nodes())}, axes{linked_dimensions(machine.topology)}, root{0} {
  Coordinates at = machine.topology.coordinates(0);
  for (const Dimension d : axes) {
    const std::int32_t n = machine.topology.extent(d);
    trees.push_back(machine.ports == 1 ? LineTree::halving(n) : LineTree::line(3, n));
    at[static_cast<std::size_t>(d)] = trees.back().root();
  }
  root = machine.topology.rank(at);
}

std::int32_t RootTrees::steps() const noexcept {
  std::int32_t steps = 0;
  for (const LineTree& tree : trees) steps += tree.levels();
  return steps;
}

double RootTrees::gathering_bytes(double s, double m) const {
  double sum = 0, crowd = 1;  // nodes whose messages one place of the axis has
  for (const LineTree& tree : trees) {
    for (const std::int32_t size : tree.level_sizes()) sum += m * fullest(size * crowd * s / nodes, nodes / crowd, size * crowd);
    crowd *= tree.positions();
  }
  return sum;
}

Program gather_to_root(Node& self, const RootTrees& trees, Cargo cargo, Bundle& bundle) {
  for (std::size_t axis = 0; axis < trees.axes.size(); ++axis) {
    const bool member = takes_part(self, trees, axis);
    for (std::int32_t level = 0; level < trees.trees[axis].levels(); ++level) {
      self.phase("to the root");
      if (member) hand_up(self, trees.axes[axis], trees.trees[axis], self.coordinate(trees.axes[axis]), level, bundle, cargo);
      for (const Message& m : co_await self.step()) append(bundle, m, cargo);
    }
  }
}

Program spread_from_root(Node& self, const RootTrees& trees, Cargo cargo, Bundle& bundle) {
  for (std::size_t axis = trees.axes.size(); axis-- > 0;) {
    const bool member = takes_part(self, trees, axis);
    for (std::int32_t level = trees.trees[axis].levels() - 1; level >= 0; --level) {
      self.phase("from the root");
      if (member) hand_down(self, trees.axes[axis], trees.trees[axis], self.coordinate(trees.axes[axis]), level, bundle, cargo);
      for (const Message& m : co_await self.step()) append(bundle, m, cargo);
    }
  }
}

}  // namespace torus::multinode
