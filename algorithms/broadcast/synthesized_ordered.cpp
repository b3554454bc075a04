/// Broadcast in dimension order in as few steps as a search finds: how many nodes of each line of the last dimension are informed
/// before each step, which, and by a matching who informs whom.
///
/// Machine  wormhole in ascending dimension order, any ports, any torus, mesh or mix of both up to 2^20 nodes.
/// Steps    B or one step more on every torus tried, where B is ceil(log_{ports+1} N) or what bounds/broadcast_bounds.hpp proves beyond it.
///          B on 1,651 of the 1,681 2D tori with sides 2 to 42 and all ports. Meshes: mostly B to B+2. Where no search succeeds, as many as
///          along one dimension after the other.
/// Set-up   Where the first choices succeed, as on most machines, one matching a step: 1 ms for 64x64, 60 ms for 32x32x32. Else a search
///          ends after a counted effort, about a second's (OrderedSynthesizer::most_looks), and the next one has a step more.
/// Header   one word, the root's rank. None in the last step.
/// Memory   as for synthesized: a shared table of all routes relative to the root, O(N) a step.
/// Source   ours. Wang & Tseng and Tsai & McKinley give steps by pattern for square tori: ceil(log_5 n) times two, and more.

#include <algorithm>

#include <torus/algorithm.hpp>
#include <torus/bounds.hpp>

#include "algorithms/broadcast/circuit/schedule.hpp"
#include "algorithms/broadcast/synthesis/ordered_synthesizer.hpp"
#include "algorithms/broadcast/synthesis/search.hpp"
#include "algorithms/common/shapes.hpp"
#include "algorithms/entries.hpp"

namespace torus::broadcast::synthesized_ordered {

namespace {

constexpr std::uint64_t most_steps_over = 2;  // that are searched

std::optional<Refusal> also_requires(const Machine& machine, const Request&) {
  return too_large_to_search("synthesized-ordered", machine.topology);
}

struct Found {
  std::shared_ptr<const CircuitSchedule> schedule;
  std::uint64_t matchings;
};

/// A broadcast in `bound` steps, or in as few more as it finds. Where ports are few, a port less is tried too: it leaves other choices.
Found search(const Topology& topology, int ports, NodeId root, std::uint64_t bound) {
  std::vector<OrderedSynthesizer> synthesizers;
  const std::size_t channels = 2 * linked_dimensions(topology).size();
  synthesizers.emplace_back(topology, ports, root);
  if (ports > 1 && static_cast<std::size_t>(ports) < channels) synthesizers.emplace_back(topology, ports - 1, root);
  std::optional<std::vector<std::vector<Circuit>>> found;
  const std::uint64_t enough = std::min(bound + most_steps_over + 1, synthesizers.front().line_steps());  // lines alone take no more
  std::uint64_t matchings = 0;
  for (std::uint64_t steps = bound; !found && steps < enough; ++steps) {
    for (OrderedSynthesizer& synthesizer : synthesizers) {
      if (!found) found = synthesizer.broadcast_in(static_cast<std::uint32_t>(steps));
    }
  }
  if (!found) found = synthesizers.front().line_by_line();
  for (const OrderedSynthesizer& synthesizer : synthesizers) matchings += synthesizer.matchings();
  return {table_schedule(topology, "matching", *found), matchings};
}

Plan plan(const Machine& machine, const Request& request, PlanCache& cache) {
  Machine alone = machine;  // no channel is shared here, also where the machine allows it
  alone.contention = Contention::forbid;
  const std::uint64_t bound = lower_bounds(alone, request).steps;
  const auto found = cache.of<search>(machine.topology, machine.ports, request.sources.front(), bound);
  const std::uint64_t over = found->schedule->steps() - bound;

  Plan plan = schedule_plan(request, found->schedule, "the lower bound" + (over == 0 ? "" : "+" + std::to_string(over)));
  plan.notes = {{"lower bound", std::to_string(bound)}, {"matchings solved", std::to_string(found->matchings)}};
  return plan;
}

const Algorithm synthesized_ordered{
    .name = "synthesized-ordered",
    .collective = Collective::broadcast,
    .source = "ours: balanced sets of nodes and matchings",
    .shapes = "torus or mesh, any sides, up to 2^20 nodes",
    .steps = "torus: the lower bound, at times 1 more; mesh: mostly at most 2 more",
    .idea = {.first = "Before anything moves, a search chooses how many nodes of each line of the last dimension shall be informed after "
                      "each step, and which ones.",
             .then = "For each step a matching says which informed node sends to which new one, by worms that keep the order of the "
                     "dimensions and share no channel.",
             .good = "It takes as few steps as the lower bound on most tori, or one more, of any sides, where patterns by hand are made "
                     "for square tori alone."},
    .native = {.switching = Switching::wormhole},
    .needs = {.shape = Requirements::Shape::rings_and_lines, .switching = Switching::wormhole, .ascending_routing = true},
    .also_requires = also_requires,
    .plan = plan,
    .offer = [](const Machine& machine,
                const Request& request) { return Offer{.step_bytes = request.bytes, .slow = machine.topology.nodes() > 1U << 17U}; },
};

}  // namespace

extern const Entries entries{synthesized_ordered};

}  // namespace torus::broadcast::synthesized_ordered
