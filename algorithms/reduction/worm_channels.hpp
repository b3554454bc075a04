/// The channels that the worms of one step cross: each at most one.
#pragma once

#include <cstddef>
#include <vector>

#include <torus/machine.hpp>
#include <torus/route.hpp>

namespace torus::reduction {

struct Worm {
  NodeId from, to;
  Route route;
};
using Worms = std::vector<Worm>;

class WormChannels {
 public:
  /// Of a torus. The machine must outlive it.
  explicit WormChannels(const Machine& machine);

  /// Whether a shortest route in the order of the machine's routing is free. If so, it is taken.
  bool take(NodeId from, NodeId to, Route& route);
  /// How many have been taken.
  std::size_t taken() const noexcept { return taken_.size(); }
  /// Frees all but the first that were taken.
  void free_after(std::size_t first);

 private:
  bool walk(NodeId from, const Route& route);

  const Machine* machine_;
  std::vector<bool> used_;          // by node and slot
  std::vector<std::size_t> taken_;  // in the order in which they were taken
};

}  // namespace torus::reduction
