/// A schedule as a table: which node sends which blocks when, and by which route. And the same backwards.
///
/// Take a legal schedule in which every node gets every block once. Run its steps backwards, each route backwards (legs in opposite order,
/// signs turned), and combine what meets. Channels turn into their opposites one to one, ports' sends and receives change places: legal, as
/// many steps, the same loads. Each block's tree now leads to its origin, and each contribution moves along it once. So a broadcast gives a
/// reduction, a multi-node broadcast a reduce-scatter, a scatter a gather.
/// Routes of several legs reverse into the opposite order of dimensions: on a wormhole machine of routing order R the schedule is planned
/// for the same machine with R reversed.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <torus/byte_sum.hpp>
#include <torus/machine.hpp>
#include <torus/placement.hpp>
#include <torus/program.hpp>
#include <torus/rehearsal.hpp>

namespace torus::reduction {

class Transfers {
 public:
  using Send = Rehearsal::Sent;

  /// Of a rehearsal what brings a block to a node for the first time: every node gets every block at most once. Steps before `begin` are
  /// left out; each block is then at the node that sends it next, and nowhere else.
  Transfers(const Rehearsal& rehearsal, const Placement& placement, Step begin = 0);

  Transfers backwards(const Topology& topology) const;
  /// The same with `first` less in every block id.
  Transfers numbered_from(BlockId first) const;
  /// Of a schedule of one block: the same, but a message carries the blocks of its receiver and of all that it passes on to, a node's block
  /// having the node's rank for an id. A scatter from a broadcast.
  Transfers bundled(NodeId nodes) const;

  /// By node, then by step.
  std::span<const Send> of(NodeId node) const noexcept { return {sends_.data() + start_[node], start_[node + 1] - start_[node]}; }
  RouteView route(const Send& s) const noexcept { return {legs_.data() + s.first_leg, s.legs}; }
  std::span<const BlockId> blocks(const Send& s) const noexcept { return {blocks_.data() + s.first_block, s.blocks}; }
  Step steps() const noexcept { return steps_; }
  /// Blocks that arrive, in all.
  std::uint64_t arrivals() const noexcept { return blocks_.size(); }
  Bytes table_bytes() const noexcept;

  /// Sums over the steps: of the most bytes on a channel, of the most bytes that reach a node, and of the hops of the longest route.
  struct Load {
    ByteSum channel = 0, received = 0;
    std::uint64_t hops = 0;
  };
  Load load(const Topology& topology, const Placement& placement) const;

  /// The machine that a schedule is planned for if it is to run backwards on `machine`. Only worms turn: circuits and single hops have no
  /// order of dimensions.
  static Machine mirrored(const Machine& machine);

 private:
  Transfers() = default;
  void order(NodeId nodes);

  std::vector<Send> sends_;
  std::vector<std::size_t> start_;  // by node
  std::vector<Leg> legs_;
  std::vector<BlockId> blocks_;
  Step steps_ = 0;
};

/// What becomes of blocks that are sent.
enum class Manner : std::uint8_t {
  combine,  ///< given away, and combined there: reductions
  give,     ///< given away: scatter, gather
  copy      ///< kept here, too: broadcasts
};

/// The program of a node: does what the table says, beginning in a step. `transfers` must outlive the run, and so must the phase's name.
Program follow(Node& self, const Transfers& transfers, Manner manner, Step begin, const char* phase);

}  // namespace torus::reduction
