/// Total exchange with one port in few steps: one dimension after the other, and along each neighbours exchange in pairs.
///
/// Along a line a node exchanges with its two neighbours in turns (lines/paired_line.hpp). At the start of a phase each block takes the
/// shorter way to its place, and half way round an even ring the one that gets there in time. All blocks at a node that go the partner's
/// way are one message. In a complete dimension step j moves what has bit j of its offset.
///
/// Where routes may have several hops, the places of a line also tell each other *straight*, if the bytes make up for the steps. Let it
/// have 2h places. For each two l < u of the first h, four places send in a step, round the circle l, u, h+l, h+u: up in three routes end
/// to end, and down in one; and in another step the other way round. For each l, l and h+l exchange in a step of their own. So each two
/// exchange once, and each of the h^2 steps takes one block over the middle each way: no exchange along a line of single blocks has fewer.
/// On a line of 2h-1 places the last one is left out, and with it the last step.
///
/// Machine  any mix of rings, lines and complete dimensions, twisted tori; packet (single hops), one port, no channel shared.
/// Steps    sum over the dimensions, of an even ring n/2, an odd ring (n+3)/2, a line n-1 (n even) or n, a complete dimension or ring of 3
///          ceil(log2 n); on tori of even sides the diameter, which is optimal. Straight, a line takes n^2/4, or (n+1)^2/4 - 1.
/// Bytes    of an even ring N n/4 blocks: the fewest that one port allows. Odd rings half as many again, lines twice, and straight as few.
/// Header   none.   Memory  O(1) a node beside the ids of a step, tables of O(N) for all nodes: who has which block when is arithmetic.
/// Source   this project.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/entries.hpp"
#include "algorithms/lines/exchange_phase.hpp"
#include "algorithms/program_memory.hpp"

namespace torus::total_exchange::neighbour_exchange {
namespace {

using lines::ExchangePhase;

/// Which places of a line exchange straight, in which step.
class StraightLine {
 public:
  explicit StraightLine(std::int32_t places) noexcept : n_{places}, h_{(places + 1) / 2} {}

  std::int32_t steps() const noexcept { return h_ * h_ - n_ % 2; }
  /// Offset of the place that a place sends to; 0: none.
  std::int32_t target(std::int32_t place, std::int32_t step) const noexcept {
    const std::int32_t i = step / h_, j = step % h_, l = std::min(i, j), u = std::max(i, j);
    const std::int32_t of_half = place % h_, there = place < h_ ? place + h_ : place - h_;
    if (of_half != l && of_half != u) return 0;
    std::int32_t to = there;  // l == u
    if (i > j) to = of_half == l ? place - l + u : there - u + l;
    if (i < j) to = of_half == u ? place - u + l : there - l + u;
    return to < n_ ? to - place : 0;
  }
  /// Hops of the longest route of a step.
  std::int32_t hops(std::int32_t step) const noexcept {
    std::int32_t most = 0;
    for (std::int32_t place = 0; place < n_; ++place) most = std::max(most, std::abs(target(place, step)));
    return most;
  }

 private:
  std::int32_t n_, h_;
};

/// A phase, and the nodes that differ in the coordinates of later phases alone, as ExchangePhase::earlier().
struct Phase {
  ExchangePhase along;
  std::vector<NodeId> later;
  std::optional<StraightLine> straight = std::nullopt;

