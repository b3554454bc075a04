// SPDX-License-Identifier: MIT
#include "algorithms/broadcast/synthesized.hpp"

#include "algorithms/broadcast/circuit/table_step.hpp"
#include "algorithms/broadcast/synthesis/synthesizer.hpp"
#include "runtime/error.hpp"

namespace torus::broadcast {
namespace {

constexpr NodeId most_nodes = NodeId{1} << 20U;
constexpr std::uint32_t most_steps_over = 3;

std::optional<std::string> refuses(const Machine& machine, const Request&) {
  const Topology& topology = machine.topology;
  if (!topology.is_torus()) return topology.text() + " is not a torus: synthesized goes round rings, 8x12 would do";
  if (!allows(machine.switching, Switching::circuit)) {
    return "synthesized turns corners at will: --switching " + std::string(name(machine.switching)) + " is too strict, circuit would do";
  }
  if (topology.nodes() > most_nodes) {
    return topology.text() + " has " + std::to_string(topology.nodes()) + " nodes: synthesized searches tori up to " +
           std::to_string(most_nodes) + ", 1024x1024 would do";
  }
  return std::nullopt;
}

Plan plan(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  const std::uint32_t bound = ceil_log(static_cast<std::uint64_t>(machine.ports) + 1, topology.nodes());
  Synthesizer synthesizer(topology, machine.ports);
  std::optional<std::vector<std::vector<Circuit>>> found;
  std::uint32_t over = 0;
  for (; !found && over <= most_steps_over; ++over) found = synthesizer.broadcast_in(bound + over);
  --over;
  if (!found) throw RunError("synthesized found no broadcast on " + topology.text() + ": squeeze-expand and dimension-wise need no search");

  const auto schedule = std::make_shared<CircuitSchedule>();
  for (const std::vector<Circuit>& circuits : *found) schedule->add("flow", std::make_unique<TableStep>(topology, circuits));
  Plan plan;
  plan.steps = schedule->steps();
  plan.formula = "ceil(log_" + std::to_string(machine.ports + 1) + " N)" + (over == 0 ? "" : "+" + std::to_string(over));
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
    .shapes = "any torus up to 2^20 nodes",
    .ports = "any",
    .steps = "ceil(log_{ports+1} N), the lower bound",
    .native = {.switching = Switching::circuit},
    .refuses = refuses,
    .plan = plan,
};

}  // namespace torus::broadcast
