/// An all-gather of blocks from every living node in few steps, found by search: any topology, with holes or without, any ports.
///
/// The search is search/round_search.hpp. A few seeds are tried until one meets the bound of the node with the fewest channels or ports,
/// and the fewest steps taken.
///
/// A block may be split into pieces, so that the channels of a node share what it must get evenly. Where channels differ in speed, each
/// brings as many pieces in a step as it can while the fastest brings a chunk (link_capacities.hpp).
///
/// Cost     O(nodes^2 channels) a try with whole blocks, times the square of the pieces; several tries up to 512 blocks and pieces.
/// As a reduce-scatter the steps run backwards: see reversible_reduce_scatter.hpp.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <torus/machine.hpp>
#include <torus/route.hpp>
#include <torus/topology.hpp>

#include "algorithms/common/received.hpp"
#include "algorithms/reduction/reduce_scatter/reversible_reduce_scatter.hpp"

namespace torus::reduction {

/// ranks: the blocks of an all-gather or a reduce-scatter, one a node, with its rank as id. vector: those of a vector, numbered in the
/// order of their owners, one a node. balanced_vector: nodes that have lost channels own more.
enum class BlockOwners : std::uint8_t { ranks, vector, balanced_vector };
std::vector<NodeId> owners_of(BlockOwners owners, const Topology& topology);

/// `chunk`: pieces that the fastest channels bring in a step. `pieces`: of a block.
struct GatherPace {
  std::uint32_t chunk = 1, pieces = 1;
  friend bool operator==(const GatherPace&, const GatherPace&) = default;
};

class PackedGather : public ReversibleReduceScatter {
 public:
  PackedGather(const Machine& machine, const GatherPace& pace, BlockOwners owners);
  static PackedGather pack(const Machine& machine, const GatherPace& pace, BlockOwners owners);

  std::uint64_t steps() const override { return steps_; }
  std::uint32_t pieces() const override { return pieces_; }
  std::uint32_t vector_blocks(const Topology&) const override { return blocks_; }
  void sends(const Node& self, std::uint64_t step, Sends& out) const override { append_row(comes_, self, step, out); }
  void mirrored_sends(const Node& self, std::uint64_t step, Sends& out) const override { append_row(goes_, self, step, out); }
  Load load() const override { return load_; }
  Bytes table_bytes() const override { return goes_.bytes() + comes_.bytes(); }

 private:
  using Table = RowTable<std::pair<Leg, BlockId>>;
  void append_row(const Table& table, const Node& self, std::uint64_t step, Sends& out) const;

  std::uint64_t steps_;
  std::uint32_t pieces_, blocks_;
  // By step of the reduce-scatter and node: over which channel which block goes there, and over which it comes back in the all-gather.
  Table comes_, goes_;
  Load load_;
};

struct PaceChoice {
  GatherPace pace;
  double time_s;  ///< of an all-gather, estimated
};
/// Paces of little estimated model time: the best with whole blocks and a chunk of 1, 2, 4, ..; then some that may be faster, the fastest
/// first. The steps are estimated as (D^4 + B^4)^(1/4), which searches come near to. D is the diameter of the living nodes. B is the
/// maximum over the nodes of the pieces to receive for each that its channels bring in a step.
std::vector<PaceChoice> choose_pace(const Machine& machine, BlockOwners owners, Bytes block);

/// Where nodes have fewer ports than channels: what searches of whole blocks found with a chunk of 1, some between, and all blocks. They
/// serve all sizes of blocks. On large machines the least chunk and all blocks.
struct TriedPace {
  GatherPace pace;
  std::uint64_t steps, channel;  ///< channel: blocks on the fullest ones, summed over the steps
};
std::vector<TriedPace> tried_paces(const Machine& machine, BlockOwners owners);

/// The least chunk that is searched: 1, on large machines more, so that the search takes seconds.
std::uint32_t least_chunk(const Machine& machine);

/// Memory that PackedGather::pack() takes at most.
Bytes packed_gather_bytes(const Topology& topology, BlockOwners owners);

}  // namespace torus::reduction
