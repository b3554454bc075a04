/// Blocks: the units of payload. Who a block is, what bytes it must have, where it starts and where it must end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <torus/machine.hpp>
#include <torus/topology.hpp>

namespace torus {

/// A block's identity. Its meaning is the Placement's; traces carry the same numbers. 32 bits, since a total exchange keeps several ids a
/// block.
using BlockId = std::uint32_t;
/// That the nodes of a run can hold together, each copy counted.
inline constexpr std::uint64_t most_blocks = 0xfffffffe;

/// Writes the bytes that block `id` must have: a function of (seed, id, offset) alone, so that a misplaced, truncated, swapped or stale
/// byte shows. Some 10 GB/s a core.
void fill_block(std::span<std::byte> bytes, std::uint64_t seed, BlockId id) noexcept;

struct WrongByte {
  std::size_t offset;
  std::byte got;
  std::byte wanted;
};
/// The first byte that is not what fill_block() would write; none if all are.
std::optional<WrongByte> first_wrong_byte(std::span<const std::byte> bytes, std::uint64_t seed, BlockId id) noexcept;

/// Which blocks there are, how long each is, who holds them at first and who must hold them at the end. An immutable value.
///
/// It says nothing of how they get there. Programs never see it: a node knows its own blocks and what it is told.
class Placement {
 public:
  /// Every node wants every block. Each source's message of `bytes` is cut in `segments` blocks, the first bytes % segments of them a byte
  /// longer; id = source * segments + segment. Throws InputError on a source out of range or twice, or no segment.
  static Placement replicated(NodeId nodes, std::vector<NodeId> sources, Bytes bytes, std::uint32_t segments = 1);
  /// Every node has a block for every node (itself too): id = origin * nodes + destination.
  static Placement personalised(NodeId nodes, Bytes bytes);
  /// The root has a block for every node: id = destination. Every node has a block for the root: id = origin.
  static Placement scattered(NodeId nodes, NodeId root, Bytes bytes);
  static Placement gathered(NodeId nodes, NodeId root, Bytes bytes);
  /// Every node has `per_node` blocks and must have the same ones at the end: id = node * per_node + i. For benchmarks, whose blocks go
  /// round.
  static Placement resident(NodeId nodes, std::uint32_t per_node, Bytes bytes);

  NodeId nodes() const noexcept { return nodes_; }
  /// Length of a block; of the longest block.
  Bytes bytes(BlockId id) const noexcept { return longer_ == 0 ? segment_ : segment_ + (split(id).second < longer_ ? 1 : 0); }
  Bytes longest() const noexcept { return segment_ + (longer_ > 0 ? 1 : 0); }
  bool uniform() const noexcept { return longer_ == 0; }

  /// The blocks that a node holds at first, ascending; and the ones it must hold at the end.
  std::uint64_t initial_count(NodeId node) const noexcept;
  BlockId initial(NodeId node, std::uint64_t nth) const noexcept;
  std::uint64_t wanted_count(NodeId node) const noexcept;
  BlockId wanted(NodeId node, std::uint64_t nth) const noexcept;
  bool wants(NodeId node, BlockId id) const noexcept;
  /// Blocks of the whole machine at the start, and at the end.
  std::uint64_t initial_total() const noexcept;
  std::uint64_t wanted_total() const noexcept;

  /// Whether there is such a block at all.
  bool exists(BlockId id) const noexcept { return bucket(id) != no_bucket; }

  /// Where a node's table of held blocks looks for one: 0..buckets()-1. One block a bucket if everyone wants all; else several may meet.
  std::uint32_t buckets() const noexcept { return buckets_; }
  static constexpr std::uint32_t no_bucket = 0xffffffff;
  /// no_bucket for ids that no block has.
  std::uint32_t bucket(BlockId id) const noexcept {
    id -= first_id_;
    if (id >= ids_) return no_bucket;
    switch (kind_) {
      case Kind::personalised: {
        const auto [origin, destination] = split(id);
        return destination >= origin ? destination - origin : destination + nodes_ - origin;
      }
      case Kind::resident: return split(id).second;
      case Kind::several_sources: {
        const auto [source, segment] = split(id);
        const std::uint32_t index = index_of_source_[source];
        return index == no_bucket ? no_bucket : index * segments_.value() + segment;
      }
      case Kind::one_source:
      case Kind::scattered:
      case Kind::gathered: break;
    }
    return id;
  }
  /// The block of a bucket, where one_block_a_bucket().
  BlockId in_bucket(std::uint32_t bucket) const noexcept {
    if (kind_ != Kind::several_sources) return first_id_ + bucket;
    const std::uint32_t source = segments_.divide(bucket);
    return sources_[source] * segments_.value() + (bucket - source * segments_.value());
  }
  bool one_block_a_bucket() const noexcept { return kind_ != Kind::personalised && kind_ != Kind::resident; }

 private:
  enum class Kind : std::uint8_t { one_source, several_sources, personalised, scattered, gathered, resident };

  Placement(Kind kind, NodeId nodes, std::uint32_t divisor) : kind_{kind}, nodes_{nodes}, segments_{divisor} {}

  /// (id / segments_, id % segments_), where segments_ also stands for the blocks a node of the personalised kinds.
  std::pair<std::uint32_t, std::uint32_t> split(BlockId id) const noexcept {
    const std::uint32_t q = segments_.divide(id);
    return {q, id - q * segments_.value()};
  }
  Kind kind_;
  NodeId nodes_;
  detail::Divisor segments_;
  Bytes segment_ = 0;         // bytes of the shorter blocks
  std::uint32_t longer_ = 0;  // this many segments are a byte longer
  std::uint32_t buckets_ = 1;
  BlockId first_id_ = 0;  // ids that exist are among the ids_ from here
  std::uint64_t ids_ = 0;
  NodeId root_ = 0;
  std::vector<NodeId> sources_;                 // ascending
  std::vector<std::uint32_t> index_of_source_;  // by rank, where there are several sources
};

}  // namespace torus
