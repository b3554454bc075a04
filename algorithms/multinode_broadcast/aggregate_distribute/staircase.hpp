/// The stations of `log` on unequal sides a <= b, and the trees to and from them.
///
/// Station p of w a stands in the p-th of w a places of the longer dimension, at place p mod a of the shorter: a staircase that goes w
/// times round the shorter dimension while it goes once round the longer. The nodes of a station's line across are numbered by their
/// displacement from it and climb as in diagonal.hpp: near children across, far ones along, to a line some stations away. A node along
/// meets the displacements in their order, with seams only where they end, so that legs share no channel.
/// The other b - w a lines across are spare. Either
///   joined  each of the w a lines takes in those of its interval first, along, in balanced ternary; or
///   folded  a spare line gathers across in runs of 3^(G-1) places while the other lines climb, and its run's roots go along to the
///           nearest station in the last level G, in which the climb uses no channel along. Runs are shifted from line to line.
/// Machine  2-D torus, wormhole (single legs), all ports.
/// Levels   joined L3(ceil(b / (w a))) + L5(a); folded G = 1 + L5(ceil(a/3)).   Header  none.
/// Source   this project.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <torus/block.hpp>
#include <torus/node.hpp>
#include <torus/route.hpp>
#include <torus/topology.hpp>

namespace torus::multinode_broadcast::aggregate_distribute {

constexpr std::int32_t whole_power(std::int32_t base, std::int32_t exponent) noexcept {
  return exponent == 0 ? 1 : base * whole_power(base, exponent - 1);
}

class Staircase {
 public:
  enum class Spare : std::uint8_t { joined, folded };
  /// A node hands over in a level of a gather, or its parent to it in that of a spread. The leg is the sender's.
  struct Handover {
    std::int32_t level;
    Leg leg;
  };

  /// w = windings: 1 .. b/a.
  Staircase(const Topology& topology, std::int32_t windings, Spare spare);
  static std::int32_t levels(std::int32_t a, std::int32_t b, std::int32_t windings, Spare spare) noexcept;

  /// Whether every root of a run found a station with a free channel; always so for joined lines.
  bool sound() const noexcept { return sound_; }
  std::int32_t levels() const noexcept { return levels_; }
  Dimension across() const noexcept { return across_; }
  std::int32_t stations() const noexcept { return static_cast<std::int32_t>(places_.size()); }
  NodeId nodes() const noexcept { return static_cast<NodeId>(ups_.size()); }
  /// The memory of the tables.
  Bytes table_bytes() const noexcept { return (ups_.size() + downs_.size()) * sizeof(Handover) + firsts_.size() * sizeof(std::size_t); }
  /// Where a station stands along the longer dimension; any station, modulo their number: round the longer dimension as often as the
  /// stations are gone round.
  std::int32_t place(std::int32_t station) const noexcept;
  /// From a station to the one `away` further, |away| <= a: across first if the shorter dimension is the first, and the way of its sign.
  Route route(std::int32_t station, std::int32_t away) const;
  /// The station in a node's line across, or -1.
  std::int32_t station(const Node& self) const noexcept { return numbers_[static_cast<std::size_t>(self.coordinate(1 - across_))]; }

  /// Towards the station; a station: the level is levels().
  const Handover& up(const Node& self) const noexcept { return ups_[index(self)]; }
  /// To the children.
  std::span<const Handover> down(const Node& self) const noexcept {
    const std::size_t i = index(self);
    return {downs_.data() + firsts_[i], firsts_[i + 1] - firsts_[i]};
  }

  /// By level: the most nodes whose messages a node hands over. By station: of how many nodes it has the messages then.
  struct Loads {
    std::vector<std::int32_t> levels, stations;
  };
  Loads loads() const;

 private:
  std::size_t index(std::int32_t x, std::int32_t y) const noexcept {
    return static_cast<std::size_t>(x) * static_cast<std::size_t>(b_) + static_cast<std::size_t>(y);
  }
  std::size_t index(const Node& self) const noexcept { return index(self.coordinate(across_), self.coordinate(1 - across_)); }
  std::size_t parent(std::size_t node) const noexcept;
  void join_lines();
  void climb(std::int32_t first_level);
  void fold_lines();
  void fold_row(std::int32_t x, std::span<const std::int32_t> roots);
  void number_children();

  Dimension across_;
  std::int32_t a_, b_, levels_;
  Spare spare_;
  bool sound_ = true;
  std::vector<std::int32_t> places_, numbers_;
  std::vector<Handover> ups_, downs_;  // by node, the longer dimension fastest
  std::vector<std::size_t> firsts_;    // of a node's children in downs_
};

}  // namespace torus::multinode_broadcast::aggregate_distribute
