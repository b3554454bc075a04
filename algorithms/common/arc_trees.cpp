#include "algorithms/common/arc_trees.hpp"

namespace torus {

ArcTrees::ArcTrees(const Topology& topology, NodeId root, std::uint32_t trees)
    : root_{root},
      trees_{trees},
      tree_of_channel_(std::size_t{topology.nodes()} * static_cast<std::size_t>(topology.channel_slots()), no_tree),
      parents_(std::size_t{topology.nodes()} * trees, no_slot),
      depths_(std::size_t{topology.nodes()} * trees, 0),
      heights_(trees, 0) {
  for (Dimension d = 0; d < topology.dimensions(); ++d) {
    const auto slots = (d + 1 < topology.dimensions() ? topology.first_slot(d + 1) : topology.channel_slots()) - topology.first_slot(d);
    const bool complete = topology.wiring(d) == Wiring::complete;
    for (std::int32_t i = 0; i < slots; ++i) legs_.push_back({d, complete ? i + 1 : i == 0 ? +1 : -1});
  }
}

void ArcTrees::add(const Topology& topology, std::uint32_t tree, NodeId from, Leg leg, NodeId to) {
  const auto slots = legs_.size();
  tree_of_channel_[from * slots + static_cast<std::size_t>(topology.slot(leg.dimension, leg.hops))] = static_cast<std::uint8_t>(tree);
  parents_[at(to, tree)] = static_cast<std::uint16_t>(topology.slot(leg.dimension, topology.reverse(leg.dimension, leg.hops)));
  depths_[at(to, tree)] = depth(from, tree) + 1;
  heights_[tree] = std::max(heights_[tree], depths_[at(to, tree)]);
}

}  // namespace torus
