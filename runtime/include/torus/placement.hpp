/// A placement: the blocks of a run, where they start and where they must end.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <torus/block.hpp>
#include <torus/machine.hpp>
#include <torus/reduction.hpp>
#include <torus/sizes.hpp>

namespace torus {

class Placement;

namespace detail {

class Description;
void describe(Description& to, const Placement& placement);

}  // namespace detail

/// The blocks of a reduction. Every node starts with its own contribution to every segment of a vector.
struct Contributions {
  /// Where the result of a segment must be: at the root; at all nodes; at its owner; or at all nodes, each with the contributions of the
  /// nodes up to itself.
  enum class Wanted : std::uint8_t { at_root, everywhere, at_owner, of_prefix };

  Reduction reduction = {};
  Wanted wanted = Wanted::everywhere;
  NodeId root = 0;
  Bytes bytes = 0;              ///< of the vector; at_owner: of the part that a node owns
  std::uint32_t segments = 1;   ///< that these bytes are cut into; the first ones may be an element longer
  std::uint32_t registers = 1;  ///< partials of a segment that a node may hold
};

/// Which blocks exist, how long each is, which node holds it first and which nodes must hold it at the end. An immutable value, made for
/// the nodes of one topology.
///
/// It does not say how the blocks get there. Programs never see it.
class Placement {
 public:
  /// Every living node wants every block. Each source's message of `bytes` is split into `segments` blocks, the first bytes % segments of
  /// them a byte longer; id = source * segments + segment. Throws InputError on a source that is out of range, dead or named twice, or
  /// without segments. The engine is fastest where `segments` divides `bytes`: see uniform().
  static Placement replicated(const Topology& topology, std::vector<NodeId> sources, Bytes bytes, std::uint32_t segments = 1);
  /// Every living node has a block for every living node, itself included: id = origin * nodes + destination.
  static Placement personalised(const Topology& topology, Bytes bytes);
  /// The root has a block for every living node: id = destination. Throws InputError on a root that is out of range or dead.
  static Placement scattered(const Topology& topology, NodeId root, Bytes bytes);
  /// Every living node has a block for the root: id = origin. Throws InputError on a root that is out of range or dead.
  static Placement gathered(const Topology& topology, NodeId root, Bytes bytes);
  /// For tests and benchmarks: every node has `per_node` blocks at the start and must have the same ones at the end; id =
  /// node * per_node + i.
  static Placement resident(const Topology& topology, std::uint32_t per_node, Bytes bytes);

  /// A reduction. Block id = register * S + segment, of S segments in all (at_owner: segment = owner * segments + piece). Register 0 starts
  /// with the node's contribution and is judged at the end; the others start empty and are scratch. Throws InputError on a reduction that
  /// check_reduction() refuses, on a root out of range or dead, without segments or registers, and on more than 8 registers.
  /// Dead nodes contribute nothing and get nothing.
  static Placement contributed(const Topology& topology, const Contributions& contributions);

  /// The same blocks in other sizes: one a pair of nodes for personalised(); else one a node: of its message, of the block from it or for
  /// it, or of the part that it owns. Segments divide them as they divide messages of one size. Not for resident(), nor for other
  /// contributed() than at_owner. A block of no bytes is nothing: whether a node that wants it holds it at the end is not looked at, any
  /// node may send it, and a message with nothing but such blocks is a message like any other.
  Placement with_sizes(Sizes sizes) &&;
  const std::optional<Sizes>& sizes() const noexcept { return sizes_; }

  NodeId nodes() const noexcept { return nodes_; }
  /// Not for resident(): whether the node is alive.
  bool living(NodeId node) const noexcept { return dead_.empty() || !is_dead(node); }
  /// Length of a block.
  Bytes bytes(BlockId id) const noexcept {
    if (longer_ == 0) return segment_;
    return longer_ == sized ? size_of_block(id) : segment_ + (split(id).second < longer_ ? unit_ : 0);
  }
  /// Length of the longest block.
  Bytes longest() const noexcept { return segment_ + (longer_ > 0 ? unit_ : 0); }
  /// True if the block is nothing: see with_sizes().
  bool empty(BlockId id) const noexcept { return longer_ == sized && size_of_block(id) == 0; }
  /// True if all blocks have the same length. The engine's fast paths for single blocks need it.
  bool uniform() const noexcept { return longer_ == 0; }
  /// True if the block exists.
  bool exists(BlockId id) const noexcept { return bucket(id) != no_bucket; }

