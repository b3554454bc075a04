/// Reduce, all-reduce, scatter and gather along the tree of a broadcast, a reduce also along those of the segments of one.
///
/// A reduce is the broadcast backwards (torus/schedule.hpp): a node combines what arrives from the nodes that it would inform, and gives
/// the sum to the node that would inform it. Of what comes to a node more than once only the first arrival counts: these form a tree. An
/// all-reduce is a reduce and a broadcast. In a scatter the message to a node carries the blocks of all nodes behind it; a gather is the
/// scatter backwards. Every node knows the tree: it can rehearse the broadcast, as plan() does once for all of them.
///
/// Machine  that of the broadcast. Wormhole: if routes have several legs, the broadcast must also allow the opposite order of dimensions.
/// Memory   a table of one line a node.   Header  none.
/// Steps    those of the broadcast, for an all-reduce twice as many.
/// Bytes    the vector, or a segment, in each step. Scatter, gather: counted from the table; few where the trees are balanced.
/// Choice   `along` names the broadcast, `variant` one of its variants. Default: the one of least model time, hops aside, among those
///          that apply.
/// Source   the broadcasts'; that a reduction is a broadcast backwards is folklore.

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <torus/algorithm.hpp>
#include <torus/bounds.hpp>
#include <torus/catalogue.hpp>
#include <torus/schedule.hpp>

#include "algorithms/common/parameters.hpp"
#include "algorithms/common/shapes.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/reduction/played_schedule.hpp"
#include "algorithms/schedule/route_loads.hpp"

