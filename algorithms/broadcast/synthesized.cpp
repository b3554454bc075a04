/// Broadcast in the minimum number of steps, by search instead of by pattern: every step is a maximum flow between sets of informed nodes
/// that the synthesizer chooses.
///
/// Machine  circuit, any ports, any torus, mesh or mix of both up to 2^20 nodes.
/// Steps    Torus: ceil(log_{ports+1} N), the bound by counting. No torus is known that needs more; should the search fail on one, it takes
///          one step more and the plan says so. Mesh: the same bound with the channels that border nodes have, or a step more: some small
///          meshes, 5x5 with 4 ports among them, cannot meet the bound. A line: the minimum, without search.
///          With dead links and nodes the bound counts the living channels; where the search fails, flows from the root outwards, step by
///          step, always succeed.
/// Set-up   Usually one flow a step: a few seconds for 2^20 nodes, well under one for 2^16. Thin tori that are almost full (2x4x300 with
///          6 ports) take some thousand flows, and so do meshes that cannot meet the bound or hardly can. A search ends after a counted
///          effort, about a second's (Synthesizer::most_looks); then the plan takes the step more.
/// Header   one word, the root's rank. None in the last step.
/// Errors   plan() throws RunError if three steps above the bound are not enough; no machine is known that needs more than one.
/// Memory   O(1) a node beside the payload. A shared table of all circuits relative to the root, O(N) a step: a global schedule instead of
///          node-local rules. Every node can compute its rows, since the table follows from shape and ports (on a mesh, also the root).
/// Source   ours. Wang, Tseng, Ni & Sheu, Circuit-switched broadcasting, ask the question and give steps by pattern.

#include <torus/algorithm.hpp>
#include <torus/error.hpp>

#include "algorithms/broadcast/circuit/schedule.hpp"
#include "algorithms/broadcast/synthesis/search.hpp"
#include "algorithms/broadcast/synthesis/synthesizer.hpp"
#include "algorithms/entries.hpp"

namespace torus::broadcast::synthesized {

namespace {

constexpr std::uint32_t max_steps_over = 3;

std::optional<Refusal> also_requires(const Machine& machine, const Request&) {
  return too_large_to_search("synthesized", machine.topology);
}

struct Found {
  std::shared_ptr<const CircuitSchedule> schedule;
  std::uint64_t bound;
  std::uint64_t flows;
};

Found search(const Topology& topology, int ports, NodeId root) {
  Synthesizer synthesizer(topology, ports, root);
  const std::uint32_t bound = synthesizer.least_steps();
  std::optional<std::vector<std::vector<Circuit>>> found;
  for (std::uint32_t more = 0; !found && more <= max_steps_over; ++more) found = synthesizer.broadcast_in(bound + more);
  if (!found && !topology.whole()) found = synthesizer.greedy_broadcast();
  if (!found) throw RunError("synthesized found no broadcast on " + topology.text() + ": squeeze-expand and dimension-wise need no search");
  // Where a step more than the bound was allowed, the search may have left one empty.
  std::erase_if(*found, [](const std::vector<Circuit>& step) { return step.empty(); });
  return {table_schedule(topology, "flow", *found), bound, synthesizer.flows()};
}

Plan plan(const Machine& machine, const Request& request, PlanCache& cache) {
  const Topology& topology = machine.topology;
  const auto found = cache.of<search>(topology, machine.ports, request.sources.front());
  const std::uint64_t over = found->schedule->steps() - found->bound;
  const std::string by_counting =
      is_torus(topology) && topology.whole() ? "ceil(log_" + std::to_string(machine.ports + 1) + " N)" : "least by counting channels";
  Plan plan = schedule_plan(request, found->schedule, by_counting + (over == 0 ? "" : "+" + std::to_string(over)));
  plan.notes = {{"lower bound", std::to_string(found->bound)}, {"flows solved", std::to_string(found->flows)}};
  return plan;
}

const Algorithm synthesized{
    .name = "synthesized",
    .collective = Collective::broadcast,
    .source = "ours: balanced sets of nodes and maximum flows",
    .shapes = "torus or mesh, any sides, up to 2^20 nodes",
    .steps = "torus: ceil(log_{ports+1} N), the lower bound; mesh: the bound by counting channels, at times 1 more",
    .idea = {.first = "Before anything moves, a search chooses how the set of informed nodes shall grow, as evenly spread and as fast as "
                      "the ports allow.",
             .then = "For each step a maximum flow from the nodes that are informed to those that come next gives circuits that share no "
                     "channel, and the messages follow them.",
             .good = "It meets the bound by counting on every torus that is known, whatever its sides and ports, where a pattern by hand "
                     "takes a step or more above it."},
    .native = {.switching = Switching::circuit},
    .needs = {.shape = Requirements::Shape::rings_and_lines,
              .switching = Switching::circuit,
              .lives_with_holes = true,
              .takes_twists = true},
    .also_requires = also_requires,
    .plan = plan,
    .offer = [](const Machine& machine,
                const Request& request) { return Offer{.step_bytes = request.bytes, .slow = machine.topology.nodes() > 1U << 17U}; },
};

}  // namespace

extern const Entries entries{synthesized};

}  // namespace torus::broadcast::synthesized
