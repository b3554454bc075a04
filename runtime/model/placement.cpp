#include <algorithm>
#include <bit>
#include <limits>
#include <string>

#include <torus/error.hpp>
#include <torus/placement.hpp>

#include "runtime/base/figures.hpp"

namespace torus {
namespace {

/// Block ids have 32 bits.
void refuse_too_many(std::uint64_t blocks, NodeId nodes) {
  if (blocks <= std::uint64_t{1} << 32U) return;
  throw InputError(std::to_string(blocks) + " blocks on " + std::to_string(nodes) +
                   " nodes: there can be at most 2^32, as 65536 nodes have for each other");
}

void check_rank(const Topology& topology, NodeId root) {
  if (root < topology.nodes()) return;
  throw InputError("root " + std::to_string(root) + ": ranks here go from 0 to " + std::to_string(topology.nodes() - 1));
}

void check_root(const Topology& topology, NodeId root) {
  check_rank(topology, root);
  if (topology.living(root)) return;
  throw InputError("root " + std::to_string(root) + " is a dead node of " + topology.text() + ": choose a living one");
}

}  // namespace

Placement Placement::replicated(const Topology& topology, std::vector<NodeId> sources, Bytes bytes, std::uint32_t segments) {
  const NodeId nodes = topology.nodes();
  if (segments == 0) throw InputError("segments 0: a message has at least 1 segment");
  std::sort(sources.begin(), sources.end());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (sources[i] >= nodes) {
      throw InputError("source " + std::to_string(sources[i]) + ": ranks here go from 0 to " + std::to_string(nodes - 1));
    }
    if (!topology.living(sources[i])) {
      throw InputError("source " + std::to_string(sources[i]) + " is a dead node of " + topology.text() + ": choose a living one");
    }
    if (i > 0 && sources[i] == sources[i - 1]) {
      throw InputError("source " + std::to_string(sources[i]) + " is named twice: name each source once");
    }
  }
  const std::uint64_t blocks = sources.size() * static_cast<std::uint64_t>(segments);
  if (blocks > std::numeric_limits<std::int32_t>::max()) {
    throw InputError(counted(sources.size(), "source") + " of " + std::to_string(segments) +
                     " segments: a node can hold at most 2147483647 blocks; choose fewer segments");
  }
  refuse_too_many(std::uint64_t{nodes} * segments, nodes);
  Placement placement(sources.size() == 1 ? Kind::one_source : Kind::several_sources, nodes, segments);
  placement.dead_ = topology.faults().dead_nodes;
  placement.segment_ = bytes / segments;
  placement.longer_ = static_cast<std::uint32_t>(bytes % segments);
  placement.buckets_ = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(blocks));
  placement.sources_ = std::move(sources);
  if (placement.sources_.size() == 1) {
    placement.first_id_ = BlockId{placement.sources_.front()} * segments;
    placement.ids_ = segments;
  } else {
    placement.ids_ = std::uint64_t{nodes} * segments;
    placement.index_of_source_.assign(nodes, no_bucket);
    for (std::uint32_t i = 0; i < placement.sources_.size(); ++i) placement.index_of_source_[placement.sources_[i]] = i;
  }
  return placement;
}

Placement Placement::personalised(const Topology& topology, Bytes bytes) {
  const NodeId nodes = topology.nodes();
  Placement placement(Kind::personalised, nodes, nodes);
  placement.dead_ = topology.faults().dead_nodes;
  placement.segment_ = bytes;
  placement.buckets_ = nodes;
  placement.ids_ = std::uint64_t{nodes} * nodes;
  refuse_too_many(placement.ids_, nodes);
  return placement;
}

Placement Placement::rooted(Kind kind, const Topology& topology, NodeId root, Bytes bytes) {
  check_root(topology, root);
  const NodeId nodes = topology.nodes();
  Placement placement(kind, nodes, 1);
  placement.dead_ = topology.faults().dead_nodes;
  placement.segment_ = bytes;
  // About the root of the nodes: N^1.5 entries in all, and short chains at the root, which holds all blocks at once.
  const auto bits = std::max(1U, (static_cast<unsigned>(std::bit_width(nodes - 1)) + 1) / 2);
  placement.buckets_ = 1U << bits;
  placement.hash_shift_ = 64 - bits;
  placement.root_ = root;
  placement.ids_ = nodes;
  return placement;
}

Placement Placement::scattered(const Topology& topology, NodeId root, Bytes bytes) {
  return rooted(Kind::scattered, topology, root, bytes);
}

Placement Placement::gathered(const Topology& topology, NodeId root, Bytes bytes) { return rooted(Kind::gathered, topology, root, bytes); }

