/// Total exchange by bundles, one dimension after the other. In each dimension every block goes as far as it has to; all blocks that go the
/// same way in the same step are one message. s = sum over i of (N/n_i) floor(n_i^2/4).
///
/// dimension-wise  Hop by hop, first everything that has hops left forwards, then everything backwards. A block that goes half way round
///                 travels forwards.   Packet, one port.
///     Steps   sum over i of n_i - 1.
///     Blocks on the busiest channel  s: as many as one by one, since every block goes the shortest way through the one port.
///     Source  folklore: the one-port exchange of [Dimakopoulos & Dimopoulos], combining messages.
/// sequential      Hop by hop, both directions at once. A block that goes half way round travels forwards or backwards: such classes
///                 alternate.   Packet, two ports.
///     Steps   sum over i of floor(n_i/2), the diameter: no exchange hop by hop takes fewer.
///     Blocks on the busiest channel  s/2, and n_i/4 more for even n_i with N/n_i odd.
///     Source  folklore; the ties as in this project's all-port exchanges.
/// log             For each bit of the hops that a block has to go forwards, then backwards, one message of 2^bit hops carries everything
///                 that has the bit.   Wormhole, one port, channels shared.
///     Steps   sum over i of bl(floor(n_i/2)) + bl(floor((n_i-1)/2)), bl the length in bits.
///     Blocks on the busiest channel  s: messages overlap, 2^bit of them on a channel, but each block goes a shortest way.
///     Source  this project: Bruck et al. in both directions, so that no block goes a longer way than it must.
/// bruck           For each bit of the offset 0..n-1 forwards, one message carries everything that has the bit 2^bit nodes on (the other
///                 way round where that is shorter).   Wormhole, one port, channels shared.
///     Steps   sum over i of ceil(log2 n_i): the fewest through one port, log2 N, where all sides are powers of two.
///     Blocks on the busiest channel  sum over i of (N/n_i) sum over bits of min(2^bit, n_i - 2^bit) * (offsets that have the bit):
///             N (n_i - 1)/2 a dimension for powers of two.
///     Source  Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE TPDS 8(11), 1997, dimension by dimension.
///
/// Machine  torus of any sides. With sides up to 3, all messages of log and bruck have one hop, which any machine takes.
/// Header, memory  as every bundled exchange (bundled_exchange.hpp).

#include <bit>

#include <torus/algorithm.hpp>

#include "algorithms/common/integers.hpp"
#include "algorithms/common/shapes.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/total_exchange/bundled_exchange.hpp"
#include "algorithms/total_exchange/classes.hpp"

