/// Tuning: every message moves along its DCN diagonal to the DDN that its rank asks for, digit by digit of the distance.
///
/// The distance f in window(h) is written in balanced digits of an odd base; in the move (unit b^l, digit d) all messages whose digit l
/// is +d or -d go d b^l places along the diagonal. Senders of a row stand h apart and no move is longer than h, so no channel is
/// shared. The paper's "2 ceil(log5 h) steps of at most m bytes" holds for h <= 5; above, bundles are unavoidable.
/// Machine  torus of any dimension, h | every extent, wormhole in any routing order.
/// Header   what is left of each message's distance, a word a message, where a later move may still need it (never for h <= 5 in base 5).
/// Source   Chen, Chen & Tseng, section 3.1.1 (data tuning).
#pragma once

#include <torus/program.hpp>

#include "algorithms/multinode_broadcast/bundle.hpp"
#include "algorithms/multinode_broadcast/stations.hpp"

namespace torus::multinode {

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

}  // namespace torus::multinode
