/// Which way round every class goes where both directions are used at once.
#pragma once

#include <cstdint>
#include <vector>

#include <torus/topology.hpp>

namespace torus::exchange {

/// The shortest signed hops of each class delta in each dimension of a torus. Ties (classes that go half way round) are shared out between
/// the directions: counted by dimension and group in the order of the classes, the even ones go forwards and the odd ones backwards.
class ClassHops {
 public:
  /// group(delta): which classes travel at the same time, so that among them the directions must balance.
  template <class Group>
  ClassHops(const Topology& topology, Group group) : nodes_{topology.nodes()} {
    hops_.reserve(std::size_t{nodes_} * static_cast<std::size_t>(topology.dimensions()));
    for (Dimension d = 0; d < topology.dimensions(); ++d) {
      const std::int32_t n = topology.extent(d);
      std::vector<std::uint32_t> ties;  // met so far, by group
      for (NodeId delta = 0; delta < nodes_; ++delta) {
        std::int32_t hops = topology.offset(d, 0, topology.coordinate(delta, d));
        if (2 * hops == n) {
          const auto g = static_cast<std::size_t>(group(delta));
          if (g >= ties.size()) ties.resize(g + 1);
          if (ties[g]++ % 2 == 1) hops = -hops;
        }
        hops_.push_back(hops);
      }
    }
  }

  std::int32_t operator()(NodeId delta, Dimension d) const noexcept { return hops_[static_cast<std::size_t>(d) * nodes_ + delta]; }

 private:
  std::size_t nodes_;
  std::vector<std::int32_t> hops_;  // dimension by dimension
};

}  // namespace torus::exchange
