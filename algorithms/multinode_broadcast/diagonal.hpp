/// Gathering to a diagonal of the torus and spreading from it, in balanced quinary: the step that aggregation, alignment and the
/// broadcast inside a DDN have in common.
///
/// The members of a row (and of a column) stand on consecutive diagonals, numbered by their position in a LineTree of base 5 whose root
/// is the diagonal gathered to. A near child (slot +-1) moves along dimension 0, a far one (+-2) along dimension 1: the root of a segment
/// takes from four nodes at once. Segments are intervals and a row meets every diagonal once, so no channel is shared.
/// Machine  2-D torus, wormhole (single legs), all ports.   Steps  ceil(log5 positions).   Header  none.
/// Source   Chen, Chen & Tseng, section 3.1.1 step 1; the dilated-diagonal scheme of Tseng (1997).
///
/// Tuning: every message moves along its DCN diagonal to the DDN that its rank asks for, digit by digit of the distance.
///
/// The distance f in window(h) is written in balanced digits of an odd base; in the move (unit b^l, digit d) all messages whose digit l
/// is +d or -d go d b^l places along the diagonal. Senders of a row stand h apart and no move is longer than h, so no channel is
/// shared. The paper's "2 ceil(log5 h) steps of at most m bytes" holds for h <= 5; above, bundles are unavoidable.
/// Machine  torus of any dimension, h | every extent, wormhole in any routing order.
/// Header   what is left of each message's distance, a word a message, where a later move may still need it (never for h <= 5 in base 5).
/// Source   Chen, Chen & Tseng, section 3.1.1 (data tuning).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <torus/program.hpp>

#include "algorithms/multinode_broadcast/line_tree.hpp"

namespace torus::multinode_broadcast {

class Station;  // partition.hpp

/// Where a node stands among the diagonals of a family.
struct DiagonalSite {
  bool member = false;          ///< whether it takes part at all
  std::int32_t position = 0;    ///< its diagonal, 0 the one gathered to
  std::int32_t unit = 1;        ///< hops between neighbouring members of a row
  const Station* on = nullptr;  ///< the grid on which these hops are counted, if not the machine
  Dimension near = 0;           ///< of the legs of near children: with a tree of base 3, of all

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

/// The moves of a tuning, in order: a function of h and the base alone.
struct TuneMoves {
  struct Move {
    std::int32_t unit;   ///< b^l
    std::int32_t digit;  ///< 1 .. (b-1)/2: the move is digit * unit places, either way
    std::int32_t worst;  ///< messages of a node that can have it, if the node has one for every DDN
    bool last_digit;     ///< no later move has another unit: who has moved has arrived
  };

  TuneMoves(std::int32_t partition, std::int32_t odd_base);

  std::int32_t steps() const noexcept { return static_cast<std::int32_t>(moves.size()); }

  std::int32_t h, base;
  std::vector<Move> moves;
};

/// Moves the messages of a bundle of a node on a DCN diagonal, `parts` consecutive blocks each, to the DDNs (first_rank + x) mod h.
/// Other nodes take part with an empty bundle. station: where the node stands on a grid, if the moves are legs of one. pieces = h: of each
/// h such runs of blocks, the pieces of one message, piece i goes to DDN i.
Program tune(Node& self, const TuneMoves& moves, std::uint32_t first_rank, std::uint32_t parts, Bundle& bundle, std::uint32_t pieces = 1,
             const Station* station = nullptr);

/// The rank of a node's first message for a tuning without a prefix sum, in any number of dimensions: it follows from the coordinates of
/// the node's DCN and its place in it.
std::uint32_t hashed_rank(std::span<const std::int32_t> coordinates, std::int32_t h) noexcept;

}  // namespace torus::multinode_broadcast
