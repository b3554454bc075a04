#include "algorithms/broadcast/synthesized_ordered.hpp"

#include <algorithm>

#include <torus/bounds.hpp>

#include "algorithms/broadcast/circuit/table_step.hpp"
#include "algorithms/broadcast/synthesis/ordered_synthesizer.hpp"
#include "algorithms/broadcast/synthesis/search_limit.hpp"

namespace torus::broadcast {
namespace {

constexpr std::uint64_t most_steps_over = 2;  // that are searched

std::optional<Refusal> also_requires(const Machine& machine, const Request&) {
  return too_large_to_search("synthesized-ordered", machine.topology);
}

Plan plan(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  Machine alone = machine;  // no channel is shared here, also where the machine allows it
  alone.contention = Contention::forbid;
  const std::uint64_t bound = lower_bounds(alone, request).steps;
  OrderedSynthesizer synthesizer(topology, request.sources.front());
  std::optional<std::vector<std::vector<Circuit>>> found;
  const std::uint64_t enough = std::min(bound + most_steps_over + 1, synthesizer.line_steps());  // lines alone take no more
  for (std::uint64_t steps = bound; !found && steps < enough; ++steps) found = synthesizer.broadcast_in(static_cast<std::uint32_t>(steps));
  if (!found) found = synthesizer.line_by_line();
  const std::uint64_t over = found->size() - bound;

  Plan plan = schedule_plan(request, table_schedule(topology, "matching", *found),
                            "the lower bound" + (over == 0 ? "" : "+" + std::to_string(over)));
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
