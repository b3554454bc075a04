/// A shape as the product of its dimensions.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <torus/topology.hpp>

#include "algorithms/common/linked_dimensions.hpp"

namespace torus {

/// Figures of one dimension alone, as exact integers. `n` >= 2.
struct Factor {
  std::uint64_t n;
  Wiring wiring;
  Dimension dimension;

  std::uint64_t ring_status() const { return n / 2 * ((n + 1) / 2); }  // floor(n^2 / 4)
  std::uint64_t least_status() const { return wiring == Wiring::complete ? n - 1 : ring_status(); }
  std::uint64_t greatest_status() const { return wiring == Wiring::line ? n * (n - 1) / 2 : least_status(); }
  /// Three times the average status, which on a line is (n^2-1)/3.
  std::uint64_t average_status_times_3() const { return wiring == Wiring::line ? n * n - 1 : 3 * least_status(); }
  /// Links over the cut between the two halves (the larger half less one node, if n is odd).
  std::uint64_t middle_cut() const {
    switch (wiring) {
      case Wiring::ring: return 2;
      case Wiring::line: return 1;
      case Wiring::complete: return ring_status();
    }
    return 1;
  }
  /// Links over the cut behind the first node.
  std::uint64_t end_cut() const { return wiring == Wiring::ring ? 2 : wiring == Wiring::line ? 1 : n - 1; }
  /// Nodes by their number of channels in this dimension.
  std::map<std::uint64_t, std::uint64_t> degrees() const {
    switch (wiring) {
      case Wiring::ring: return {{2, n}};
      case Wiring::complete: return {{n - 1, n}};
      case Wiring::line: break;
    }
    if (n == 2) return {{1, 2}};
    return {{1, 2}, {2, n - 2}};
  }
};

/// The dimensions that have links.
inline std::vector<Factor> factors(const Topology& topology) {
  std::vector<Factor> result;
  for (const Dimension d : linked_dimensions(topology)) {
    result.push_back({static_cast<std::uint64_t>(topology.extent(d)), topology.wiring(d), d});
  }
  return result;
}

}  // namespace torus
