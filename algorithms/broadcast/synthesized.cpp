#include "algorithms/broadcast/synthesized.hpp"

#include <torus/error.hpp>

#include "algorithms/broadcast/circuit/table_step.hpp"
#include "algorithms/broadcast/synthesis/search_limit.hpp"
#include "algorithms/broadcast/synthesis/synthesizer.hpp"

namespace torus::broadcast {
namespace {

constexpr std::uint32_t max_steps_over = 3;

std::optional<Refusal> also_requires(const Machine& machine, const Request&) {
  return too_large_to_search("synthesized", machine.topology);
}

Plan plan(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  Synthesizer synthesizer(topology, machine.ports, request.sources.front());
  const std::uint32_t bound = synthesizer.least_steps();
  std::optional<std::vector<std::vector<Circuit>>> found;
  for (std::uint32_t more = 0; !found && more <= max_steps_over; ++more) found = synthesizer.broadcast_in(bound + more);
  if (!found && !topology.whole()) found = synthesizer.greedy_broadcast();
  if (!found) throw RunError("synthesized found no broadcast on " + topology.text() + ": squeeze-expand and dimension-wise need no search");
  // Where a step more than the bound was allowed, the search may have left one empty.
  std::erase_if(*found, [](const std::vector<Circuit>& step) { return step.empty(); });
  const std::size_t over = found->size() - bound;

  const std::string by_counting =
      is_torus(topology) && topology.whole() ? "ceil(log_" + std::to_string(machine.ports + 1) + " N)" : "least by counting channels";
  Plan plan = schedule_plan(request, table_schedule(topology, "flow", *found), by_counting + (over == 0 ? "" : "+" + std::to_string(over)));
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
    .needs = {.shape = Requirements::Shape::rings_and_lines,
              .switching = Switching::circuit,
              .lives_with_holes = true,
              .takes_twists = true},
    .also_requires = also_requires,
    .plan = plan,
};

}  // namespace torus::broadcast
