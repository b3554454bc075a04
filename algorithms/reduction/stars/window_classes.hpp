/// Classes of nodes that repeat over a torus, and how every node gathers a piece from each class near by, in windows.
///
/// A class is a coset of a sublattice: node x is in class x mod L. Every node has a node of each class near by, at the same displacements
/// whatever the node. So all nodes can gather at once, hop by hop: what a node takes in a round by a move from its neighbour, all nodes
/// take from theirs, and a channel carries one message. The windows of the nodes of one class tile the torus: a gather backwards gives
/// every contribution to one node of each class, once.
/// Source   this project; 2k+1 classes on a torus with a perfect code are that code, as in Peters & Syska.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <torus/machine.hpp>
#include <torus/route.hpp>

#include "algorithms/search/sublattice.hpp"

namespace torus::reduction::stars {

/// An immutable value.
class WindowClasses {
 public:
  /// What goes by one hop: the classes, as displacements from the receiver's.
  struct Pull {
    Leg leg;  ///< from the receiver to the node that it takes from
    std::vector<std::uint32_t> displacements;
  };
  using Round = std::vector<Pull>;

  /// Partition of a torus into `classes` classes: the fewest rounds, then the fewest pieces on a channel. None if no sublattice fits.
  static std::optional<WindowClasses> find(const Machine& machine, std::uint32_t classes);

  std::uint32_t classes() const noexcept { return classes_; }
  std::uint32_t of(const Coordinates& at) const noexcept { return sublattice_.coset(at); }
  const Sublattice& sublattice() const noexcept { return sublattice_; }
  std::uint32_t sum(std::uint32_t a, std::uint32_t b) const noexcept { return sums_[a * classes_ + b]; }
  /// The rounds of the gather.
  const std::vector<Round>& rounds() const noexcept { return rounds_; }
  /// Pieces on the fullest channel of a round, and pieces that a node takes.
  static std::uint64_t channel(const Round& round) noexcept;
  static std::uint64_t taken(const Round& round) noexcept;
  std::uint64_t channel() const noexcept;
  std::uint64_t taken() const noexcept;
  Bytes table_bytes() const noexcept { return sums_.size() * sizeof(std::uint32_t); }

 private:
  WindowClasses(Sublattice sublattice, std::uint32_t classes) : sublattice_{std::move(sublattice)}, classes_{classes} {}
  bool gathers(const Topology& topology, int ports);

  Sublattice sublattice_;
  std::uint32_t classes_;
  std::vector<Round> rounds_;
  std::vector<std::uint32_t> sums_;
};

}  // namespace torus::reduction::stars