Placement Placement::resident(const Topology& topology, std::uint32_t per_node, Bytes bytes) {
  const NodeId nodes = topology.nodes();
  Placement placement(Kind::resident, nodes, per_node);
  placement.segment_ = bytes;
  placement.buckets_ = per_node;
  placement.ids_ = std::uint64_t{nodes} * per_node;
  refuse_too_many(placement.ids_, nodes);
  return placement;
}

Placement Placement::with_sizes(Sizes sizes) && {
  TORUS_ASSERT(kind_ != Kind::resident && (kind_ != Kind::contributed || contributions_.wanted == Contributions::Wanted::at_owner));
  const bool cut = kind_ == Kind::one_source || kind_ == Kind::several_sources || kind_ == Kind::contributed;
  const Bytes pieces = cut ? segments_.value() : 1, units = sizes.longest() / unit_;
  const Bytes longest = (units + pieces - 1) / pieces * unit_;
  unit_ = std::min(unit_, longest);  // 0 where all are empty
  segment_ = longest - unit_;
  longer_ = sized;
  if (kind_ == Kind::contributed) {
    std::vector<std::uint64_t> first{0};
    for (NodeId node = 0; node + 1 < nodes_; ++node) first.push_back(first.back() + sizes(node) / size_of(contributions_.reduction.type));
    first_of_part_ = std::make_shared<const std::vector<std::uint64_t>>(std::move(first));
  }
  sizes_ = std::move(sizes);
  return std::move(*this);
}

Bytes Placement::size_of_block(BlockId id) const noexcept {
  if (kind_ == Kind::personalised || kind_ == Kind::scattered || kind_ == Kind::gathered) return (*sizes_)(id);
  if (unit_ == 0) return 0;
  const auto [node, piece] = split(kind_ == Kind::contributed ? segment_of(id) : id);
  const Bytes units = (*sizes_)(node) / unit_;
  return (units / segments_.value() + (piece < units % segments_.value() ? 1U : 0U)) * unit_;
}

bool Placement::is_dead(NodeId node) const noexcept { return std::binary_search(dead_.begin(), dead_.end(), node); }

NodeId Placement::nth_living(NodeId nth) const noexcept {
  for (const NodeId dead : dead_) {
    if (dead > nth) break;
    ++nth;
  }
  return nth;
}

Placement Placement::contributed(const Topology& topology, const Contributions& contributions) {
  const NodeId nodes = topology.nodes();
  const auto& [reduction, wanted, root, bytes, segments, registers] = contributions;
  check_reduction(reduction, nodes, bytes);
  if (wanted == Contributions::Wanted::at_root)
    check_root(topology, root);
  else
    check_rank(topology, root);
  if (segments == 0) throw InputError("segments 0: a vector has at least 1 segment");
  if (registers == 0 || registers > 8)
    throw InputError("registers " + std::to_string(registers) + ": a node has 1 to 8 partials of a segment");
  const std::uint64_t all = segments * (wanted == Contributions::Wanted::at_owner ? std::uint64_t{nodes} : 1);
  if (all * registers > std::numeric_limits<std::int32_t>::max()) {
    throw InputError(std::to_string(all) + " segments in " + std::to_string(registers) +
                     " registers: a node can hold at most 2147483647 blocks; choose fewer segments");
  }
  Placement placement(Kind::contributed, nodes, segments);
  placement.contributions_ = contributions;
  placement.dead_ = topology.faults().dead_nodes;
  placement.unit_ = size_of(reduction.type);
  const Bytes elements = bytes / placement.unit_;
  placement.segment_ = elements / segments * placement.unit_;
  placement.longer_ = static_cast<std::uint32_t>(elements % segments);
  placement.vector_segments_ = detail::Divisor(static_cast<std::uint32_t>(all));
  placement.ids_ = all * registers;
  placement.buckets_ = static_cast<std::uint32_t>(placement.ids_);
  return placement;
}

std::uint64_t Placement::first_element(BlockId segment) const noexcept {
  const auto [owner, piece] = split(segment);
  if (sizes_) {
    const Bytes elements = (*sizes_)(owner) / size_of(contributions_.reduction.type);
    return (*first_of_part_)[owner] + piece * (elements / segments_.value()) + std::min<Bytes>(piece, elements % segments_.value());
  }
  return owner * (contributions_.bytes / unit_) + piece * (segment_ / unit_) + std::min(piece, longer_);
}

std::uint64_t Placement::most_held() const noexcept {
  return (kind_ == Kind::contributed ? nodes_ * ids_ : std::max(initial_total(), wanted_total())) + copies_;
}

Placement Placement::with_copies(std::uint64_t copies) && {
  copies_ = copies;
  return std::move(*this);
}

