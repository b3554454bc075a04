#include "algorithms/broadcast/synthesized.hpp"

#include <torus/error.hpp>

#include "algorithms/broadcast/circuit/table_step.hpp"
#include "algorithms/broadcast/synthesis/synthesizer.hpp"

namespace torus::broadcast {
namespace {

constexpr NodeId max_nodes = NodeId{1} << 20U;
constexpr std::uint32_t max_steps_over = 3;

std::optional<Refusal> also_requires(const Machine& machine, const Request&) {
  if (machine.topology.nodes() <= max_nodes) return std::nullopt;
  return Refusal{Refusal::About::shape, machine.topology.text(),
                 "synthesized searches machines of up to " + std::to_string(max_nodes) + " nodes", "1024x1024"};
}

Plan plan(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  Synthesizer synthesizer(topology, machine.ports, request.sources.front());
  const std::uint32_t bound = synthesizer.least_steps();
  std::optional<std::vector<std::vector<Circuit>>> found;
  std::uint32_t over = 0;
  for (; !found && over <= max_steps_over; ++over) found = synthesizer.broadcast_in(bound + over);
  if (!found && !topology.whole()) {
    found = synthesizer.greedy_broadcast();
    over = static_cast<std::uint32_t>(found->size()) - bound + 1;
  }
  --over;
  if (!found) throw RunError("synthesized found no broadcast on " + topology.text() + ": squeeze-expand and dimension-wise need no search");

  CircuitSchedule schedule;
  for (const std::vector<Circuit>& circuits : *found) schedule.add("flow", std::make_unique<TableStep>(topology, circuits));
  const std::string by_counting =
      topology.is_torus() && topology.whole() ? "ceil(log_" + std::to_string(machine.ports + 1) + " N)" : "least by counting channels";
  Plan plan = schedule_plan(request, std::move(schedule), by_counting + (over == 0 ? "" : "+" + std::to_string(over)));
  plan.notes = {{"lower bound", std::to_string(bound)}, {"flows solved", std::to_string(synthesizer.flows())}};
  return plan;
}

}  // namespace

const Algorithm synthesized{
    .name = "synthesized",
    .collective = Collective::broadcast,
    .source = "ours: balanced sets of nodes and maximum flows",
    .shapes = "torus or mesh, any sides, up to 2^20 nodes",
    .steps = "torus: ceil(log_{ports+1} N), the lower bound; mesh: the bound by counting channels, at times 1 more",
    .native = {.switching = Switching::circuit},
    .needs = {.shape = Requirements::Shape::rings_and_lines, .switching = Switching::circuit, .lives_with_holes = true},
    .also_requires = also_requires,
    .plan = plan,
};

}  // namespace torus::broadcast
