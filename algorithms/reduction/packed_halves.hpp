/// The steps of gather_rounds.hpp as an all-gather, and backwards as a reduce-scatter: see halves.hpp.
#pragma once

#include <memory>
#include <utility>

#include "algorithms/common/row_table.hpp"
#include "algorithms/reduction/gather_rounds.hpp"
#include "algorithms/reduction/halves.hpp"

namespace torus::reduction {

/// The blocks of an all-gather or a reduce-scatter, one for each node, with its rank as id; or those of a vector, numbered in the order of
/// the nodes that own them: one for each, or more for those that have lost channels.
enum class BlockOwners : std::uint8_t { ranks, vector, balanced_vector };
std::vector<NodeId> owners_of(BlockOwners owners, const Topology& topology);

class PackedHalves : public Halves {
 public:
  PackedHalves(const Topology& topology, std::uint32_t chunk, BlockOwners owners);
  static PackedHalves pack(const Topology& topology, std::uint32_t chunk, BlockOwners owners);

  std::uint64_t steps() const override { return steps_; }
  std::uint32_t pieces() const override { return 1; }
  std::uint32_t vector_blocks(const Topology&) const override { return blocks_; }
  void gives(const Node& self, std::uint64_t step, Gifts& gifts) const override { append_row(comes_, self, step, gifts); }
  void returns(const Node& self, std::uint64_t step, Gifts& gifts) const override { append_row(goes_, self, step, gifts); }
  Load load() const override { return load_; }
  Bytes table_bytes() const override { return goes_.bytes() + comes_.bytes(); }

 private:
  using Table = RowTable<std::pair<Leg, BlockId>>;
  void append_row(const Table& table, const Node& self, std::uint64_t step, Gifts& gifts) const;

  std::uint64_t steps_;
  std::uint32_t blocks_;
  // By step of the reduce-scatter and node: over which channel which block goes there, and over which it comes back in the all-gather.
  Table comes_, goes_;
  Load load_;
};

/// The chunk, of 1, 2, 4, .., whose all-gather of such blocks is about the fastest, with its model time. Steps are estimated from the two
/// bounds D, the farthest of any two living nodes, and B, the blocks of the others over the channels of a node, the most of all, by
/// (D^4 + (B / chunk)^4)^(1/4); searches end near it.
struct ChunkChoice {
  std::uint32_t chunk;
  double time_s;
};
ChunkChoice choose_chunk(const Machine& machine, BlockOwners owners, Bytes block);

/// Memory that PackedHalves::pack() takes at most.
Bytes packed_halves_bytes(const Topology& topology);

}  // namespace torus::reduction