  // The blocks that a node holds at the start, and those it must hold at the end, each list ascending. nth: below the count.
  std::uint64_t initial_count(NodeId node) const noexcept;
  BlockId initial(NodeId node, std::uint64_t nth) const noexcept;
  std::uint64_t wanted_count(NodeId node) const noexcept;
  BlockId wanted(NodeId node, std::uint64_t nth) const noexcept;
  bool wants(NodeId node, BlockId id) const noexcept;
  /// False for a segment of contributed() whose owner is dead: it is not judged.
  bool wanted_anywhere(BlockId segment) const noexcept {
    return dead_.empty() || contributions_.wanted != Contributions::Wanted::at_owner || living(split(segment).first);
  }
  /// Blocks of the whole machine at the start, and at the end.
  std::uint64_t initial_total() const noexcept;
  std::uint64_t wanted_total() const noexcept;
  /// Blocks that the nodes hold together at any time, if none has more than it wants or may have in its registers; and those of
  /// with_copies().
  std::uint64_t most_held() const noexcept;
  /// The same blocks, with `copies` more in estimates of memory: those that all nodes together hold or send at one time and that are later
  /// replaced, dropped or combined.
  Placement with_copies(std::uint64_t copies) &&;
  std::uint64_t copies() const noexcept { return copies_; }

  // For a reduction.

  /// True for contributed(): blocks are partials, and messages may combine them.
  bool reduces() const noexcept { return kind_ == Kind::contributed; }
  const Contributions& contributions() const noexcept { return contributions_; }
  /// Segments of the whole vector: the blocks of a register.
  std::uint32_t vector_segments() const noexcept { return vector_segments_.value(); }
  std::uint32_t segment_of(BlockId id) const noexcept { return vector_segments_.remainder(id); }
  /// The number of a segment's first element in the whole vector.
  std::uint64_t first_element(BlockId segment) const noexcept;

  // For the engine: where a node's table of held blocks looks for a block.

  /// Entries of a node's table.
  std::uint32_t buckets() const noexcept { return buckets_; }
  static constexpr std::uint32_t no_bucket = 0xffffffff;
  /// The entry for a block; no_bucket if the block does not exist.
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
      case Kind::scattered:
      case Kind::gathered: return static_cast<std::uint32_t>((id * golden_ratio) >> hash_shift_);
      case Kind::one_source:
      case Kind::contributed: break;
    }
    return id;
  }
  /// True if the entry of a block is a hash of its id: any node may hold any block of a root's, and most hold few.
  bool hashes() const noexcept { return kind_ == Kind::scattered || kind_ == Kind::gathered; }
  /// True if no two blocks share an entry.
  bool one_block_a_bucket() const noexcept { return kind_ != Kind::personalised && kind_ != Kind::resident && !hashes(); }
  /// The block of an entry, where one_block_a_bucket().
  BlockId in_bucket(std::uint32_t bucket) const noexcept {
    if (kind_ != Kind::several_sources) return first_id_ + bucket;
    const std::uint32_t source = segments_.divide(bucket);
    return sources_[source] * segments_.value() + (bucket - source * segments_.value());
  }

 private:
  enum class Kind : std::uint8_t { one_source, several_sources, personalised, scattered, gathered, resident, contributed };

  friend void detail::describe(detail::Description& to, const Placement& placement);

  Placement(Kind kind, NodeId nodes, std::uint32_t divisor) : kind_{kind}, nodes_{nodes}, segments_{divisor} {}

  static constexpr std::uint32_t sized = 0xffffffff;  // longer_, where sizes_ say all
  Bytes size_of_block(BlockId id) const noexcept;
  bool is_dead(NodeId node) const noexcept;
  NodeId living_nodes() const noexcept { return nodes_ - static_cast<NodeId>(dead_.size()); }
  /// The living nodes by rank, from 0.
  NodeId nth_living(NodeId nth) const noexcept;
  static Placement rooted(Kind kind, const Topology& topology, NodeId root, Bytes bytes);

  /// (id / segments_, id % segments_).
  std::pair<std::uint32_t, std::uint32_t> split(BlockId id) const noexcept {
    const std::uint32_t q = segments_.divide(id);
    return {q, id - q * segments_.value()};
  }

  Kind kind_;
  NodeId nodes_;
  detail::Divisor segments_;  // of a message; for personalised and resident: the blocks of a node
  Bytes segment_ = 0;         // bytes of the shorter blocks; with sizes: of the longest, less a unit
  std::uint32_t longer_ = 0;  // this many segments are a unit longer
  Bytes unit_ = 1;
  static constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;  // 2^64 over it: neighbouring ids get entries that lie far apart
  std::uint32_t buckets_ = 1;
  std::uint32_t hash_shift_ = 63;  // leaves the bits that number the entries
  BlockId first_id_ = 0;           // existing ids are among the ids_ from here
  std::uint64_t ids_ = 0;
  std::uint64_t copies_ = 0;
  NodeId root_ = 0;
  std::vector<NodeId> dead_;                    // ascending; they want nothing
  std::vector<NodeId> sources_;                 // ascending
  std::vector<std::uint32_t> index_of_source_;  // by rank, where there are several sources
  Contributions contributions_;
  detail::Divisor vector_segments_{1};
  std::optional<Sizes> sizes_;
  std::shared_ptr<const std::vector<std::uint64_t>> first_of_part_;  // element of each owner's part, where parts have sizes
};

/// The most that waits at a node to be sent on in a later step, from its first arrival until it is sent last. What a node had from the
/// beginning does not count.
struct Buffered {
  std::uint64_t blocks = 0;
  Bytes bytes = 0;
};

}  // namespace torus
