/// Total exchange by bundles in all dimensions at once, which keeps every channel busy with few start-ups. The classes fall into k groups,
/// (sum of delta_i) mod k; in stage s = 0..k-1 group g travels in dimension (g + s) mod k, both directions at once. (k counts the
/// dimensions of more than one node.)
///
/// rotating          Hop by hop. A block that goes half way round travels forwards or backwards: such classes alternate within dimension
///                   and group.   Packet, all ports.
///     Steps   k max floor(n_i/2): the diameter where all sides are equal.
///     Blocks on the busiest channel  the bound max over i of ceil((N/n_i) floor(n_i^2/4) / 2) if k divides every side and N/(k n_i) is
///             even for every even n_i, else a few more.
/// log-rotating      For each bit of the hops that a block has to go, one message of 2^bit hops along every channel carries everything
///                   that has the bit. Messages overlap: a channel carries 2^bit in a step.   Wormhole, all ports, channels shared.
///     Steps   k max bl(floor(n_i/2)), bl the length in bits.
///     Blocks on the busiest channel  as rotating or slightly more.
/// ternary-rotating  In base 3: the hops round a ring are a sum of weights, each taken forwards, backwards or not at all (TernaryRing). For
///                   each weight w, one message of w hops along every channel carries what takes w in its direction. Of a displacement's
///                   sums those of the fewest hops count; classes that have several balance the directions.
///                   Wormhole, all ports, channels shared.
///     Steps   k max ceil(log_3 n_i): 6 on 16x16, where log-rotating takes 8.
///     Blocks on the busiest channel  on a ring 1 to 1.5 times the minimum, n^2/8; 1.33 from n = 9 on.
///     Source  base 3 after Juerss & Schmid, ReTri.
///
/// Machine  torus of any sides. With sides up to 3 (ternary: 5) all messages have one hop, which any machine takes.
/// Header, memory  as every bundled exchange (bundled_exchange.hpp).   Source  this project.

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/common/integers.hpp"
#include "algorithms/common/shapes.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/total_exchange/bundled_exchange.hpp"
#include "algorithms/total_exchange/classes.hpp"

namespace torus::total_exchange::rotating {
namespace {

Timetable rotating_timetable(const Topology& topology) {
  const Rotation rotation(topology);
  const ClassHops hops(topology, [&rotation](NodeId delta) { return rotation.group(delta); });
  Timetable table(topology);
  for (std::uint32_t stage = 0; stage < rotation.groups(); ++stage) {
    table.begin_stage(static_cast<std::uint32_t>(largest_extent(topology) / 2));
    for (const Dimension d : linked_dimensions(topology)) {
      const auto hops_now = [&rotation, &hops, stage, d](NodeId delta) {
        return rotation.dimension(delta, stage) == d ? hops(delta, d) : 0;
      };
      table.add_bundle({d, +1}, hops_now);
      table.add_bundle({d, -1}, [&hops_now](NodeId delta) { return -hops_now(delta); });
    }
  }
  return table;
}

Plan plan_rotating(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  const std::uint64_t steps = linked_dimensions(topology).size() * static_cast<std::uint64_t>(largest_extent(topology) / 2);
  return plan_of(rotating_timetable(topology), steps, "k max floor(n_i/2)", request.bytes);
}

const Algorithm rotating{
    .name = "rotating",
    .collective = Collective::total_exchange,
    .source = "this project",
    .shapes = "torus, any sides",
    .steps = "k max floor(n_i/2), k dimensions wider than 1",
    .idea = {.first = "The blocks fall into as many groups as there are dimensions, and in the first stage each group travels in a "
                      "dimension of its own, hop by hop, both ways.",
             .then = "In each further stage every group goes on in the next dimension, until it has been in all.",
             .good = "Every channel works in every stage and blocks share messages, so that on equal sides the steps are the diameter and "
                     "the bytes near the fewest."},
    .native = {.switching = Switching::packet},
    .needs = {.shape = Requirements::Shape::torus, .ports = Requirements::all_ports},
    .plan = plan_rotating,
};

Timetable log_timetable(const Topology& topology) {
  const Rotation rotation(topology);
  const ClassHops hops(topology, [&rotation](NodeId delta) { return rotation.group(delta); });
  Timetable table(topology);
  for (std::uint32_t stage = 0; stage < rotation.groups(); ++stage) {
    for (std::int32_t reach = 1; reach <= largest_extent(topology) / 2; reach *= 2) {
      table.begin_stage(1);
      for (const Dimension d : linked_dimensions(topology)) {
        for (const std::int32_t direction : {+1, -1}) {
          table.add_bundle({d, direction * reach}, [&rotation, &hops, stage, d, direction, reach](NodeId delta) {
            const std::int32_t hops_now = rotation.dimension(delta, stage) == d ? direction * hops(delta, d) : 0;
            return hops_now > 0 && (hops_now & reach) != 0;
          });
        }
      }
    }
  }
  return table;
}

Plan plan_log(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  const auto farthest = static_cast<std::uint32_t>(largest_extent(topology) / 2);
  const std::uint64_t steps = linked_dimensions(topology).size() * static_cast<std::uint64_t>(std::bit_width(farthest));
  return plan_of(log_timetable(topology), steps, "k max bl(floor(n_i/2))", request.bytes);
}

const Algorithm log_rotating{
    .name = "log-rotating",
    .collective = Collective::total_exchange,
    .source = "this project",
    .shapes = "torus, any sides",
    .steps = "k max bl(floor(n_i/2)), k dimensions wider than 1",
    .idea = {.first = "The groups of rotating travel in different dimensions again, but the hops of a block are written in bits, and one "
                      "message carries all that has a bit, as far as the bit says.",
             .then = "After all bits each group changes to the next dimension.",
             .good = "All channels work and the steps grow with the logarithm of the side, so that short blocks gain; the messages of a "
                     "step overlap on the channels."},
    .native = {.contention = Contention::share},
    .needs = {.shape = Requirements::Shape::torus,
              .switching = Switching::wormhole,
              .ports = Requirements::all_ports,
              .shared_channels = true,
              .overlaps_from = 4},
    .plan = plan_log,
};

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

Timetable ternary_timetable(const Topology& topology) {
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

Plan plan_ternary(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  const std::uint64_t steps = linked_dimensions(topology).size() * ceil_log(3, static_cast<std::uint64_t>(largest_extent(topology)));
  return plan_of(ternary_timetable(topology), steps, "k max ceil(log3 n_i)", request.bytes);
}

const Algorithm ternary_rotating{
    .name = "ternary-rotating",
    .collective = Collective::total_exchange,
    .source = "this project; base 3 after Juerss & Schmid, ReTri",
    .shapes = "torus, any sides",
    .steps = "k max ceil(log3 n_i), k dimensions wider than 1",
    .idea = {.first = "The groups of rotating travel in different dimensions again, but the way round a ring is a sum of weights, each of "
                      "which is taken forwards, backwards or not at all.",
             .then = "In each step one message over every channel carries all blocks that take the weight of the step in its direction, "
                     "and after all weights the groups change dimensions.",
             .good = "Forwards and backwards share a step, so that base three takes fewer steps than bits do, for somewhat more bytes: "
                     "good for short blocks."},
    .native = {.contention = Contention::share},
    .needs = {.shape = Requirements::Shape::torus,
              .switching = Switching::wormhole,
              .ports = Requirements::all_ports,
              .shared_channels = true,
              .overlaps_from = 6},
    .plan = plan_ternary,
};

}  // namespace

extern const Entries entries{rotating, log_rotating, ternary_rotating};

}  // namespace torus::total_exchange::rotating
