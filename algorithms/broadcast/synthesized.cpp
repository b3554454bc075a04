#include "algorithms/broadcast/synthesized.hpp"

#include <algorithm>

#include <torus/error.hpp>

#include "algorithms/broadcast/circuit/table_step.hpp"
#include "algorithms/broadcast/synthesis/synthesizer.hpp"
#include "algorithms/common/hops.hpp"
#include "algorithms/common/refusal.hpp"

namespace torus::broadcast {
namespace {

constexpr NodeId most_nodes = NodeId{1} << 20U;
constexpr std::uint32_t most_steps_over = 3;

refusal::Refusal of_shape(const Machine& machine) {
  const Topology& topology = machine.topology;
  if (!topology.is_torus_or_mesh()) return "synthesized needs a torus or mesh, not " + topology.text() + "; 8x12 would do";
  if (topology.nodes() <= most_nodes) return std::nullopt;
  return "synthesized searches machines of up to " + std::to_string(most_nodes) + " nodes, not " + topology.text() + "; 1024x1024 would do";
}

std::optional<std::string> refuses(const Machine& machine, const Request& request) {
  return refusal::first_of(of_shape(machine), refusal::of_switching("synthesized", machine, Switching::circuit),
                           refusal::of_segments("synthesized", request));
}

Plan plan(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  Synthesizer synthesizer(topology, machine.ports, request.sources.front());
  const std::uint32_t bound = synthesizer.least_steps();
  std::optional<std::vector<std::vector<Circuit>>> found;
  std::uint32_t over = 0;
  for (; !found && over <= most_steps_over; ++over) found = synthesizer.broadcast_in(bound + over);
  --over;
  if (!found) throw RunError("synthesized found no broadcast on " + topology.text() + ": squeeze-expand and dimension-wise need no search");

  const auto schedule = std::make_shared<CircuitSchedule>();
  Plan plan;
  for (const std::vector<Circuit>& circuits : *found) {
    std::int64_t longest = 0;
    for (const Circuit& circuit : circuits) longest = std::max(longest, hops_of(topology, RouteView(circuit.route)));
    plan.route_hops = plan.route_hops.value_or(0) + static_cast<std::uint64_t>(longest);
    schedule->add("flow", std::make_unique<TableStep>(topology, circuits));
  }
  plan.steps = schedule->steps();
  const std::string by_counting =
      topology.is_torus() ? "ceil(log_" + std::to_string(machine.ports + 1) + " N)" : "least by counting channels";
  plan.formula = by_counting + (over == 0 ? "" : "+" + std::to_string(over));
  plan.channel_bytes = schedule->channel_bytes(request.bytes);
  plan.table_bytes = schedule->table_bytes();
  plan.notes = {{"lower bound", std::to_string(bound)}, {"flows solved", std::to_string(synthesizer.flows())}};
  plan.start = [schedule](Node& self) { return follow_schedule(self, *schedule); };
  return plan;
}

}  // namespace

const Algorithm synthesized{
    .name = "synthesized",
    .collective = Collective::broadcast,
    .source = "ours: balanced sets of nodes and maximum flows",
    .shapes = "torus or mesh, any sides, up to 2^20 nodes",
    .ports = "any",
    .steps = "torus: ceil(log_{ports+1} N), the lower bound; mesh: the bound by counting channels, at times 1 more",
    .native = {.switching = Switching::circuit},
    .refuses = refuses,
    .plan = plan,
};

}  // namespace torus::broadcast
