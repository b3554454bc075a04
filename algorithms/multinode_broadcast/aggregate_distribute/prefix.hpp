/// The prefix sum over the DCN diagonals: how many messages come before mine, so that message x goes to DDN (before + x) mod h.
///
/// global5  the paper's cost, sound and exact: up inside the windows of q diagonals to the main diagonal, up along it, and back. On the
///          main diagonal a move of d places is two legs in two steps, over a relay beside the diagonal: only two of four movers can
///          enter a node in one step under dimension order.                                             4 L5(n) + 2 L5(q) steps
/// global3  the same with a ternary tree on the main diagonal, whose moves are single routes.           2 L3(n) + 2 L5(q)
/// diag5    every diagonal for itself, as the text says; sound only if staggered (position 2j - i) and balanced over the diagonals
///          only if the diagonals start at rotated ranks.                                               4 L5(n)
/// diag3    the same, ternary.                                                                          2 L3(n)
/// hash     no messages: a rank that depends on the place alone.                                        0
/// none     no balancing at all: neither ranks nor tuning.                                              0
/// On a torus that is no n x n, global3 is a ternary tree on the diagonal of each DCN, then one along each dimension over the DCNs, moves
/// that are single routes; and back.                                                    2 (L3(h) + sum of L3(n_d / h))
/// Machine  square 2-D torus, global3, hash and none any torus; wormhole in ascending order, all ports.   Header  one word a message: a
/// sum, or a base. Memory   O(log n) words a node.   Source  Chen, Chen & Tseng, section 3.1.1 step 2; global3, diag3, hash: this project.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include <torus/program.hpp>

#include "algorithms/multinode_broadcast/line_tree.hpp"

namespace torus::multinode_broadcast::aggregate_distribute {

enum class Prefix : std::uint8_t { global5, diag5, global3, diag3, hash, none };
/// Their names, in that order.
inline constexpr std::array<std::string_view, 6> prefix_names{"global5", "diag5", "global3", "diag3", "hash", "none"};

std::string_view name(Prefix prefix) noexcept;
/// None on an unknown name; the empty name is the default, global5.
std::optional<Prefix> parse_prefix(std::string_view text) noexcept;

/// What all nodes know of the scheme before it starts.
struct PrefixTables {
  PrefixTables(Prefix kind_of_sum, std::int32_t nodes_a_side, std::int32_t partition);

  bool global() const noexcept { return kind == Prefix::global5 || kind == Prefix::global3; }
  bool exchanges() const noexcept { return h > 1 && kind != Prefix::hash && kind != Prefix::none; }
  bool quinary() const noexcept { return kind == Prefix::global5 || kind == Prefix::diag5; }
  /// Steps; each carries one word on its fullest channel.
  std::int32_t steps() const noexcept;

  Prefix kind;
  std::int32_t n, h;
  LineTree across;  ///< W_5(q), over the q diagonals: global only
  LineTree along;   ///< Line_5(n) or Line_3(n), over the places of a diagonal
};

/// Called by every node; `count` counts where i = j (mod h). Gives the rank of the node's first message (modulo what h needs) there.
ProgramOf<std::uint32_t> rank_of_first(Node& self, const PrefixTables& tables, std::uint32_t count);
/// Its frame, and those of what it calls.
Bytes frames_of_prefix(const Machine& machine, const PrefixTables& tables);

/// The trees of global3 on any torus.
struct TorusPrefix {
  TorusPrefix(const Topology& topology, std::int32_t h);

  std::int32_t steps() const noexcept;

  std::int32_t h;
  std::vector<Dimension> dimensions;  ///< ascending, whatever the order in which circuits take them
  std::vector<LineTree> lines;        ///< Line_3 over the diagonal of a DCN, then over the DCNs along each dimension
};

ProgramOf<std::uint32_t> rank_in_torus(Node& self, const TorusPrefix& tables, std::uint32_t count);
Bytes frames_of_prefix(const Machine& machine, const TorusPrefix& tables);

/// The rank at which a diagonal i - j = g h starts under diag5 and diag3.
std::uint32_t first_rank_of_diagonal(std::int32_t g, std::int32_t h, std::int32_t q) noexcept;

}  // namespace torus::multinode_broadcast::aggregate_distribute
