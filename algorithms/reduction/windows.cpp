/// All-reduce and barrier in the fewest steps of all, on any number of nodes: windows of ranks that grow (p+1)-fold a step.
///
/// The ranks, those of the canonical form, stand in a circle. After a step a node has the sum of a window: the ranks that end with its own.
/// In the next step it takes p more windows from behind, end to end. Some of them come without their last rank, so that each contributor
/// counts once: window_rounds.hpp. Messages go the shortest way and share channels. Machine  any shape, wormhole, shared channels, any
/// number of ports. At most 8 ports are used, since the queue of a shared channel
///          takes 8 messages a step.
/// Steps    ceil(log_{p+1} N), which is optimal.   Header  none.
/// Memory   2 vectors a node, and one a port on their way.
/// Bytes    m for each message on the fullest channel of a step, which plan() counts in O(N) memory.
/// Barrier  the same messages without blocks: 0 bytes.
/// Source   Bruck & Ho 1993.

#include <algorithm>
#include <memory>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/common/canonical_form.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/program_memory.hpp"
#include "algorithms/reduction/one_order.hpp"
#include "algorithms/reduction/segment_bytes.hpp"
#include "algorithms/reduction/window_rounds.hpp"
#include "algorithms/schedule/route_loads.hpp"

namespace torus::reduction::windows {
namespace {

/// The windows are of ranks of the canonical form.
struct Rounds {
  CanonicalForm form;
  std::vector<WindowRound> all;

  Route route_to(const Machine& machine, NodeId from, const WindowPiece& piece) const {
    const std::uint64_t to = (std::uint64_t{form.inside(from)} + static_cast<std::uint64_t>(piece.distance)) % machine.topology.nodes();
    return shortest_route(machine.topology, from, form.outside(static_cast<NodeId>(to)), machine.routing);
  }
};

void send(Node& self, const Rounds& rounds, const WindowRound& round, bool barrier) {
  for (const WindowPiece& piece : round.pieces) {
    const Route route = rounds.route_to(self.machine(), self.rank(), piece);
    if (barrier)
      self.send(route, {});
    else
      self.send(round.last ? combine : combine_into({0, 1}), route, {{static_cast<BlockId>(piece.from)}});
  }
}

Program program(Node& self, const Rounds& rounds, bool barrier) {
  for (const WindowRound& round : rounds.all) {
    send(self, rounds, round, barrier);
    co_await self.step();
  }
}

/// Sums over the rounds: of the most messages on a channel, and of the most hops of one.
RouteLoads::StepLoad traffic(const Machine& machine, const Rounds& rounds) {
  RouteLoads::StepLoad sum;
  RouteLoads loads(machine.topology);
  for (const WindowRound& round : rounds.all) {
    for (NodeId node = 0; node < machine.topology.nodes(); ++node) {
      for (const WindowPiece& piece : round.pieces) loads.add(node, rounds.route_to(machine, node, piece));
    }
    const RouteLoads::StepLoad step = loads.end_step();
    sum.most += step.most;
    sum.hops += step.hops;
  }
  return sum;
}

Plan plan(const Machine& machine, const Request& request) {
  constexpr int most_ports = 8;  // what the queue of a shared channel takes
  const int ports = std::min(machine.ports, most_ports);
  const auto rounds = std::make_shared<const Rounds>(
      Rounds{CanonicalForm(machine, std::nullopt, CanonicalForm::Order::shorter_first), window_rounds(machine.topology.nodes(), ports)});
  const bool barrier = request.collective == Collective::barrier;
  Plan plan;
  plan.start = [rounds, barrier](Node& self) { return program(self, *rounds, barrier); };
  std::size_t most_sent = 0;
  for (const WindowRound& round : rounds->all) most_sent = std::max(most_sent, round.pieces.size());
  plan.message_bytes = bytes_of_messages(most_sent, 1, static_cast<std::uint64_t>(machine.topology.dimensions()));
  plan.steps = rounds->all.size();
  plan.formula = "ceil(log_{p+1} N)";
  const RouteLoads::StepLoad sum = traffic(machine, *rounds);
  plan.route_hops = sum.hops;
  if (barrier) return plan;
  plan.registers = rounds->all.size() > 1 ? 2 : 1;
  // A node keeps what it sends: the pieces of a round are copies, beside its registers, of which the second is empty in the first round.
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < rounds->all.size(); ++i)
    most = std::max<std::uint64_t>(most, (i == 0 ? 1 : 2) + rounds->all[i].pieces.size());
  plan.copies = machine.topology.nodes() * (most - std::min<std::uint64_t>(most, plan.registers));
  const SegmentBytes vector(request, 1);
  plan.channel_bytes = sum.most * vector.of(1);
  for (std::size_t i = 0; i < rounds->all.size(); ++i) plan.combined_bytes += vector.of(rounds->all[i].combined(i == 0));
  return plan;
}

Bytes planning_bytes(const Machine& machine) { return RouteLoads::bytes(machine.topology); }

std::optional<Refusal> also_requires(const Machine&, const Request& request) { return differs_by_node("windows", request); }

constexpr Algorithm windows(Collective collective, const Idea& idea) {
  return {.name = "windows",
          .collective = collective,
          .source = "Bruck & Ho 1993",
          .shapes = "any",
          .steps = "ceil(log_{p+1} N), p ports, 8 at most",
          .idea = idea,
          .native = {.contention = Contention::share},
          .needs = {.switching = Switching::wormhole, .shared_channels = true},
          .also_requires = also_requires,
          .plan = plan,
          .planning_bytes = planning_bytes};
}

constexpr Algorithm windows_allreduce =
    windows(Collective::allreduce, {.first = "The ranks form a circle, and in the first step each node gets the vectors of as many nodes "
                                             "behind it as it has ports: it then knows the sum of a window of ranks.",
                                    .then = "In each further step it gets the sums of as many windows, which lie end to end behind its "
                                            "own, so that the windows grow by the ports plus one each time.",
                                    .good = "No all-reduce takes fewer steps, on any number of nodes; but messages go far with the whole "
                                            "vector and share channels, so that only short vectors gain."});
constexpr Algorithm windows_barrier = windows(
    Collective::barrier,
    {.first = "The ranks form a circle, and in the first step each node hears from as many nodes behind it as it has ports.",
     .then = "In each further step it hears from nodes that know windows end to end behind its own, so that what it knows of grows by the "
             "ports plus one each time.",
     .good =
         "No barrier takes fewer steps, on any number of nodes, and as the messages are empty it costs nothing that they share channels."});

}  // namespace

extern const Entries entries{windows_allreduce, windows_barrier};

}  // namespace torus::reduction::windows
