/// Total exchange with one port in few steps: one dimension after the other, and along each neighbours exchange in pairs.
///
/// Along a line a node exchanges with its two neighbours in turns (lines/paired_line.hpp). At the start of a phase each block takes the
/// shorter way to its place, and half way round an even ring the one that gets there in time. All blocks at a node that go the partner's
/// way are one message. In a complete dimension step j moves what has bit j of its offset.
/// Machine  any mix of rings, lines and complete dimensions, twisted tori; packet (single hops), one port, no channel shared.
/// Steps    sum over the dimensions, of an even ring n/2, an odd ring (n+3)/2, a line n-1 (n even) or n, a complete dimension or ring of 3
///          ceil(log2 n); on tori of even sides the diameter, which is optimal.
/// Bytes    of an even ring N n/4 blocks: the fewest that one port allows. Odd rings half as many again, lines twice.
/// Header   none.   Memory  O(1) a node beside the ids of a step, tables of O(N) for all nodes: who has which block when is arithmetic.
/// Source   this project.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/entries.hpp"
#include "algorithms/lines/exchange_phase.hpp"
#include "algorithms/program_memory.hpp"

namespace torus::total_exchange::neighbour_exchange {
namespace {

using lines::ExchangePhase;

/// A phase, and the nodes that differ in the coordinates of later phases alone, as ExchangePhase::earlier().
struct Phase {
  ExchangePhase along;
  std::vector<NodeId> later;
};
using Phases = std::vector<Phase>;

/// On a twisted torus the short dimensions come first: a hop over the end of one also moves along the long ones.
Phases phases_of(const Topology& topology) {
  std::vector<Dimension> order = lines::gathering_order(topology);
  std::reverse(order.begin(), order.end());
  Phases phases;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::span<const Dimension> all = order;
    phases.push_back({ExchangePhase(topology, order[i], all.first(i)), lines::ranks_over(topology, all.subspan(i + 1))});
  }
  return phases;
}

/// The origin of blocks that have come to a node in the phases before `end` from certain places: `earlier` has these for coordinates.
NodeId origin(const Topology& topology, const Phases& phases, std::size_t end, NodeId node, NodeId earlier) {
  for (std::size_t i = end; i-- > 0;) {
    const ExchangePhase& along = phases[i].along;
    const std::int32_t hops = along.line().way(along.place(topology, earlier), along.place(topology, node));
    node = topology.neighbour(node, along.dimension(), -hops).value();
  }
  return node;
}

/// Blocks are at their destination's place in earlier dimensions.
void send(Node& self, const Phases& phases, std::size_t i, std::int32_t step) {
  const Topology& topology = self.topology();
  const ExchangePhase& along = phases[i].along;
  const std::int32_t place = along.place(topology, self.rank()), offset = along.line().target(place, step);
  if (offset == 0) return;
  const NodeId own = along.earlier_part(topology, self.rank());
  std::vector<BlockId> blocks;
  along.line().for_exchanged(place, step, [&](std::int32_t to, std::int32_t hops) {
    const NodeId start = topology.neighbour(self.rank(), along.dimension(), -hops).value();
    for (const NodeId earlier : along.earlier()) {
      const NodeId from = topology.twisted() ? origin(topology, phases, i, start, earlier) : start - own + earlier;
      const BlockId row = BlockId{from} * topology.nodes() + own + along.part(to);
      for (const NodeId later : phases[i].later) blocks.push_back(row + later);
    }
  });
  if (!blocks.empty()) self.forward({along.leg(topology, self.rank(), offset)}, blocks);
}

Program program(Node& self, const Phases& phases) {
  for (std::size_t i = 0; i < phases.size(); ++i) {
    for (std::int32_t step = 0; step < phases[i].along.line().steps(); ++step) {
      send(self, phases, i, step);
      co_await self.step();
    }
  }
}

Plan plan(const Machine& machine, const Request& request) {
  const auto phases = std::make_shared<const Phases>(phases_of(machine.topology));
  Plan plan;
  plan.start = [phases](Node& self) { return program(self, *phases); };
  std::uint64_t blocks = 0, longest = 0;
  for (const auto& [along, later] : *phases) {
    const std::uint64_t bundle = std::uint64_t{along.earlier().size()} * later.size();
    for (std::int32_t step = 0; step < along.line().steps(); ++step) {
      const std::uint64_t sent = bundle * static_cast<std::uint64_t>(along.line().longest_exchanged(step));
      blocks += sent;
      longest = std::max(longest, sent);
    }
    plan.steps += static_cast<std::uint64_t>(along.line().steps());
    plan.table_bytes += along.table_bytes() + later.size() * sizeof(NodeId);
  }
  plan.formula = "sum T_i";
  plan.route_hops = plan.steps;
  plan.channel_bytes = times_bytes(blocks, request.bytes);
  plan.message_bytes = bytes_of_messages(1, longest);
  return plan;
}

Bytes planning_bytes(const Machine& machine) { return Bytes{4} * machine.topology.nodes() * sizeof(NodeId); }

constexpr std::array terms{
    Term{"T_i", "steps of a dimension: of an even ring n/2, an odd ring (n+3)/2, a line n-1 (n even) or n, a complete one ceil(log2 n)"}};

constexpr Algorithm neighbour_exchange{
    .name = "neighbour-exchange",
    .collective = Collective::total_exchange,
    .source = "this project",
    .shapes = "any, also twisted",
    .steps = "sum of T_i: even ring n/2, odd ring (n+3)/2, line n-1 or n, complete ceil(log2 n)",
    .idea = {.first =
                 "Along one dimension a node exchanges with its two neighbours in turns, and gives each all blocks that want to go that "
                 "way.",
             .then = "When all blocks have their place in that dimension, the next one does the same.",
             .good =
                 "One port is enough for as many steps as the diameter on tori of even sides, and there each block goes a shortest way in "
                 "the fewest bytes; on odd rings and lines long blocks pay."},
    .terms = terms,
    .native = {.switching = Switching::packet, .ports = 1},
    .needs = {.takes_twists = true},
    .plan = plan,
    .planning_bytes = planning_bytes};

}  // namespace

extern const Entries entries{neighbour_exchange};

}  // namespace torus::total_exchange::neighbour_exchange
