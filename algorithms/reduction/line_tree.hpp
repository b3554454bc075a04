/// The lines through a root: a tree on any shape, with any number of ports. Towards the root, dimension by dimension, the last first.
///
/// In the phase of a dimension the nodes that have the root's coordinates in the dimensions done take part. On a ring both ways lead to the
/// root's place, or one where there is one port; on a line both sides, one a step later where there is one port; in a complete dimension
/// everybody sends straight there, as many at a time as there are ports.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <torus/block.hpp>
#include <torus/machine.hpp>
#include <torus/route.hpp>
#include <torus/topology.hpp>

namespace torus::reduction {

class LineTree {
 public:
  LineTree(const Machine& machine, NodeId root);

  /// What a node sends towards the root in a phase.
  struct Move {
    std::uint32_t step;  // of the phase
    Leg leg;
  };
  std::uint32_t phases() const noexcept { return static_cast<std::uint32_t>(lines_.size()); }
  std::uint32_t steps(std::uint32_t phase) const noexcept { return lines_[phase].steps; }
  std::uint32_t all_steps() const noexcept;
  /// Whether a node takes part in a phase: it has the root's coordinates in the dimensions of the phases before.
  bool takes_part(const Topology& topology, NodeId node, std::uint32_t phase) const noexcept;
  /// None for nodes at the root's place, which only receive in this phase.
  std::optional<Move> move(const Topology& topology, NodeId node, std::uint32_t phase) const noexcept;
  /// The nodes that send to a node in a phase.
  std::vector<NodeId> children(const Topology& topology, NodeId node, std::uint32_t phase) const;
  /// The nodes whose data a node passes on in the phase in which it sends, itself among them.
  std::vector<NodeId> subtree(const Topology& topology, NodeId node, std::uint32_t phase) const;

  /// Sums over the steps: of the most nodes' data on a channel, if it is bundled; and of the most messages that reach one node.
  std::uint64_t bundled() const noexcept;
  std::uint64_t received() const noexcept;

 private:
  struct Line {
    Dimension dimension;
    std::int32_t extent, root;  // the root's place
    Wiring wiring;
    std::int32_t up = 0, down = 0;             // places from which + and - lead away from the root
    std::uint32_t up_late = 0, down_late = 0;  // 1: that side arrives a step earlier than the phase ends
    std::uint32_t at_once = 0;                 // complete: messages a step
    std::uint32_t steps = 0;
  };
  static std::int32_t offset(const Line& line, std::int32_t place) noexcept;

  std::vector<Line> lines_;  // by phase
};

}  // namespace torus::reduction
