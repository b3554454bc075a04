/// Finds a broadcast in few steps under wormhole switching in dimension order, with any ports and no channel shared.
///
/// First it settles how many nodes of each cell (line along the last dimension) are informed before each step; then, backwards from all
/// nodes, which: of those informed after a step it keeps that number of each cell, evenly spread, and a matching decides whether one step
/// leads from these to those (ordered_step.hpp). Where one falls short, simulated annealing moves members within their cells.
/// Deterministic: effort is counted, not timed, and so is the same for every run and platform.
/// Source: ours.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "algorithms/broadcast/circuit/circuit_flow.hpp"
#include "algorithms/broadcast/synthesis/ordered_step.hpp"

namespace torus::broadcast {

class OrderedSynthesizer {
 public:
  /// A whole torus or mesh, or a mix, which must outlive the synthesizer. On a torus all roots are alike, and any will do.
  OrderedSynthesizer(const Topology& topology, std::int32_t ports, NodeId root = 0);

  /// The messages of each step, as if all nodes were moved so that the root is node 0 (across borders, where a dimension is a line). None
  /// if the search finds none within most_looks().
  std::optional<std::vector<std::vector<Circuit>>> broadcast_in(std::uint32_t steps);

  /// The messages of a broadcast along one dimension after the other, for machines where the search finds nothing. The same places.
  std::vector<std::vector<Circuit>> line_by_line() const;
  /// Its steps. O(sum of the extents).
  std::uint64_t line_steps() const;

  /// Matchings solved so far, and pairs of a message and a target examined in them.
  std::uint64_t matchings() const noexcept { return matchings_; }
  std::uint64_t looks() const noexcept { return step_.looks(); }
  /// Looks after which a search gives up: about a second.
  static std::uint64_t most_looks(const Topology& topology);

 private:
  struct LineBroadcast {
    std::int32_t root;  // place
    std::vector<std::vector<Circuit>> steps;
  };
  using Cells = std::vector<std::vector<std::int32_t>>;  // by cell: rows, ascending

  LineBroadcast along(Dimension d) const;
  std::optional<CellCounts> counts(std::uint32_t steps, double reserve, std::int32_t idle, bool spread_cells);
  std::int32_t idle_at_root(int round) const;
  std::vector<std::uint64_t> spread_order(const CellCounts& counts);
  bool place(const CellCounts& counts);
  bool choose(std::uint32_t step, const std::vector<std::int32_t>& counts, Cells& after);
  bool find_origin(const Cells& after, std::size_t root_cell);
  bool repair(Cells& before, const Cells& after);
  bool move_member(Cells& before, const Cells& after, NodeId unserved);
  Cells spread(const Cells& after, const std::vector<std::int32_t>& counts, const std::vector<std::uint64_t>& phases) const;
  std::vector<std::uint64_t> phases(std::uint64_t attempt);
  std::size_t unserved(const Cells& before, const Cells& after);
  std::vector<NodeId> nodes(const Cells& cells) const;
  bool gives_up() const { return looks() >= last_look_; }
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  const Topology& topology_;
  std::int32_t ports_;
  NodeId root_;
  OrderedStep step_;
  std::size_t rows_;  // of a cell
  Topology cells_;    // the machine without the cells' dimension
  std::mt19937_64 random_{1};
  std::vector<std::vector<Circuit>> messages_;  // by step
  NodeId origin_;
  std::uint64_t matchings_ = 0;
  std::uint64_t last_look_ = 0;
  bool beyond_repair_ = false;  // every choice so far that failed
};

}  // namespace torus::broadcast
