/// Worms of one step that cross no channel twice, packed as stars: of the nodes of a class some are centres, and others send to them.
///
/// A node that might be a centre looks for the nearest nodes of its class whose worms find their channels free. Those that find
/// one for each port become centres first, then those that find fewer, down to one. That is done in several random orders, always the same
/// ones. In most of them centres that repeat over the torus come first. The order that leaves the fewest nodes is taken.
/// Source   this project.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include <torus/machine.hpp>

#include "algorithms/reduction/class_neighbours.hpp"
#include "algorithms/reduction/sublattice.hpp"
#include "algorithms/reduction/worm_channels.hpp"

namespace torus::reduction {

class StarPacking {
 public:
  /// The cosets are the classes. Nodes that are kept do not send: none, or at least one of each class. The machine must outlive it.
  StarPacking(const Machine& machine, const Sublattice& classes, std::vector<bool> kept);

  /// Some of the active nodes to others of their class, which do not send themselves. At least one does, unless all that
  /// are active are kept, or the only ones of their class.
  Worms merge(const std::vector<bool>& active);

 private:
  /// Where centres may repeat: within the classes, so many times as far apart.
  struct Guide {
    Sublattice centres;
    std::uint32_t cosets;
  };
  enum class Role : std::uint8_t { none, centre, sender };

  Worms pack(const Neighbourhood& around, const Guide* guide);
  /// Adds the worms to a centre, if there are `least` or more; `most` at most.
  bool add_star(const Neighbourhood& around, std::size_t centre, int least, int most, std::uint64_t turn, Worms& worms);
  /// Stars with centres in a coset of the guide, for each class the one whose centres find most worms.
  void add_regular(const Neighbourhood& around, const Guide& guide, const std::vector<std::size_t>& order, std::uint64_t turn,
                   Worms& worms);
  std::vector<Guide> guides() const;

  const Machine* machine_;
  int ports_;
  ClassNeighbours neighbours_;
  std::uint32_t classes_;
  std::optional<Sublattice> regular_;  // active nodes of a class are a coset of it
  std::vector<bool> kept_;
  std::vector<Role> roles_;
  WormChannels channels_;
  std::mt19937_64 random_{1};
};

}  // namespace torus::reduction
