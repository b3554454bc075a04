#include "algorithms/trees/arc_trees.hpp"

#include <utility>

namespace torus {

ArcTrees::ArcTrees(const Topology& topology, Roots roots, NodeId root, std::uint32_t trees, std::vector<std::uint8_t> tree_of_channel,
                   std::uint32_t copies)
    : roots_{roots}, root_{root}, trees_{trees}, copies_{copies}, tree_of_channel_{std::move(tree_of_channel)}, heights_(trees, 0) {
  for (Dimension d = 0; d < topology.dimensions(); ++d) {
    const auto end = d + 1 < topology.dimensions() ? topology.first_slot(d + 1) : topology.channel_slots();
    const bool complete = topology.wiring(d) == Wiring::complete;
    for (std::int32_t i = 0; i < end - topology.first_slot(d); ++i) legs_.push_back({d, complete ? i + 1 : i == 0 ? +1 : -1});
  }
  TORUS_ASSERT(tree_of_channel_.size() == std::size_t{topology.nodes()} * legs_.size() * copies_);
  for (std::uint32_t r = 0; r < trees; ++r) {
    each_arc(topology, r, [&](NodeId, std::uint32_t, NodeId, std::uint32_t depth) { heights_[r] = depth; });  // the last is the deepest
  }
}

WayUp::WayUp(const Topology& topology, const ArcTrees& trees)
    : trees_{trees.trees()}, parents_(std::size_t{topology.nodes()} * trees_, no_slot), depths_(parents_.size(), 0) {
  TORUS_ASSERT(trees.slots() < no_slot);
  for (std::uint32_t r = 0; r < trees_; ++r) {
    trees.each_arc(topology, r, [&](NodeId, std::uint32_t slot, NodeId to, std::uint32_t depth) {
      const auto [dimension, hops] = trees.leg(slot);
      parents_[std::size_t{to} * trees_ + r] = static_cast<std::uint8_t>(topology.slot(dimension, topology.reverse(dimension, hops)));
      depths_[std::size_t{to} * trees_ + r] = depth;
    });
  }
}

}  // namespace torus
