#include "algorithms/total_exchange/ternary_rotating.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "algorithms/common/integers.hpp"
#include "algorithms/common/linked_dimensions.hpp"
#include "algorithms/total_exchange/bundled_exchange.hpp"
#include "algorithms/total_exchange/rotation.hpp"
#include "algorithms/total_exchange/ternary_ring.hpp"

namespace torus::exchange {
namespace {

/// Which sum each class takes in each dimension: where there are several, the one that adds least to the channels, given the classes of the
/// same group so far.
class TernaryHops {
 public:
  TernaryHops(const Topology& topology, const Rotation& rotation) : topology_{topology} {
    for (Dimension d = 0; d < topology.dimensions(); ++d) {
      const TernaryRing& ring = rings_.emplace_back(topology.extent(d));
      std::vector<std::uint8_t>& chosen = chosen_.emplace_back(topology.nodes());
      std::vector<Taken> taken(std::max(1U, rotation.groups()), Taken(ring.weights()));
      for (const bool several : {false, true}) {
        for (NodeId delta = 0; delta < topology.nodes(); ++delta) {
          const std::vector<TernaryRing::Digits>& sums = ring.sums(topology.coordinate(delta, d));
          if ((sums.size() > 1) == several) chosen[delta] = choose(sums, ring, taken[rotation.group(delta)]);
        }
      }
    }
  }

  const TernaryRing& ring(Dimension d) const noexcept { return rings_[static_cast<std::size_t>(d)]; }
  int digit(NodeId delta, Dimension d, std::size_t weight) const noexcept {
    return ring(d).sums(topology_.coordinate(delta, d))[chosen_[static_cast<std::size_t>(d)][delta]][weight];
  }

 private:
  /// The classes that take each weight, backwards and forwards.
  using Taken = std::vector<std::array<std::int64_t, 2>>;

  static std::uint8_t choose(const std::vector<TernaryRing::Digits>& sums, const TernaryRing& ring, Taken& taken) {
    if (sums.empty()) return 0;  // a ring of one
    std::size_t best = 0;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::size_t s = 0; s < sums.size(); ++s) {
      std::int64_t load = 0;
      for (std::size_t i = 0; i < ring.weights(); ++i) {
        const auto& [back, forth] = taken[i];
        load += ring.weight(i) * std::max(back + (sums[s][i] < 0 ? 1 : 0), forth + (sums[s][i] > 0 ? 1 : 0));
      }
      if (load < least) best = s;
      least = std::min(least, load);
    }
    for (std::size_t i = 0; i < ring.weights(); ++i) {
      if (sums[best][i] != 0) ++taken[i][sums[best][i] > 0 ? 1 : 0];
    }
    return static_cast<std::uint8_t>(best);
  }

  const Topology& topology_;
  std::vector<TernaryRing> rings_;
  std::vector<std::vector<std::uint8_t>> chosen_;  // by dimension and class
};

Timetable timetable(const Topology& topology) {
  const Rotation rotation(topology);
  const TernaryHops hops(topology, rotation);
  const std::size_t weights = ceil_log(3, static_cast<std::uint64_t>(largest_extent(topology)));
  Timetable table(topology);
  for (std::uint32_t stage = 0; stage < rotation.groups(); ++stage) {
    for (std::size_t i = 0; i < weights; ++i) {
      table.begin_stage(1);
      for (const Dimension d : linked_dimensions(topology)) {
        if (i >= hops.ring(d).weights()) continue;
        for (const std::int32_t direction : {+1, -1}) {
          table.add_bundle({d, direction * hops.ring(d).weight(i)}, [&, d, direction](NodeId delta) {
            return rotation.dimension(delta, stage) == d && hops.digit(delta, d, i) == direction;
          });
        }
      }
    }
  }
  return table;
}

Plan plan(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  const std::uint64_t steps = linked_dimensions(topology).size() * ceil_log(3, static_cast<std::uint64_t>(largest_extent(topology)));
  return plan_of(timetable(topology), steps, "k max ceil(log3 n_i)", request.bytes);
}

}  // namespace

const Algorithm ternary_rotating{
    .name = "ternary-rotating",
    .collective = Collective::total_exchange,
    .source = "this project; base 3 after Juerss & Schmid, ReTri",
    .shapes = "torus, any sides",
    .steps = "k max ceil(log3 n_i), k dimensions wider than 1",
    .native = {.contention = Contention::share},
    .needs = {.shape = Requirements::Shape::torus,
              .switching = Switching::wormhole,
              .ports = Requirements::all_ports,
              .shared_channels = true,
              .overlaps_from = 6},
    .plan = plan,
};

}  // namespace torus::exchange
