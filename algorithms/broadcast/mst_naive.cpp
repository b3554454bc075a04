#include "algorithms/broadcast/mst_naive.hpp"

#include <bit>

#include "algorithms/broadcast/hypercube_bits.hpp"
#include "algorithms/broadcast/one_port_mesh.hpp"
#include "algorithms/common/integers.hpp"

namespace torus::broadcast {
namespace {

refusal::Refusal refuses_contention(const Machine& machine) {
  if (machine.contention == Contention::share) return std::nullopt;
  return "mst-naive lets messages meet on a channel: --contention " + std::string(name(machine.contention)) +
         " makes that a violation, --contention share would do";
}

refusal::Refusal refuses(const Machine& machine, const Request& request) {
  return refusal::first_of(refuses_wiring("mst-naive", machine), refuses_extents("mst-naive", machine),
                           refusal::of_switching("mst-naive", machine, Switching::wormhole), refuses_contention(machine),
                           refusal::of_segments("mst-naive", request));
}

Plan plan(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  Plan plan;
  plan.start = [root = request.sources.front()](Node& self) { return mst_naive_program(self, root); };
  plan.steps = ceil_log(2, topology.nodes());
  plan.formula = "log2 N";
  plan.route_hops = hops_over_all_bits(topology);
  // On the busiest channel, summed over the steps: as many as a route has hops, since the senders stand one behind another.
  const std::uint64_t messages = *plan.route_hops;
  plan.channel_bytes = static_cast<double>(messages) * static_cast<double>(request.bytes);
  return plan;
}

}  // namespace

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

const Algorithm mst_naive{
    .name = "mst-naive",
    .collective = Collective::broadcast,
    .source = "Barnett, Payne, van de Geijn & Watts, Naive Hypercube-Like Mesh Algorithm",
    .shapes = "mesh or torus, extents powers of 2, any k",
    .ports = "one",
    .steps = "log2 N",
    .native = {.switching = Switching::wormhole, .contention = Contention::share, .ports = 1},
    .refuses = refuses,
    .plan = plan,
};

}  // namespace torus::broadcast
