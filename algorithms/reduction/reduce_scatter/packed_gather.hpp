/// An all-gather of blocks from every living node in few steps, found by search: any topology, with holes or without.
///
/// It grows step by step. In a step every channel may bring its head a few blocks that the tail has and the head lacks, and no block comes
/// to a node twice; so the ways of a block are a spanning tree from its owner, and in time and space no two trees meet. Which blocks come
/// to a node is a matching of blocks to its channels, the blocks with the fewest copies first, ties by a random number; what is rare is
/// thus spread early, and channels seldom stand idle for want of a block. A few seeds are tried until one meets the bound of the node with
/// the fewest channels, and the fewest steps taken.
///
/// Cost     O(nodes^2 channels) a try, and several tries up to 512 nodes.
/// Source   the growing of steps: Won et al., TACOS; rarest first, as in BitTorrent (Cohen 2003); the matching: this project.
/// As a reduce-scatter the steps run backwards: see reversible_reduce_scatter.hpp.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <torus/route.hpp>
#include <torus/topology.hpp>

#include "algorithms/common/received.hpp"
#include "algorithms/reduction/reduce_scatter/reversible_reduce_scatter.hpp"

namespace torus::reduction {

/// ranks: the blocks of an all-gather or a reduce-scatter, one a node, with its rank as id. vector: those of a vector, numbered in the
/// order of their owners, one a node. balanced_vector: nodes that have lost channels own more.
enum class BlockOwners : std::uint8_t { ranks, vector, balanced_vector };
std::vector<NodeId> owners_of(BlockOwners owners, const Topology& topology);

class PackedGather : public ReversibleReduceScatter {
 public:
  PackedGather(const Topology& topology, std::uint32_t chunk, BlockOwners owners);
  static PackedGather pack(const Topology& topology, std::uint32_t chunk, BlockOwners owners);

  std::uint64_t steps() const override { return steps_; }
  std::uint32_t pieces() const override { return 1; }
  std::uint32_t vector_blocks(const Topology&) const override { return blocks_; }
  void sends(const Node& self, std::uint64_t step, Sends& out) const override { append_row(comes_, self, step, out); }
  void mirrored_sends(const Node& self, std::uint64_t step, Sends& out) const override { append_row(goes_, self, step, out); }
  Load load() const override { return load_; }
  Bytes table_bytes() const override { return goes_.bytes() + comes_.bytes(); }

 private:
  using Table = RowTable<std::pair<Leg, BlockId>>;
  void append_row(const Table& table, const Node& self, std::uint64_t step, Sends& out) const;

  std::uint64_t steps_;
  std::uint32_t blocks_;
  // By step of the reduce-scatter and node: over which channel which block goes there, and over which it comes back in the all-gather.
  Table comes_, goes_;
  Load load_;
};

/// Of the chunks 1, 2, 4, .., the one with the least estimated model time of an all-gather. The steps are estimated as
/// (D^4 + (B / chunk)^4)^(1/4), which searches come near to. D is the diameter of the living nodes. B is the maximum over the nodes of the
/// blocks to receive for each channel.
struct ChunkChoice {
  std::uint32_t chunk;
  double time_s;
};
ChunkChoice choose_chunk(const Machine& machine, BlockOwners owners, Bytes block);

/// Memory that PackedGather::pack() takes at most.
Bytes packed_gather_bytes(const Topology& topology);

}  // namespace torus::reduction
