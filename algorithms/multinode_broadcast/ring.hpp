/// All-gather along the rings of every dimension at once: k parts of the payload go round k dimensions, then change places.
///
/// In phase p part t goes along axis (t + p) mod k; each member passes on, both ways, what it got last from behind. In an even ring the
/// last step sends the first half of the farthest bundle by + and the rest by -. In the next phase a member's bundle is all that it got.
/// The rings may be dilated (a DDN: every h-th node of a line) or periodic (length h in a line of more nodes, if nodes h apart hold
/// equal bundles in equal order; they then go on doing so).
/// Machine  torus of any dimension, all ports; single legs, single hops where unit = 1 (then packet switching does).
/// Steps    phases * floor(longest ring / 2); together: sum of floor(ring / 2).   Header  none.
/// Source   folklore, with all dimensions at work at once; every channel is used in both directions in every step.
#pragma once

#include <torus/program.hpp>

#include "algorithms/multinode_broadcast/line_tree.hpp"

namespace torus::multinode_broadcast {

class Station;  // partition.hpp

struct RingGather {
  const char* label;                  ///< the phase that the report sums it under
  std::vector<Dimension> axes;        ///< the dimensions that parts go along, in order
  std::vector<std::int32_t> lengths;  ///< of the rings along each axis
  std::int32_t unit = 1;              ///< hops between neighbours of a ring
  std::int32_t phases = 1;            ///< 1: each part along one axis; axes.size(): along all
  bool together = false;              ///< not cut in parts: all along one axis after the other, fewer steps where the rings are unequal

  std::int32_t parts() const noexcept { return static_cast<std::int32_t>(axes.size()); }
  std::int32_t steps_of(std::int32_t phase) const noexcept;
  std::int32_t steps() const noexcept;
  /// Sum over the steps of the bytes on the fullest channel, if every one of `members` nodes may start with so many messages of so many
  /// bytes, cut in the parts, and does so for a share of them: exact for share 1, else an estimate for sources at random.
  double channel_bytes(Bytes message, double messages, double share, double members) const noexcept;
};

/// The rings of a whole torus: every dimension of more than one node, all its nodes.
RingGather whole_rings(const Topology& topology, const char* label);

/// The blocks of a bundle by part: block ids are source * parts + part.
std::vector<Bundle> split_parts(std::span<const BlockId> bundle, std::size_t parts);

/// Called by every node; those that are no members send nothing. bundles: one a part, or one of all. station: where the node stands on a
/// grid, if the rings are of one.
Program ring_gather(Node& self, const RingGather& rings, bool member, std::vector<Bundle>& bundles, const Station* station = nullptr);
/// The same for a bundle of whole messages, which ends cut in parts.
Program ring_gather(Node& self, const RingGather& rings, bool member, const Bundle& bundle, std::vector<Bundle>& parts,
                    const Station* station = nullptr);

}  // namespace torus::multinode_broadcast
