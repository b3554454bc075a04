/// A schedule as a table: which node sends which blocks to which node, in which step and by which route, and what becomes of them.
///
/// It is made from a rehearsed program or send by send, and any node can follow() it.
///
/// Reversal. Take a legal schedule in which every node gets every block once. Run its steps backwards and each route backwards (legs in the
/// opposite order, signs changed), and combine what meets. Channels map to their opposites one to one, and sends and receives of a port
/// change places: the result is legal, with as many steps and the same loads. Each block's tree now leads to its origin, and each
/// contribution moves along it once. So a broadcast gives a reduction, a multi-node broadcast a reduce-scatter, a scatter a gather.
/// Routes of several legs reverse into the opposite order of dimensions: on a wormhole machine of routing order R the schedule is planned
/// for the same machine with R reversed, mirrored().
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <torus/byte_sum.hpp>
#include <torus/machine.hpp>
#include <torus/placement.hpp>
#include <torus/program.hpp>
#include <torus/rehearsal.hpp>

namespace torus {

/// What becomes of the blocks of a send.
enum class Manner : std::uint8_t {
  copy,     ///< The sender keeps them: broadcasts.
  give,     ///< The sender gives them away: scatter, gather.
  combine,  ///< The sender gives partials away, and the receiver combines them: reductions.
  share     ///< The sender keeps partials, and the receiver combines them: exchanges.
};

class Schedule {
 public:
  struct Send {
    Step step;
    NodeId from, to;
    std::uint32_t first_leg;
    std::size_t first_block;
    std::uint32_t blocks;
    std::uint16_t legs;
    Manner manner;
    std::uint8_t registers = 1;  ///< of the receiver that partials are combined into, a bit each
  };

  /// No sends yet.
  explicit Schedule(NodeId nodes) : start_(std::size_t{nodes} + 1) {}
  /// Copies of what brings a block to a node for the first time: every node gets every block at most once. Steps before `begin` are left
  /// out; each block then starts at the node that sends it next, and nowhere else.
  Schedule(const Rehearsal& rehearsal, const Placement& placement, Step begin = 0);

  /// Appends a send. `to` is where the route ends. sort() must follow before anything else is called.
  void add(Step step, NodeId from, NodeId to, RouteView route, std::span<const BlockId> blocks, Manner manner, std::uint8_t registers = 1);
  void sort();

  /// Copies become combinations and the other way round. What is given stays given; there must be no Manner::share.
  Schedule backwards(const Topology& topology) const;
  /// A scatter along the tree of this broadcast of one block. A message gives the blocks of its receiver and of all that the receiver
  /// informs. A node's block has the node's rank for an id.
  Schedule bundled() const;
  /// The same with the ids f(id).
  Schedule renumbered(const std::function<BlockId(BlockId)>& f) const;
  /// Adds another schedule of the same nodes, which begins in a step. The block ids stay.
  void merge(const Schedule& other, Step begin);
  /// Gives all steps one phase name, a literal. merge() keeps the names of both.
  void name_phase(const char* name) { phases_ = {{0, name}}; }

  NodeId nodes() const noexcept { return static_cast<NodeId>(start_.size() - 1); }
  /// A node's sends in the order of their steps.
  std::span<const Send> of(NodeId node) const noexcept { return {sends_.data() + start_[node], start_[node + 1] - start_[node]}; }
  /// All sends by node, then by step.
  std::span<const Send> sends() const noexcept { return sends_; }
  RouteView route(const Send& s) const noexcept { return {legs_.data() + s.first_leg, s.legs}; }
  std::span<const BlockId> blocks(const Send& s) const noexcept { return {blocks_.data() + s.first_block, s.blocks}; }
  /// Null where it has no name.
  const char* phase(Step step) const noexcept;
  Step steps() const noexcept { return steps_; }
  /// Blocks that arrive, in all.
  std::uint64_t arrivals() const noexcept { return blocks_.size(); }
  Bytes table_bytes() const noexcept;

  /// Sums over the steps: of the most bytes on a channel, of the most bytes that reach a node to be combined, and of the hops of the
  /// longest route.
  struct Loads {
    ByteSum channel = 0, combined = 0;
    std::uint64_t hops = 0;
  };
  Loads loads(const Topology& topology, const std::function<ByteSum(BlockId)>& bytes) const;
  Loads loads(const Topology& topology, const Placement& placement) const;

  /// The machine for which a schedule is planned if its reversal is to run on `machine`. Only wormhole routes change: circuits and single
  /// hops have no order of dimensions.
  static Machine mirrored(const Machine& machine);

 private:
  struct Phase {
    Step begin;
    const char* name;
  };

  std::vector<Send> sends_;
  std::vector<std::size_t> start_;  // by node
  std::vector<Leg> legs_;
  std::vector<BlockId> blocks_;
  std::vector<Phase> phases_;  // by step
  Step steps_ = 0;
};

/// A send in that manner.
void send(Node& self, RouteView route, std::span<const BlockId> blocks, Manner manner, std::uint8_t registers = 1);

/// The program of a node: does what the schedule says, from step `begin` on, and ends after its last send. The schedule must outlive the
/// run.
Program follow(Node& self, const Schedule& schedule, Step begin = 0);

}  // namespace torus
