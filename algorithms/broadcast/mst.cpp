#include "algorithms/broadcast/mst.hpp"

#include <bit>

#include "algorithms/broadcast/whole_message.hpp"
#include "algorithms/common/integers.hpp"

namespace torus::broadcast {
namespace {

void send_over_bit(Node& self, NodeId bit) { self.send({leg_over_bit(self.topology(), self.rank(), bit)}, self.blocks()); }

Plan plan(const Machine& machine, const Request& request) {
  return whole_message_plan(request, ceil_log(2, machine.topology.nodes()), mst.steps,
                            [root = request.sources.front()](Node& self) { return mst_program(self, root); });
}

Plan plan_naive(const Machine& machine, const Request& request) {
  std::uint64_t messages = 0;  // on the busiest channel, summed over the steps: 1 + 2 + 4 + .. in each dimension
  for (const DimensionShape& dimension : machine.topology.shape()) messages += static_cast<std::uint64_t>(dimension.extent) - 1;
  Plan plan = whole_message_plan(request, ceil_log(2, machine.topology.nodes()), mst_naive.steps,
                                 [root = request.sources.front()](Node& self) { return mst_naive_program(self, root); });
  plan.channel_bytes = static_cast<double>(messages) * static_cast<double>(request.bytes);
  return plan;
}

}  // namespace

Leg leg_over_bit(const Topology& topology, NodeId node, NodeId bit) noexcept {
  Dimension d = 0;
  while (topology.stride(d) > bit) ++d;
  const auto hops = static_cast<std::int32_t>(bit / topology.stride(d));
  return {d, (node & bit) != 0 ? -hops : hops};
}

Program mst_program(Node& self, NodeId root) {
  const NodeId difference = self.rank() ^ root;
  if (difference != 0) co_await self.arrival();
  NodeId bit = difference != 0 ? difference & (~difference + 1) : self.topology().nodes();
  while ((bit >>= 1U) != 0) {
    send_over_bit(self, bit);
    co_await self.step();
  }
}

Program mst_naive_program(Node& self, NodeId root) {
  const NodeId difference = self.rank() ^ root;
  if (difference != 0) co_await self.arrival();
  NodeId bit = difference != 0 ? std::bit_floor(difference) << 1U : 1;
  while (bit < self.topology().nodes()) {
    send_over_bit(self, bit);
    bit <<= 1U;
    co_await self.step();
  }
}

const Algorithm mst{
    .name = "mst",
    .collective = Collective::broadcast,
    .source = "Barnett, Payne, van de Geijn & Watts, Conflict-Free Hypercube-Like Mesh Algorithm",
    .shapes = "mesh or torus, extents powers of 2, any k",
    .steps = "log2 N",
    .native = {.ports = 1},
    .needs = {.shape = Requirements::Shape::rings_and_lines,
              .powers_of_two = true,
              .switching = Switching::wormhole,
              .one_dimension_a_route = true},
    .plan = plan,
};

const Algorithm mst_naive{
    .name = "mst-naive",
    .collective = Collective::broadcast,
    .source = "Barnett, Payne, van de Geijn & Watts, Naive Hypercube-Like Mesh Algorithm",
    .shapes = "mesh or torus, extents powers of 2, any k",
    .steps = "log2 N",
    .native = {.contention = Contention::share, .ports = 1},
    .needs = {.shape = Requirements::Shape::rings_and_lines,
              .powers_of_two = true,
              .switching = Switching::wormhole,
              .shared_channels = true},
    .plan = plan_naive,
};

}  // namespace torus::broadcast
