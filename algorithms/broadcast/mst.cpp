#include "algorithms/broadcast/mst.hpp"

#include "algorithms/broadcast/hypercube_bits.hpp"
#include "algorithms/broadcast/one_port_mesh.hpp"
#include "algorithms/common/integers.hpp"

namespace torus::broadcast {
namespace {

refusal::Refusal refuses(const Machine& machine, const Request& request) {
  return refusal::first_of(refuses_wiring("mst", machine), refuses_extents("mst", machine), refusal::of_switching_along("mst", machine),
                           refusal::of_segments("mst", request));
}

Plan plan(const Machine& machine, const Request& request) {
  Plan plan;
  plan.start = [root = request.sources.front()](Node& self) { return mst_program(self, root); };
  plan.steps = ceil_log(2, machine.topology.nodes());
  plan.formula = "log2 N";
  plan.route_hops = hops_over_all_bits(machine.topology);
  plan.channel_bytes = static_cast<double>(plan.steps) * static_cast<double>(request.bytes);
  return plan;
}

}  // namespace

Program mst_program(Node& self, NodeId root) {
  const NodeId difference = self.rank() ^ root;
  if (difference != 0) co_await self.arrival();
  NodeId bit = difference != 0 ? difference & (~difference + 1) : self.topology().nodes();
  while ((bit >>= 1U) != 0) {
    send_over_bit(self, bit);
    co_await self.step();
  }
}

const Algorithm mst{
    .name = "mst",
    .collective = Collective::broadcast,
    .source = "Barnett, Payne, van de Geijn & Watts, Conflict-Free Hypercube-Like Mesh Algorithm",
    .shapes = "mesh or torus, extents powers of 2, any k",
    .ports = "one",
    .steps = "log2 N",
    .native = one_port_wormhole,
    .refuses = refuses,
    .plan = plan,
};

}  // namespace torus::broadcast
