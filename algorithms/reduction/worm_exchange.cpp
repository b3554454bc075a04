#include "algorithms/reduction/worm_exchange.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>

#include "algorithms/common/shuffle.hpp"

namespace torus::reduction {

std::optional<Worms> worm_exchange(const Machine& machine, const Sublattice& classes, const std::vector<bool>& givers,
                                   const std::vector<bool>& takers) {
  constexpr int tries = 64;
  const Topology& topology = machine.topology;
  const auto class_of = [&](NodeId node) { return classes.coset(topology.coordinates(node)); };
  std::vector<std::vector<NodeId>> to(classes.index());
  for (NodeId node = 0; node < takers.size(); ++node) {
    if (takers[node]) to[class_of(node)].push_back(node);
  }
  std::vector<int> gives(givers.size(), 0), takes(givers.size(), 0);
  struct Ends {
    NodeId from, to;
    std::int32_t distance;
  };
  std::vector<Ends> ends;
  for (NodeId node = 0; node < givers.size(); ++node) {
    if (!givers[node]) continue;
    for (const NodeId taker : to[class_of(node)]) {
      if (node == taker) continue;
      if (++gives[node] > machine.ports || ++takes[taker] > machine.ports) return std::nullopt;
      ends.push_back({node, taker, topology.distance(node, taker)});
    }
  }
  std::mt19937_64 random(1);
  WormChannels channels(machine);
  for (int tried = 0; tried < tries; ++tried) {
    shuffle(ends, random);
    if (tried % 2 == 1) std::stable_sort(ends.begin(), ends.end(), [](const Ends& a, const Ends& b) { return a.distance > b.distance; });
    channels.free_after(0);
    Worms worms;
    for (const Ends& e : ends) {
      Route route;
      if (!channels.take(e.from, e.to, route)) break;
      worms.push_back({e.from, e.to, route});
    }
    if (worms.size() == ends.size()) return worms;
  }
  return std::nullopt;
}

}  // namespace torus::reduction
