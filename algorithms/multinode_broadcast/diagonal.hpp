/// Gathering to a diagonal of the torus and spreading from it, in balanced quinary: the step that aggregation, alignment and the
/// broadcast inside a DDN have in common.
///
/// The members of a row (and of a column) stand on consecutive diagonals, numbered by their position in a LineTree of base 5 whose root
/// is the diagonal gathered to. A near child (slot +-1) moves along dimension 0, a far one (+-2) along dimension 1: the root of a segment
/// takes from four nodes at once. Segments are intervals and a row meets every diagonal once, so no channel is shared.
/// Machine  2-D torus, wormhole (single legs), all ports.   Steps  ceil(log5 positions).   Header  none.
/// Source   Chen, Chen & Tseng, section 3.1.1 step 1; the dilated-diagonal scheme of Tseng (1997).
#pragma once

#include <torus/program.hpp>

#include "algorithms/multinode_broadcast/bundle.hpp"
#include "algorithms/multinode_broadcast/line_tree.hpp"
#include "algorithms/multinode_broadcast/stations.hpp"

namespace torus::multinode {

/// Where a node stands among the diagonals of a family.
struct DiagonalSite {
  bool member = false;          ///< whether it takes part at all
  std::int32_t position = 0;    ///< its diagonal, 0 the one gathered to
  std::int32_t unit = 1;        ///< hops between neighbouring members of a row
  const Station* on = nullptr;  ///< the grid on which these hops are counted, if not the machine

  /// Among the h diagonals that one DCN diagonal gathers: every node takes part.
  static DiagonalSite in_torus(const Node& self, std::int32_t h);
  /// The same on a grid: its stations take part. The station outlives the site.
  static DiagonalSite in_grid(const Station& station, std::int32_t h);
  /// Among the diagonals of a DDN: nodes with i = j (mod h), h hops apart.
  static DiagonalSite in_ddn(const Node& self, std::int32_t h);
};

/// The leg between two positions of which one is the other's child in `slot`; the same rule both ways.
constexpr Leg diagonal_leg(std::int32_t from, std::int32_t to, std::int32_t slot, std::int32_t unit) noexcept {
  return slot == 1 || slot == -1 ? Leg{0, (to - from) * unit} : Leg{1, (from - to) * unit};
}

/// The slot of the child that a message of a gather came from.
inline std::int32_t diagonal_slot(const Message& m) noexcept { return m.dimension() == 0 ? -sign(m.direction()) : 2 * sign(m.direction()); }

/// Everybody's bundle ends at position 0 of its segment chain; all others' bundles are empty then.
Program gather_to_diagonal(Node& self, const LineTree& tree, DiagonalSite site, const char* phase, Bundle& bundle);
/// The other way: the bundle of position 0 ends at every position.
Program broadcast_from_diagonal(Node& self, const LineTree& tree, DiagonalSite site, const char* phase, Bundle& bundle);

}  // namespace torus::multinode
