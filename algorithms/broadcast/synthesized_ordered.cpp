#include "algorithms/broadcast/synthesized_ordered.hpp"

#include <algorithm>

#include "algorithms/broadcast/circuit/table_step.hpp"
#include "algorithms/broadcast/synthesis/ordered_synthesizer.hpp"
#include "algorithms/common/growth.hpp"
#include "algorithms/ordered_bound.hpp"

namespace torus::broadcast {
namespace {

constexpr NodeId max_nodes = NodeId{1} << 20U;
constexpr std::uint32_t most_steps_over = 2;  // that are searched

std::optional<Refusal> also_requires(const Machine& machine, const Request&) {
  if (machine.topology.nodes() <= max_nodes) return std::nullopt;
  return Refusal{Refusal::About::shape, machine.topology.text(),
                 "synthesized-ordered searches machines of up to " + std::to_string(max_nodes) + " nodes", "1024x1024"};
}

/// By counting: on a torus ceil(log_{2k+1} N); and what cells can take.
std::uint32_t least_steps(const Machine& machine, NodeId root) {
  const auto ports = static_cast<std::uint64_t>(machine.topology.max_ports());
  const auto first = std::min(ports, channels_of(machine.topology, root));
  return static_cast<std::uint32_t>(least_ordered_steps(machine, growth(senders(machine.topology, ports), first).size() - 1));
}

Plan plan(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  const NodeId root = request.sources.front();
  const std::uint32_t bound = topology.nodes() == 1 ? 0 : least_steps(machine, root);
  OrderedSynthesizer synthesizer(topology, root);
  std::vector<std::vector<Circuit>> steps = synthesizer.line_by_line();
  for (std::uint32_t count = bound; count < std::min<std::size_t>(bound + most_steps_over + 1, steps.size()); ++count) {
    if (auto found = synthesizer.broadcast_in(count)) steps = std::move(*found);  // the shortest: the loop ends
  }
  const std::size_t over = steps.size() - bound;

  CircuitSchedule schedule;
  for (const std::vector<Circuit>& messages : steps) schedule.add("matching", std::make_unique<TableStep>(topology, messages));
  Plan plan = schedule_plan(request, std::move(schedule), "the lower bound" + (over == 0 ? "" : "+" + std::to_string(over)));
  plan.notes = {{"lower bound", std::to_string(bound)}, {"matchings solved", std::to_string(synthesizer.matchings())}};
  return plan;
}

}  // namespace

const Algorithm synthesized_ordered{
    .name = "synthesized-ordered",
    .collective = Collective::broadcast,
    .source = "ours: balanced sets of nodes and matchings",
    .shapes = "torus or mesh, any sides, up to 2^20 nodes",
    .steps = "torus: the lower bound, at times 1 more; mesh: mostly at most 2 more",
    .native = {.switching = Switching::wormhole},
    .needs = {.shape = Requirements::Shape::rings_and_lines,
              .switching = Switching::wormhole,
              .ports = Requirements::all_ports,
              .ascending_routing = true},
    .also_requires = also_requires,
    .plan = plan,
};

}  // namespace torus::broadcast
