/// What a node gives away in each step of a reduce-scatter over a few offsets a step, the same for all nodes.
#pragma once

#include <cstdint>
#include <vector>

#include <torus/topology.hpp>

namespace torus {

/// Displacements, from a node to the owner of a block, are written as ranks: those of the owners of node 0.
class LatticeTable {
 public:
  /// Signed hops in every dimension.
  using Offset = Coordinates;
  /// By step.
  using Offsets = std::vector<std::vector<Offset>>;

  /// On a torus. Not complete() if some displacement is no sum of at most one offset a step.
  LatticeTable(const Topology& topology, Offsets offsets);
  /// The best table of known offsets, or of those that a seeded, bounded search finds: the fewest steps, and of these the fewest bytes.
  /// Deterministic; O(N) memory.
  static LatticeTable find(const Topology& topology);

  bool complete() const noexcept { return complete_; }
  std::size_t steps() const noexcept { return offsets_.size(); }
  const Offset& offset(std::size_t step, std::size_t i) const noexcept { return offsets_[step][i]; }
  /// Displacements of the blocks that go by each of a step's offsets.
  const std::vector<std::vector<NodeId>>& given(std::size_t step) const noexcept { return given_[step]; }
  /// Blocks on the fullest channel, summed over the steps.
  std::uint64_t channel() const noexcept { return channel_; }
  /// Blocks that a node combines: those that come where it holds one.
  std::uint64_t combined() const noexcept { return combined_; }

  /// The rank at an offset from a rank, or (-1) at the opposite one.
  static NodeId shifted(const Topology& topology, NodeId rank, const Offset& offset, std::int32_t sign = +1);
  /// Which displacements are sums of at most one offset of each step from `first` on.
  static std::vector<bool> reach(const Topology& topology, const Offsets& offsets, std::size_t first = 0);

 private:
  /// Assigns each displacement that leaves in a step to an offset. Removes from `after` those that the node has given away before and
  /// does not receive.
  void hand_out(const Topology& topology, std::size_t step, const std::vector<bool>& before, std::vector<bool>& after);

  Offsets offsets_;
  std::vector<std::vector<std::vector<NodeId>>> given_;
  std::uint64_t channel_ = 0, combined_ = 0;
  bool complete_ = true;
};

}  // namespace torus
