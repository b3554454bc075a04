/// Reduce-scatter, the multi-node broadcast that is its reversal, and the all-reduce that is both, from what each node gives away in each
/// step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <torus/algorithm.hpp>

namespace torus::reduction {

/// Blocks that go to one node.
struct Gift {
  Route route;
  std::vector<BlockId> blocks;
};

/// What a node sends in a step. A list that is used again keeps its memory.
class Gifts {
 public:
  void clear() noexcept { size_ = 0; }
  /// The blocks, none yet, of a new gift.
  std::vector<BlockId>& add(const Route& route);
  /// Those of the gift with that route, a new one if there is none yet.
  std::vector<BlockId>& of(const Route& route);

  Gift* begin() noexcept { return gifts_.data(); }
  Gift* end() noexcept { return gifts_.data() + size_; }

 private:
  std::vector<Gift> gifts_;
  std::size_t size_ = 0;
};

/// What the nodes do in a reduce-scatter: partials are only given away, so that nobody is counted twice. Block id = owner * pieces() + i.
class Halves {
 public:
  /// Sums over the steps, in blocks: of the most on a channel, and of the most that a node combines.
  struct Load {
    std::uint64_t channel = 0, combined = 0;
  };

  virtual ~Halves() = default;
  virtual std::uint64_t steps() const = 0;
  /// Of an owner's block.
  virtual std::uint32_t pieces() const = 0;
  /// Of a whole vector, in an all-reduce.
  virtual std::uint32_t vector_blocks(const Topology& topology) const { return pieces() * topology.nodes(); }
  /// Both append to the gifts.
  virtual void gives(const Node& self, std::uint64_t step, Gifts& gifts) const = 0;
  /// What a node got in a step, to go back to where it came from: what it sends in the mirrored step of the all-gather.
  virtual void returns(const Node& self, std::uint64_t step, Gifts& gifts) const = 0;
  virtual Load load() const = 0;
  /// Of tables, for all nodes.
  virtual Bytes table_bytes() const { return 0; }
};

/// Gives all partials away, combining, and in an all-reduce takes all results back, replacing, step by step backwards. A multi-node
/// broadcast is the second half alone: of what there is to send back a node sends what it has, since not all nodes need be sources.
/// `hops`: of every route, if all have as many.
Plan plan_halves(const Machine& machine, const Request& request, std::shared_ptr<const Halves> halves, const std::string& formula,
                 std::optional<std::uint64_t> hops = {});

/// The bytes that plan_halves() predicts for the fullest channels. load: that of the halves.
double channel_bytes(const Machine& machine, const Request& request, const Halves& halves, const Halves::Load& load);

}  // namespace torus::reduction
