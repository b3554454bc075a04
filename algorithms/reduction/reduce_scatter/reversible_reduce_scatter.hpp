/// Reduce-scatter, the multi-node broadcast that is its reversal, and the all-reduce that is both, from what each node sends in each step
/// of the reduce-scatter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string>
#include <vector>

#include <torus/algorithm.hpp>

namespace torus::reduction {

/// What a node sends in a step: blocks by route. On the stack of the function that sends: no step allocates while its lists are short, and
/// all nodes of a thread write the same memory, which stays in the cache.
class Sends {
 public:
  using Blocks = std::pmr::vector<BlockId>;
  struct RoutedBlocks {
    RoutedBlocks(const Route& by, std::pmr::memory_resource* memory) : route{by}, blocks{memory} {}
    Route route;
    Blocks blocks;
  };

  Sends() { sends_.reserve(8); }  // growing would move sends, which are 300 bytes long

  /// The blocks, none yet, of a new send.
  Blocks& add(const Route& route) { return sends_.emplace_back(route, &memory_).blocks; }
  /// The blocks of the send with that route, a new one if there is none yet.
  Blocks& by(const Route& route);

  auto begin() noexcept { return sends_.begin(); }
  auto end() noexcept { return sends_.end(); }

 private:
  std::array<std::byte, std::size_t{16} * 1024> buffer_;
  std::pmr::monotonic_buffer_resource memory_{buffer_.data(), buffer_.size()};
  std::pmr::vector<RoutedBlocks> sends_{&memory_};
};

/// A reduce-scatter in which nodes only give partials away, so that no contributor is counted twice. Block id = owner * pieces() + i.
class ReversibleReduceScatter {
 public:
  /// Sums over the steps, in blocks: of the most on a channel, and of the most that a node combines; and of the most seconds that a channel
  /// takes for each byte of a block, where channels differ in speed and that is known. And the most messages with one block in a step of an
  /// all-gather, over the nodes.
  struct Load {
    std::uint64_t channel = 0, combined = 0;
    double channel_byte_s = 0;
    double messages = 1;
  };

  virtual ~ReversibleReduceScatter() = default;
  virtual std::uint64_t steps() const = 0;
  /// Blocks of one owner.
  virtual std::uint32_t pieces() const = 0;
  /// Blocks of a whole vector, in an all-reduce.
  virtual std::uint32_t vector_blocks(const Topology& topology) const { return pieces() * topology.nodes(); }
  /// Appends what a node sends in a step.
  virtual void sends(const Node& self, std::uint64_t step, Sends& out) const = 0;
  /// Appends what a node receives in a step, with the routes back to the senders: what it sends in the mirrored step of the all-gather.
  virtual void mirrored_sends(const Node& self, std::uint64_t step, Sends& out) const = 0;
  virtual Load load() const = 0;
  /// Tables for all nodes.
  virtual Bytes table_bytes() const { return 0; }
};

/// A reduce-scatter gives all partials away, combining. An all-reduce then runs the steps backwards, replacing. A multi-node broadcast is
/// this second half alone; there a node sends only those blocks that it holds, since not all nodes need be sources.
/// `hops`: of every route, if all have as many.
Plan plan_reversible(const Machine& machine, const Request& request, std::shared_ptr<const ReversibleReduceScatter> half,
                     const std::string& formula, std::optional<std::uint64_t> hops = {});

}  // namespace torus::reduction