namespace torus::total_exchange::dimension_wise {
namespace {

Timetable dimension_wise_timetable(const Topology& topology) {
  Timetable table(topology);
  for (const Dimension d : linked_dimensions(topology)) {
    const auto hops = [&topology, d](NodeId delta) { return topology.offset(d, 0, topology.coordinate(delta, d)); };
    const auto n = static_cast<std::uint32_t>(topology.extent(d));
    table.begin_stage(n / 2);
    table.add_bundle({d, +1}, hops);
    table.begin_stage((n - 1) / 2);
    table.add_bundle({d, -1}, [&hops](NodeId delta) { return -hops(delta); });
  }
  return table;
}

Plan plan_dimension_wise(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  std::uint64_t steps = 0;
  for (const DimensionShape& dimension : topology.shape()) steps += static_cast<std::uint64_t>(dimension.extent - 1);
  return plan_of(dimension_wise_timetable(topology), steps, "sum (n_i - 1)", request.bytes);
}

const Algorithm dimension_wise{
    .name = "dimension-wise",
    .collective = Collective::total_exchange,
    .source = "folklore: message combining, dimension by dimension",
    .shapes = "torus, any sides",
    .steps = "sum (n_i - 1)",
    .idea = {.first = "Along the first dimension each node sends all blocks that must go forwards to its neighbour, in one message, and so "
                      "on hop by hop, while blocks that have arrived stay behind.",
             .then = "What must go backwards follows, and then the next dimension takes on all that has come.",
             .good = "Blocks that go the same way share a message, so that one port takes few start-ups and no block goes a longer way "
                     "than it must."},
    .native = {.switching = Switching::packet, .ports = 1},
    .needs = {.shape = Requirements::Shape::torus},
    .plan = plan_dimension_wise,
};

Timetable sequential_timetable(const Topology& topology) {
  const ClassHops hops(topology, [](NodeId) { return 0U; });
  Timetable table(topology);
  for (const Dimension d : linked_dimensions(topology)) {
    table.begin_stage(static_cast<std::uint32_t>(topology.extent(d) / 2));
    table.add_bundle({d, +1}, [&hops, d](NodeId delta) { return hops(delta, d); });
    table.add_bundle({d, -1}, [&hops, d](NodeId delta) { return -hops(delta, d); });
  }
  return table;
}

Plan plan_sequential(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  const auto steps = static_cast<std::uint64_t>(topology.diameter());
  return plan_of(sequential_timetable(topology), steps, "sum floor(n_i/2)", request.bytes);
}

const Algorithm sequential{
    .name = "sequential",
    .collective = Collective::total_exchange,
    .source = "folklore: message combining, dimension by dimension",
    .shapes = "torus, any sides",
    .steps = "sum floor(n_i/2) = diameter",
    .idea = {.first = "Along the first dimension each node sends two messages a step, forwards and backwards, with all blocks that still "
                      "have hops to go that way.",
             .then = "When all blocks have their place in that dimension, the next one follows.",
             .good = "Both directions work at once, so that the steps are the diameter, the fewest of any exchange hop by hop; but all "
                     "other dimensions wait meanwhile."},
    .native = {.switching = Switching::packet, .ports = 2},
    .needs = {.shape = Requirements::Shape::torus, .ports = 2},
    .plan = plan_sequential,
};

Timetable log_timetable(const Topology& topology) {
  Timetable table(topology);
  for (const Dimension d : linked_dimensions(topology)) {
    const std::int32_t n = topology.extent(d);
    for (const std::int32_t direction : {+1, -1}) {
      for (std::int32_t reach = 1; reach <= (direction > 0 ? n : n - 1) / 2; reach *= 2) {
        table.begin_stage(1);
        table.add_bundle({d, direction * reach}, [&topology, d, direction, reach](NodeId delta) {
          const std::int32_t hops = direction * topology.offset(d, 0, topology.coordinate(delta, d));
          return hops > 0 && (hops & reach) != 0;
        });
      }
    }
  }
  return table;
}

Plan plan_log(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  std::uint64_t steps = 0;
  for (const DimensionShape& dimension : topology.shape()) {
    const auto n = static_cast<std::uint32_t>(dimension.extent);
    steps += static_cast<std::uint64_t>(std::bit_width(n / 2) + std::bit_width((n - 1) / 2));
  }
  return plan_of(log_timetable(topology), steps, "sum bl(floor(n_i/2)) + bl(floor((n_i-1)/2))", request.bytes);
}

const Algorithm logarithmic{
    .name = "log",
    .collective = Collective::total_exchange,
    .source = "this project, after Bruck et al. 1997",
    .shapes = "torus, any sides",
    .steps = "sum bl(floor(n_i/2)) + bl(floor((n_i-1)/2))",
    .idea = {.first = "The hops that a block has to go along a ring are written in bits, and one message carries all blocks that have a "
                      "certain bit forwards, as far as that bit says.",
             .then = "After the bits forwards come those backwards, and then the next dimension.",
             .good = "A ring takes a few steps a bit, not one a node, and no block goes a longer way than it must; but the messages of a "
                     "step overlap, which long blocks feel."},
    .native = {.contention = Contention::share, .ports = 1},
    .needs = {.shape = Requirements::Shape::torus, .switching = Switching::wormhole, .shared_channels = true, .overlaps_from = 4},
    .plan = plan_log,
};

Timetable bruck_timetable(const Topology& topology) {
  Timetable table(topology);
  for (const Dimension d : linked_dimensions(topology)) {
    const std::int32_t n = topology.extent(d);
    for (std::int32_t bit = 1; bit < n; bit *= 2) {
      table.begin_stage(1);
      table.add_bundle({d, 2 * bit > n ? bit - n : bit},
                       [&topology, d, bit](NodeId delta) { return (topology.coordinate(delta, d) & bit) != 0; });
    }
  }
  return table;
}

Plan plan_bruck(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  std::uint64_t steps = 0;
  for (const DimensionShape& dimension : topology.shape()) steps += ceil_log(2, static_cast<std::uint64_t>(dimension.extent));
  return plan_of(bruck_timetable(topology), steps, "sum ceil(log2 n_i)", request.bytes);
}

const Algorithm bruck{
    .name = "bruck",
    .collective = Collective::total_exchange,
    .source = "Bruck et al. 1997",
    .shapes = "torus, any sides",
    .steps = "sum ceil(log2 n_i)",
    .idea = {.first = "The way of a block forwards round its ring is written in bits, and in the first step all blocks that have the "
                      "lowest bit move on by one node, in one message.",
             .then = "Each further step moves what has the next bit, twice as far, and then the next dimension follows.",
             .good = "One step a bit is the fewest through one port, so that short blocks gain; long ones pay, since blocks are sent again "
                     "and again and some go the longer way round."},
    .native = {.contention = Contention::share, .ports = 1},
    .needs = {.shape = Requirements::Shape::torus, .switching = Switching::wormhole, .shared_channels = true, .overlaps_from = 4},
    .plan = plan_bruck,
};

}  // namespace

extern const Entries entries{dimension_wise, sequential, logarithmic, bruck};

}  // namespace torus::total_exchange::dimension_wise
