#include "algorithms/total_exchange/a2.hpp"

#include "algorithms/total_exchange/one_port_line.hpp"

namespace torus::exchange {
namespace {

/// The blocks of one exchange along dimension d: those whose destination has the rank `before` in the dimensions before d and whose origin
/// has the rank `behind` in those behind it. They are still at their origin's place in the former and already at their destination's in the
/// latter.
LineBlocks blocks_of(const Node& self, Dimension d, NodeId before, NodeId behind) {
  const Topology& topology = self.topology();
  const BlockId nodes = topology.nodes();
  const NodeId stride = topology.stride(d);
  const NodeId slab = static_cast<NodeId>(topology.extent(d)) * stride;
  const NodeId own_before = self.rank() / slab;
  const NodeId own_behind = self.rank() % stride;
  return {.dimension = d,
          .own = topology.coordinate(self.rank(), d),
          .first = (BlockId{own_before} * slab + behind) * nodes + BlockId{before} * slab + own_behind,
          .of_next = stride * nodes,
          .for_next = stride};
}

/// Coordinates before d, all together.
NodeId choices_before(const Topology& topology, Dimension d) {
  return topology.nodes() / (static_cast<NodeId>(topology.extent(d)) * topology.stride(d));
}

Plan plan(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  Plan plan;
  plan.start = [](Node& self) { return a2_program(self); };
  for (const DimensionShape& dimension : topology.shape()) {
    plan.steps += topology.nodes() / static_cast<std::uint64_t>(dimension.extent) * one_port_steps(dimension.wiring, dimension.extent);
  }
  plan.formula = "sum (N/n_i) T_i";
  plan.route_hops = plan.steps;
  plan.channel_bytes = static_cast<double>(plan.steps) * static_cast<double>(request.bytes);
  return plan;
}

}  // namespace

Program a2_program(Node& self) {
  for (Dimension d = self.dimensions() - 1; d >= 0; --d) {
    if (self.extent(d) == 1) continue;
    for (NodeId before = 0; before < choices_before(self.topology(), d); ++before) {
      for (NodeId behind = 0; behind < self.topology().stride(d); ++behind) {
        const LineBlocks blocks = blocks_of(self, d, before, behind);
        co_await exchange_along(self, blocks);
      }
    }
  }
}

const Algorithm a2{
    .name = "a2",
    .collective = Collective::total_exchange,
    .source = "Dimakopoulos & Dimopoulos, total exchange in multidimensional networks, algorithm A2",
    .shapes = "any product of rings, lines and complete graphs",
    .steps = "sum (N/n_i) T_i; T_i: ring floor(n^2/4), line floor((n^2-1)/2), complete n-1",
    .native = {.switching = Switching::packet, .ports = 1},
    .plan = plan,
};

}  // namespace torus::exchange