std::uint64_t Placement::initial_count(NodeId node) const noexcept {
  switch (kind_) {
    case Kind::one_source:
    case Kind::several_sources: return std::binary_search(sources_.begin(), sources_.end(), node) ? segments_.value() : 0;
    case Kind::resident: return segments_.value();
    case Kind::personalised: return !living(node) ? 0 : living_nodes();
    case Kind::scattered: return node == root_ ? living_nodes() : 0;
    case Kind::gathered: return !living(node) ? 0 : 1;
    case Kind::contributed: return !living(node) ? 0 : vector_segments();
  }
  return 0;
}

BlockId Placement::initial(NodeId node, std::uint64_t nth) const noexcept {
  TORUS_ASSERT(nth < initial_count(node));
  const auto i = static_cast<BlockId>(nth);
  switch (kind_) {
    case Kind::one_source:
    case Kind::several_sources:
    case Kind::resident: return BlockId{node} * segments_.value() + i;
    case Kind::personalised: return BlockId{node} * nodes_ + nth_living(i);
    case Kind::scattered: return nth_living(i);
    case Kind::contributed: return i;
    case Kind::gathered: return node;
  }
  return 0;
}

std::uint64_t Placement::wanted_count(NodeId node) const noexcept {
  switch (kind_) {
    case Kind::one_source:
    case Kind::several_sources: return !living(node) ? 0 : sources_.size() * std::uint64_t{segments_.value()};
    case Kind::resident: return segments_.value();
    case Kind::personalised: return !living(node) ? 0 : living_nodes();
    case Kind::scattered: return !living(node) ? 0 : 1;
    case Kind::gathered: return node == root_ ? living_nodes() : 0;
    case Kind::contributed: break;
  }
  if (!living(node)) return 0;
  switch (contributions_.wanted) {
    case Contributions::Wanted::at_root: return node == contributions_.root ? vector_segments() : 0;
    case Contributions::Wanted::at_owner: return segments_.value();
    case Contributions::Wanted::everywhere:
    case Contributions::Wanted::of_prefix: return vector_segments();
  }
  return 0;
}

BlockId Placement::wanted(NodeId node, std::uint64_t nth) const noexcept {
  TORUS_ASSERT(nth < wanted_count(node));
  const auto i = static_cast<BlockId>(nth);
  switch (kind_) {
    case Kind::one_source:
    case Kind::several_sources: return BlockId{sources_[i / segments_.value()]} * segments_.value() + i % segments_.value();
    case Kind::personalised: return nth_living(i) * nodes_ + node;
    case Kind::resident: return BlockId{node} * segments_.value() + i;
    case Kind::scattered: return node;
    case Kind::gathered: return nth_living(i);
    case Kind::contributed: return contributions_.wanted == Contributions::Wanted::at_owner ? node * segments_.value() + i : i;
  }
  return 0;
}

bool Placement::wants(NodeId node, BlockId id) const noexcept {
  switch (kind_) {
    case Kind::one_source:
    case Kind::several_sources: return exists(id) && living(node);
    case Kind::personalised: return split(id).second == node && living(node) && living(split(id).first);
    case Kind::resident: return split(id).first == node;
    case Kind::scattered: return id == node && living(node);
    case Kind::gathered: return node == root_ && living(id);
    case Kind::contributed: break;
  }
  if (id >= vector_segments() || !living(node)) return false;  // scratch; of no use
  switch (contributions_.wanted) {
    case Contributions::Wanted::at_root: return node == contributions_.root;
    case Contributions::Wanted::at_owner: return split(id).first == node;
    case Contributions::Wanted::everywhere:
    case Contributions::Wanted::of_prefix: return true;
  }
  return false;
}

std::uint64_t Placement::initial_total() const noexcept {
  switch (kind_) {
    case Kind::one_source:
    case Kind::several_sources: return sources_.size() * std::uint64_t{segments_.value()};
    case Kind::resident: return std::uint64_t{nodes_} * segments_.value();
    case Kind::personalised: return std::uint64_t{living_nodes()} * living_nodes();
    case Kind::scattered:
    case Kind::gathered: return living_nodes();
    case Kind::contributed: return std::uint64_t{living_nodes()} * vector_segments();
  }
  return 0;
}

std::uint64_t Placement::wanted_total() const noexcept {
  if (kind_ == Kind::contributed) {
    const Contributions::Wanted wanted = contributions_.wanted;
    if (wanted == Contributions::Wanted::at_root) return vector_segments();
    return std::uint64_t{living_nodes()} * (wanted == Contributions::Wanted::at_owner ? segments_.value() : vector_segments());
  }
  return kind_ == Kind::one_source || kind_ == Kind::several_sources ? initial_total() * living_nodes() : initial_total();
}

}  // namespace torus
