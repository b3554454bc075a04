/// What each collective operation is, as data: who has what, and who is to have it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <torus/block.hpp>
#include <torus/placement.hpp>
#include <torus/topology.hpp>

namespace torus {

enum class Collective : std::uint8_t {
  broadcast,
  multinode_broadcast,
  total_exchange,
  reduce,
  allreduce,
  reduce_scatter,
  scan,  ///< inclusive, in the order of ranks
  scatter,
  gather,
  barrier
};

/// A row for each collective. Placement, bounds, bandwidth, the command, stress, schedules from files and pages read it. The judge of
/// traces does not: it has knowledge of its own, which finds mistakes in this one.
struct CollectiveFacts {
  /// Who has data before the first step.
  enum class Start : std::uint8_t { at_root, at_sources, everywhere };
  /// Who is to have it at the end; at_owner: the node that a block is for.
  using Wanted = Contributions::Wanted;
  /// What Request::bytes counts: the one message or vector, a block of each node or source, a block of each pair of nodes.
  enum class Unit : std::uint8_t { vector, block_of_node, block_of_pair, none };

  Collective collective;
  std::string_view name;               ///< as in traces and on the command line: "multinode-broadcast"
  std::string_view mpi;                ///< "Allgather"
  std::string_view word, second_word;  ///< what it is called too, in small letters with hyphens; empty: no more
  Start start;
  Wanted wanted;
  Unit unit;
  bool combines;                 ///< blocks are partials of a reduction, which messages may combine
  std::string_view size_counts;  ///< what a column of sizes counts: "of each node's vector"

  // What the command takes where nothing is said; in its notation.
  Bytes usual_bytes = 4096;
  std::string_view usual_shape = "16x16";
  std::string_view regret_shapes = "8x8,15x15,16x16,25x25,12x40,8x8x8,4x4x4x4", regret_sizes = "4:1MiB";

  /// Whether one node sends, or gets, all: the only one of Request::sources.
  constexpr bool rooted() const noexcept { return start == Start::at_root || wanted == Wanted::at_root; }
  /// Whether several nodes may be sources, as Request::sources say.
  constexpr bool from_sources() const noexcept { return start == Start::at_sources; }
  /// Whether Request::sources say who sends, or who gets all.
  constexpr bool names_sources() const noexcept { return rooted() || from_sources(); }
  /// Whether the same blocks come to all nodes, as they are.
  constexpr bool replicates() const noexcept { return wanted == Wanted::everywhere && !combines && carries_bytes(); }
  constexpr bool carries_bytes() const noexcept { return unit != Unit::none; }
  /// Whether each pair of nodes has a block.
  constexpr bool of_pairs() const noexcept { return unit == Unit::block_of_pair; }
  /// Whether there are several blocks, which may have sizes of their own.
  constexpr bool takes_sizes() const noexcept { return unit == Unit::block_of_node || of_pairs(); }
  /// Whether a node is to have at the end what is for `owner`.
  constexpr bool wants(NodeId node, NodeId owner, NodeId root) const noexcept {
    return wanted == Wanted::at_root ? node == root : wanted != Wanted::at_owner || node == owner;
  }
};

/// All of them, in the order of the enumeration.
std::span<const CollectiveFacts> collectives() noexcept;
const CollectiveFacts& facts_of(Collective collective) noexcept;
/// By a name that find_collective() knows, as a trace has one; throws InputError else.
const CollectiveFacts& facts_of(std::string_view name);
/// "multinode-broadcast".
std::string_view name(Collective collective) noexcept;
/// By our name, or by one of MPI's in its own letters: "broadcast", "bcast", "MPI_Allgatherv". None if there is no such collective.
std::optional<Collective> find_collective(std::string_view text);

}  // namespace torus
