/// A rehearsal: programs played through on one thread, without bytes, to know beforehand what they will send.
///
/// For algorithms that reverse another one: in a reversed broadcast, every node must know in which step the broadcast informs it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <torus/machine.hpp>
#include <torus/placement.hpp>
#include <torus/program.hpp>
#include <torus/route.hpp>

namespace torus {

/// What was sent, in the order of the steps.
class Rehearsal {
 public:
  struct Sent {
    Step step;
    NodeId from, to;
    std::uint32_t first_leg, legs, first_block, blocks;
  };

  /// Plays the programs that `start` makes, one a node, on a placement of which no two blocks share an entry (one_block_a_bucket()).
  /// It follows sends, forwards and releases, but checks nothing. Throws what a program throws, and RunError on partials and on programs
  /// that have not ended when nothing is left to arrive.
  Rehearsal(const Machine& machine, const Placement& placement, const std::function<Program(Node&)>& start);

  std::span<const Sent> sent() const noexcept { return sent_; }
  RouteView route(const Sent& s) const noexcept { return {legs_.data() + s.first_leg, s.legs}; }
  std::span<const BlockId> blocks(const Sent& s) const noexcept { return {blocks_.data() + s.first_block, s.blocks}; }

  /// Max memory while it is played, beside the record of what is sent.
  static Bytes bytes_for(const Machine& machine) noexcept;

 private:
  friend class RehearsalStage;

  std::vector<Sent> sent_;
  std::vector<Leg> legs_;
  std::vector<BlockId> blocks_;
};

}  // namespace torus