namespace torus::reduction::tree_of_broadcast {
namespace {

constexpr std::array<std::string_view, 17> broadcasts{"dimension-wise",
                                                      "wang-tseng",
                                                      "tsai-mckinley",  // wormhole
                                                      "mst",
                                                      "separate-dimensions",
                                                      "rs-bcast",  // and one port
                                                      "span",
                                                      "squeeze-expand",
                                                      "peters-syska",
                                                      "park-choi",
                                                      "synthesized",  // circuit
                                                      "matchings",
                                                      "swath",
                                                      "strip",
                                                      "edf",
                                                      "pipeline",
                                                      "scatter-collect"};  // in segments
constexpr std::array<std::string_view, 8> variants{"plain", "trimmed", "bine", "two-line", "paper2d", "pairs", "plan-a", "plan-b"};
constexpr std::array parameters{Parameter{"along", "broadcast whose tree a reduction, a scatter or a gather takes", broadcasts},
                                parameter::variant(variants)};

constexpr std::size_t of_any_graph = 12;  // so many, the last of them "matchings"
constexpr NodeId most_nodes_in_segments = 1024;
constexpr NodeId most_sends_in_segments = NodeId{1} << 18U;  // lines of the table

/// The broadcasts that do for a collective. A reduce may go in segments; an all-reduce if they are the same up and down.
std::span<const std::string_view> broadcasts_for(Collective collective) {
  return {broadcasts.data(), collective == Collective::reduce ? broadcasts.size() : of_any_graph};
}

bool goes_up(Collective collective) { return collective != Collective::scatter; }
bool goes_down(Collective collective) { return collective == Collective::allreduce || collective == Collective::scatter; }

/// The root of the tree; that of an all-reduce is the middle of the lines.
NodeId root_of(const Machine& machine, const Request& request) {
  if (request.collective != Collective::allreduce) return request.sources.front();
  const Topology& topology = machine.topology;
  Coordinates middle(static_cast<std::size_t>(topology.dimensions()), 0);
  for (Dimension d = 0; d < topology.dimensions(); ++d) {
    if (topology.wiring(d) == Wiring::line) middle[static_cast<std::size_t>(d)] = (topology.extent(d) - 1) / 2;
  }
  const NodeId root = topology.rank(middle);
  return topology.living(root) ? root : first_living(topology);
}

Request broadcast_of(const Algorithm& broadcast, const Machine& machine, const Request& request) {
  Request out;
  out.sources = {root_of(machine, request)};
  out.bytes = request.bytes;
  out.parameters = request.parameters;
  out.parameters.clear("along");
  if (!facts_of(request.collective).combines && broadcast.reads("segments")) out.parameters.set("segments", 1);
  return out;
}

/// The plan of a broadcast, in no more segments than the table has lines for.
Plan plan_broadcast(const Algorithm& broadcast, const Machine& machine, const Request& request, PlanCache& cache) {
  Request asked = broadcast_of(broadcast, machine, request);
  Plan planned = broadcast.plan(machine, asked, cache);
  const std::uint32_t most = std::max<std::uint32_t>(1, most_sends_in_segments / machine.topology.nodes());
  if (planned.segments <= most || !broadcast.reads("segments")) return planned;
  asked.parameters.set("segments", most);
  return broadcast.plan(machine, asked, cache);
}

/// The machine on which a broadcast is planned that runs backwards on this one. Single hops have no order of dimensions.
Machine mirrored(const Algorithm& broadcast, const Machine& machine) {
  return broadcast.name == "matchings" ? machine : Schedule::mirrored(machine);
}

/// Why the tree of a broadcast does not do.
std::optional<Refusal> refuses_along(const Algorithm& broadcast, const Machine& machine, const Request& request) {
  const auto usable = broadcasts_for(request.collective);
  if (std::ranges::find(usable, broadcast.name) == usable.end()) {
    return Refusal{Refusal::About::parameter, std::string(broadcast.name), "it takes the tree of a whole message", "", "along"};
  }
  const auto few = [](const Topology& t) { return t.nodes() <= most_nodes_in_segments; };
  if (std::ranges::find(broadcasts, broadcast.name) - broadcasts.begin() >= std::ptrdiff_t{of_any_graph} && !few(machine.topology)) {
    return Refusal{Refusal::About::shape, machine.topology.text(),
                   "a broadcast in segments runs backwards on at most " + std::to_string(most_nodes_in_segments) + " nodes",
                   smaller(machine.topology, few).text()};
  }
  const auto refuses_on = [&](const Machine& m) { return refuses(broadcast, m, broadcast_of(broadcast, m, request)); };
  if (goes_down(request.collective)) {
    if (auto why = refuses_on(machine)) return why;
  }
  if (!goes_up(request.collective)) return std::nullopt;
  return unmirrored(refuses_on(mirrored(broadcast, machine)));
}

const Algorithm& broadcast_called(std::string_view name) { return *find_algorithm(Collective::broadcast, name); }

/// Without `along`, where no broadcast applies: the reason of the first; of the first that lives with holes and twists, if the machine has
/// some.
std::optional<Refusal> refuses_tree(const Machine& machine, const Request& request) {
  const auto refused = [&](std::string_view name) { return refuses_along(broadcast_called(name), machine, request); };
  if (const auto along = request.parameters.word("along"); !along.empty()) return refused(along);
  const auto applies = [&](std::string_view name) { return !refused(name); };
  if (std::ranges::any_of(broadcasts_for(request.collective), applies)) return std::nullopt;
  const auto lives = [&](std::string_view name) {
    const Requirements& needs = broadcast_called(name).needs;
    return (machine.topology.whole() || needs.lives_with_holes) && (!machine.topology.twisted() || needs.takes_twists);
  };
  return refused(*std::ranges::find_if(broadcasts_for(request.collective), lives));
}

/// The broadcast of blocks 0, 1, .., or the scatter.
Schedule tree(const Algorithm& broadcast, const Plan& planned, const Machine& machine, const Request& request) {
  const Placement placement = placement_of(machine, broadcast_of(broadcast, machine, request), planned);
  const Schedule table(Rehearsal(machine, placement, planned.start), placement);
  if (facts_of(request.collective).rooted() && !facts_of(request.collective).combines) return table.bundled();
  return table.renumbered([first = BlockId{root_of(machine, request)} * planned.segments](BlockId id) { return id - first; });
}

/// The way up, the way down, or both, and the plan of the broadcast.
std::pair<Schedule, Plan> ways(const Algorithm& broadcast, const Machine& machine, const Request& request, PlanCache& cache) {
  const auto planned_for = [&](const Machine& m) { return plan_broadcast(broadcast, m, request, cache); };
  const bool up = goes_up(request.collective), down = goes_down(request.collective), combines = facts_of(request.collective).combines;
  const Machine first = up ? mirrored(broadcast, machine) : machine;
  const Plan planned = planned_for(first);
  const Schedule table = tree(broadcast, planned, first, request);
  Schedule out(machine.topology.nodes());
  if (up) {
    out = table.backwards(machine.topology);
    out.name_phase(combines ? "reduce" : "gather");
  }
  if (!down) return {out, planned};
  Schedule there = first.routing != machine.routing ? tree(broadcast, planned_for(machine), machine, request) : table;
  there.name_phase(combines ? "broadcast" : "scatter");
  out.merge(there, out.steps());
  return {out, planned};
}

const Algorithm& chosen_broadcast(const Machine& machine, const Request& request, PlanCache& cache) {
  if (const auto along = request.parameters.word("along"); !along.empty()) return broadcast_called(along);
  // Times of very long messages round to the same value. Fewer steps decide then, as they do for shorter messages.
  const auto time = [&](std::string_view name) -> std::optional<std::pair<double, std::uint64_t>> {
    const Algorithm& broadcast = broadcast_called(name);
    if (refuses_along(broadcast, machine, request)) return std::nullopt;
    const Machine first = goes_up(request.collective) ? mirrored(broadcast, machine) : machine;
    const Plan plan = plan_broadcast(broadcast, first, request, cache);
    return std::pair(plan.model_time_s(machine.cost), plan.steps);
  };
  return broadcast_called(*cheapest(broadcasts_for(request.collective), time));
}

Plan plan(const Machine& machine, const Request& request, PlanCache& cache) {
  const Algorithm& broadcast = chosen_broadcast(machine, request, cache);
  auto [sends, planned] = ways(broadcast, machine, request, cache);
  Plan plan;
  plan.segments = planned.segments;
  plan.formula = request.collective == Collective::allreduce ? "2 (" + planned.formula + ")" : planned.formula;
  play(plan, machine, request, std::make_shared<const Schedule>(std::move(sends)));
  plan.notes = {{"along", std::string(broadcast.name)}};
  std::ranges::copy_if(planned.notes, std::back_inserter(plan.notes),
                       [](const auto& note) { return note.first == "variant" || note.first == "segments"; });
  if (request.collective == Collective::allreduce) plan.notes.emplace_back("root", std::to_string(root_of(machine, request)));
  return plan;
}

/// Twice the bound of a broadcast from the root, where it goes up and down; nothing where that takes long to find.
Offer offer(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  if (!goes_up(request.collective) || !goes_down(request.collective) || !topology.whole() || topology.has_slow_links()) return {};
  Request broadcast;
  broadcast.sources = {root_of(machine, request)};
  return {.steps = lower_bounds(machine, broadcast).steps + lower_bounds(Schedule::mirrored(machine), broadcast).steps};
}

Bytes planning_bytes(const Machine& machine) {
  constexpr Bytes line = 6 * (sizeof(Schedule::Send) + 2 * sizeof(Leg));
  Bytes broadcast = 0;  // one after the other
  for (const std::string_view name : broadcasts) {
    if (const auto bytes = broadcast_called(name).planning_bytes; bytes != nullptr) broadcast = std::max(broadcast, bytes(machine));
  }
  const NodeId nodes = machine.topology.nodes(), lines = nodes <= most_nodes_in_segments ? most_sends_in_segments : nodes;
  return Rehearsal::bytes_for(machine) + line * lines + RouteLoads::bytes(machine.topology) + broadcast;
}

constexpr std::array former_names{
    FormerName{"tree-dimension-wise", "--along dimension-wise"},
    FormerName{"tree-wang-tseng", "--along wang-tseng --variant plain"},
    FormerName{"tree-wang-tseng-trimmed", "--along wang-tseng --variant trimmed"},
    FormerName{"tree-tsai-mckinley", "--along tsai-mckinley"},
    FormerName{"tree-mst", "--along mst"},
    FormerName{"tree-separate-dimensions", "--along separate-dimensions"},
    FormerName{"tree-rs-bcast", "--along rs-bcast"},
    FormerName{"tree-span", "--along span"},
    FormerName{"tree-squeeze-expand", "--along squeeze-expand"},
    FormerName{"tree-two-line", "--along squeeze-expand --variant two-line"},
    FormerName{"tree-pairs", "--along squeeze-expand --variant pairs"},
    FormerName{"tree-peters-syska", "--along peters-syska"},
    FormerName{"tree-park-choi", "--along park-choi"},
    FormerName{"tree-synthesized", "--along synthesized"},
};

constexpr Algorithm along(Collective collective, const Idea& idea) {
  return {
      .name = "tree-of-broadcast",
      .collective = collective,
      .source = "the broadcasts'",
      .shapes = "those of the broadcast, any k",
      .steps = collective == Collective::allreduce ? "twice as many as the broadcast takes" : "as many as the broadcast takes",
      .idea = idea,
      .needs = {.lives_with_holes = true, .takes_twists = true},
      .parameters = parameters,
      .also_requires = refuses_tree,
      .plan = plan,
      .offer = offer,
      .planning_bytes = planning_bytes,
      .former_names = former_names,
  };
}

constexpr Algorithm
    reduce = along(
        Collective::reduce,
        {.first = "A broadcast runs backwards: the nodes that it would inform last send first, each to the node that would inform it.",
         .then = "Every node adds what it gets to its own vector and sends the sum on, until the root has it all.",
         .good = "A reduce so takes as few steps as the best broadcast of this machine; each carries the whole vector, which suits short "
                 "ones."}),
    allreduce = along(
        Collective::allreduce,
        {.first = "A broadcast from a node in the middle runs backwards first: each node sends its sum to the node that would inform it.",
         .then = "When the node in the middle has all, the same broadcast runs forwards and takes the result to every node.",
         .good = "An all-reduce so takes twice the steps of the best broadcast of this machine; each carries the whole vector, which suits "
                 "short ones."}),
    scatter = along(Collective::scatter,
                    {.first = "The root sends the blocks down the tree of a broadcast: each message has the blocks of all nodes that its "
                              "receiver would inform, and of those behind them.",
                     .then = "Each node keeps its own block and sends the others on in smaller bundles, when the broadcast would.",
                     .good = "A scatter so takes as few steps as the best broadcast of this machine, and in a balanced tree the bundles "
                             "soon become small."}),
    gather = along(Collective::gather, {.first = "A scatter down the tree of a broadcast runs backwards: the nodes that the broadcast "
                                                 "would inform last send their blocks first.",
                                        .then = "Every node adds its own block to what has come and sends the bundle to the node that "
                                                "would inform it, until the root has all.",
                                        .good = "A gather so takes as few steps as the best broadcast of this machine, and in a balanced "
                                                "tree only the last bundles are large."});

}  // namespace

extern const Entries entries{reduce, allreduce, scatter, gather};

}  // namespace torus::reduction::tree_of_broadcast
