/// What the channels of a node can carry in a second of byte terms, where dimensions differ in speed.
///
/// Let B_t be the byte term of step t: no channel c carries more than B_t / T_c(c) bytes in it. So the channels of a set C carry at most
/// (sum of B_t) * rate(C) bytes in a run, with rate(C) the sum of 1 / T_c over C. Hence a bound for every set that must carry so many
/// bytes: the sum of the byte terms is at least bytes / rate(C). A node that uses at most p channels in a step carries no more than its p
/// fastest would, step by step, whichever it chooses. Nodes at a border may lack some of the channels that are counted here, and the bound
/// is then lower than it could be, but valid.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include <torus/machine.hpp>

namespace torus {

class LinkRates {
 public:
  explicit LinkRates(const Machine& machine) : cost_{machine.cost} {
    const Topology& topology = machine.topology;
    for (Dimension d = 0; d < topology.dimensions(); ++d) {
      const std::int32_t n = topology.extent(d);
      const std::int32_t slots = topology.wiring(d) == Wiring::complete ? n - 1 : n > 1 ? 2 : 0;
      fastest_.insert(fastest_.end(), static_cast<std::size_t>(slots), rate(d));
    }
    std::sort(fastest_.begin(), fastest_.end(), std::greater<>());
    for (std::size_t i = 1; i < fastest_.size(); ++i) fastest_[i] += fastest_[i - 1];
  }

  /// Bytes a second over a channel of a dimension; infinite where bytes cost nothing.
  double rate(Dimension d) const noexcept { return 1 / cost_.byte_s_of(d); }
  /// The same over the `count` fastest channels of a node.
  double fastest(std::uint64_t count) const noexcept {
    return count == 0 ? 0 : fastest_[std::min<std::size_t>(count, fastest_.size()) - 1];
  }

 private:
  const CostModel& cost_;
  std::vector<double> fastest_;  // sums of the fastest 1, 2, ..
};

}  // namespace torus
