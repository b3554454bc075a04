/// Reduce-scatter, all-reduce and multi-node broadcast once round all nodes, in the order of their ranks: each segment goes the long way to
/// its owner, and every node on the way adds its contribution. In an all-reduce the result goes round once more. A baseline: any shape, one
/// port.
///
/// No two messages of a step meet: the way from a rank to the next enters a line of the last dimension at its first node, and only where
/// the other nodes of that line send nothing over the channels that it takes.
/// Machine  any; wormhole, one port, no channel shared; one dimension of rings or complete: packet.
/// Steps    N-1 for a half.   Bytes  m (N-1)/N for a half, which is optimal with one port.   Memory  O(1) a node.
/// Source   folklore; optimal by Patarasuk & Yuan (2009).

#include <torus/algorithm.hpp>

#include "algorithms/entries.hpp"
#include "algorithms/program_memory.hpp"
#include "algorithms/reduction/segment_bytes.hpp"

namespace torus::reduction::ring {
namespace {

struct Round {
  NodeId nodes;
  NodeId rank;
  Route next;

  explicit Round(const Node& self) : nodes{self.topology().nodes()}, rank{self.rank()} {
    next = shortest_route(self.topology(), rank, (rank + 1) % nodes, self.machine().routing);
  }
};

void give(Node& self, NodeId distance) {
  const Round round(self);
  const BlockId segment = (round.rank + distance) % round.nodes;
  self.phase("reduce-scatter");
  self.forward(combine, round.next, {&segment, 1});
}

void pass_on(Node& self, NodeId behind) {
  const Round round(self);
  const BlockId segment = (round.rank + round.nodes - behind) % round.nodes;
  self.phase("all-gather");
  if (self.holds(segment)) self.send(round.next, {&segment, 1});
}

Program reduce_scatter(Node& self) {
  for (NodeId distance = self.topology().nodes() - 1; distance > 0; --distance) {
    give(self, distance);
    co_await self.step();
  }
}

Program all_gather(Node& self) {
  for (NodeId behind = 0; behind + 1 < self.topology().nodes(); ++behind) {
    pass_on(self, behind);
    co_await self.step();
  }
}

Program allreduce(Node& self) {
  co_await reduce_scatter(self);
  co_await all_gather(self);
}

Plan plan(const Machine& machine, const Request& request) {
  const std::uint64_t nodes = machine.topology.nodes();
  const bool both = request.collective == Collective::allreduce;
  const std::uint64_t half = nodes - 1, halves = both ? 2 : 1;
  Plan plan;
  plan.segments = both ? machine.topology.nodes() : 1;
  plan.start = both ? allreduce : request.collective == Collective::reduce_scatter ? reduce_scatter : all_gather;
  if (both) {
    plan.node_bytes += frames_of_calls(machine, [](Node& self) {
      make(reduce_scatter(self));
      make(all_gather(self));
    });
  }
  if (request.collective == Collective::multinode_broadcast)  // a message a source and step
    plan.message_bytes = bytes_of_messages(1) * request.sources.size() / nodes + 1;
  plan.steps = halves * half;
  plan.formula = both ? "2 (N-1)" : "N-1";
  const SegmentBytes segment(request, plan.segments);
  plan.channel_bytes = segment.of(halves * half);
  plan.combined_bytes = facts_of(request.collective).combines ? segment.of(half) : 0;
  plan.bytes_exact = segment.equal;
  return plan;
}

constexpr Algorithm ring(std::string_view name, Collective collective, std::string_view steps, const Idea& idea) {
  return {.name = name,
          .collective = collective,
          .source = "folklore; optimal with one port (Patarasuk & Yuan 2009)",
          .shapes = "any, nodes in the order of their ranks",
          .steps = steps,
          .idea = idea,
          .native = {.switching = Switching::wormhole, .ports = 1},
          .needs = {.switching = Switching::wormhole},
          .plan = plan};
}

constexpr Algorithm ring_reduce_scatter = ring(
    "ring", Collective::reduce_scatter, "N-1",
    {.first =
         "All nodes form one ring in the order of their ranks, and each sends the block whose owner is farthest ahead to the next node.",
     .then =
         "In each further step a node adds its own part to what came and passes the sum on, until each block has gone round to its owner.",
     .good = "Any shape and one port do, and no bytes could be saved; but there are as many steps as nodes but one: it is the baseline."});
constexpr Algorithm ring_allreduce = ring("ring", Collective::allreduce, "2 (N-1)",
                                          {.first = "All nodes form one ring in the order of their ranks, and blocks of the vector go "
                                                    "round it, each node adding its part, until each block is complete at one node.",
                                           .then = "The results go round once more, and every node keeps a copy of each.",
                                           .good = "Any shape and one port do, and no bytes could be saved, so that very long vectors lose "
                                                   "little; short ones wait for twice as many steps as there are nodes."});
constexpr Algorithm ring_all_gather =
    ring("ring-by-rank", Collective::multinode_broadcast, "N-1",
         {.first = "All nodes form one ring in the order of their ranks, and each sends its block to the next node.",
          .then = "In each further step every node passes on the block that it got last, until each has gone round.",
          .good = "Any shape and one port do, and each block comes to each node once; but there are as many steps as nodes but one: it is "
                  "the baseline."});

}  // namespace

extern const Entries entries{ring_reduce_scatter, ring_allreduce, ring_all_gather};

}  // namespace torus::reduction::ring