  std::int32_t steps() const noexcept { return straight ? straight->steps() : along.line().steps(); }
};
using Phases = std::vector<Phase>;

/// What a phase takes.
struct Cost {
  std::uint64_t steps = 0, hops = 0, blocks = 0, longest = 0;  ///< longest: blocks of a message
};

Cost cost_of(const Phase& phase) {
  const std::uint64_t bundle = std::uint64_t{phase.along.earlier().size()} * phase.later.size();
  Cost cost;
  for (std::int32_t step = 0; step < phase.steps(); ++step) {
    const std::uint64_t sent = bundle * (phase.straight ? 1 : static_cast<std::uint64_t>(phase.along.line().longest_exchanged(step)));
    cost.hops += phase.straight ? static_cast<std::uint64_t>(phase.straight->hops(step)) : 1;
    cost.blocks += sent;
    cost.longest = std::max(cost.longest, sent);
    ++cost.steps;
  }
  return cost;
}

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
  const std::int32_t place = along.place(topology, self.rank());
  const std::int32_t offset = phases[i].straight ? phases[i].straight->target(place, step) : along.line().target(place, step);
  if (offset == 0) return;
  const NodeId own = along.earlier_part(topology, self.rank());
  std::vector<BlockId> blocks;
  const auto add = [&](std::int32_t to, std::int32_t hops) {
    const NodeId start = topology.neighbour(self.rank(), along.dimension(), -hops).value();
    for (const NodeId earlier : along.earlier()) {
      const NodeId from = topology.twisted() ? origin(topology, phases, i, start, earlier) : start - own + earlier;
      const BlockId row = BlockId{from} * topology.nodes() + own + along.part(to);
      for (const NodeId later : phases[i].later) blocks.push_back(row + later);
    }
  };
  if (phases[i].straight)
    add(place + offset, 0);
  else
    along.line().for_exchanged(place, step, add);
  if (!blocks.empty()) self.forward({along.leg(topology, self.rank(), offset)}, blocks);
}

Program program(Node& self, const Phases& phases) {
  for (std::size_t i = 0; i < phases.size(); ++i) {
    for (std::int32_t step = 0; step < phases[i].steps(); ++step) {
      send(self, phases, i, step);
      co_await self.step();
    }
  }
}

/// Lines go straight where that takes less time.
Phases phases_for(const Machine& machine, const Request& request) {
  Phases phases = phases_of(machine.topology);
  if (machine.switching == Switching::packet || machine.topology.twisted()) return phases;
  const auto time = [&](const Phase& phase) {
    const Cost cost = cost_of(phase);
    return machine.cost.steps(static_cast<double>(cost.steps), times_bytes(cost.blocks, request.bytes), static_cast<double>(cost.hops));
  };
  for (Phase& phase : phases) {
    if (machine.topology.wiring(phase.along.dimension()) != Wiring::line) continue;
    Phase straight = phase;
    straight.straight = StraightLine(phase.along.line().places());
    if (time(straight) < time(phase)) phase = std::move(straight);
  }
  return phases;
}

Plan plan(const Machine& machine, const Request& request) {
  const auto phases = std::make_shared<const Phases>(phases_for(machine, request));
  Plan plan;
  plan.start = [phases](Node& self) { return program(self, *phases); };
  std::uint64_t blocks = 0, longest = 0, hops = 0;
  for (const Phase& phase : *phases) {
    const Cost cost = cost_of(phase);
    blocks += cost.blocks;
    longest = std::max(longest, cost.longest);
    plan.steps += cost.steps;
    hops += cost.hops;
    plan.table_bytes += phase.along.table_bytes() + phase.later.size() * sizeof(NodeId);
  }
  plan.formula = "sum T_i";
  plan.route_hops = hops;
  plan.channel_bytes = times_bytes(blocks, request.bytes);
  plan.message_bytes = bytes_of_messages(1, longest);
  return plan;
}

Bytes planning_bytes(const Machine& machine) { return Bytes{4} * machine.topology.nodes() * sizeof(NodeId); }

constexpr std::array terms{
    Term{"T_i",
         "steps of a dimension: of an even ring n/2, an odd ring (n+3)/2, a line n-1 (n even) or n, or straight n^2/4 (n even) or "
         "(n+1)^2/4 - 1, a complete one ceil(log2 n)"}};

constexpr Algorithm neighbour_exchange{
    .name = "neighbour-exchange",
    .collective = Collective::total_exchange,
    .source = "this project",
    .shapes = "any, also twisted",
    .steps = "sum of T_i: even ring n/2, odd ring (n+3)/2, line n-1 or n, complete ceil(log2 n)",
    .idea = {.first =
                 "Along one dimension a node exchanges with its two neighbours in turns, and gives each all blocks that want to go that "
                 "way.",
             .then =
                 "When all blocks have their place in that dimension, the next one does the same. Where routes may have several hops, long "
                 "blocks go straight along lines: in each step one block of a line crosses its middle, each way.",
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
