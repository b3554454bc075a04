/// Reductions and the multi-node broadcast over arc-disjoint spanning trees.
///   trees         reduce over 2k trees in closed form, on tori of k dimensions: the long-message reduce
///   tree-packing  over the maximum number of trees, packed around the holes of any machine
///
/// Reduce: the vector goes up the trees to their root in K chunks a tree, combined on the way (rooted_flow.hpp). All-reduce: the same, and
/// down again when all is there. The two do not overlap, since every channel is busy both ways. Any root serves, since the minimum cut of
/// the machine is the same from every node (each link has both its channels): the first node of minimum eccentricity, for low trees.
/// Multi-node broadcast: a tree for each node's block, and the step of each arc, found together (packed_gather.hpp). The steps are made for
/// all living nodes as sources; a node that should pass on what it has not got sends nothing. Reduce-scatter: the same backwards.
/// All-reduce: both, where that is faster than over a root, as for short vectors.
///
/// Machine  packet (single hops), no channel shared; all ports, between all nodes any ports. Tori of any extents and up to 8 dimensions
///          of more than one node; or any topology, over a root up to a size, with dead links and nodes too. All nodes know the machine,
///          its holes and the root, and so the trees. Large machines are searched with larger chunks.
/// Memory   a byte a channel and 5 k bytes a node of tables, k the trees; k K segments a node; multi-node broadcast: 24 N P bytes a node, P
///          the pieces of a block.
/// Steps    over a root H + K - 1, H the height of the trees; all-reduce twice as many. Multi-node broadcast with C blocks a channel and
///          step: as the search finds, about (D^4 + (B/C)^4)^(1/4), D the diameter, B = (N-1) / fewest channels of a node; with C = 1 it is
///          ceil(B) on tori and meshes with few holes, which no scheme of whole blocks beats. In P pieces B is P times as much, and what
///          ceil() adds is a piece.
/// Bytes    m / kK in each step: a reduce's m / k, its lower bound, times 1 + (H-1)/K; K is near sqrt((H-1) m T_c / (k T_s)). Multi-node
///          broadcast: C blocks in each step.
/// Speeds   where channels differ in speed, a channel carries as many pieces in a step, or is in as many trees, as its speed allows
///          (link_capacities.hpp): then C is that of the fastest channels, k counts trees and not channels, and both come near the
///          bounds of the slow ones. Byte terms are predicted exactly.
/// Choice   `segments`, K; `chunk`, C, with whole blocks. Without them those of least model time. An all-reduce goes over a root with
///          `segments`, and between all nodes with `chunk`.   Header  none.
/// Source   the trees: closed_form.cpp (after Varvarigos & Bertsekas), packing.cpp, packed_gather.hpp.

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/common/parameters.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/program_memory.hpp"
#include "algorithms/reduction/reduce_scatter/packed_gather.hpp"
#include "algorithms/reduction/segment_bytes.hpp"
#include "algorithms/search/round_search.hpp"
#include "algorithms/trees/arc_trees.hpp"
#include "algorithms/trees/centre.hpp"
#include "algorithms/trees/rooted_flow.hpp"

namespace torus::reduction::trees {
namespace {

/// What every node knows beforehand.
struct Scheme {
  RootedFlow flow;
  WayUp way_up;
  std::uint32_t chunks;
};

Program reduce(Node& self, const Scheme& scheme) { return send_up_trees(self, scheme.flow, scheme.way_up, scheme.chunks, "reduce"); }

Program allreduce(Node& self, const Scheme& scheme) {
  const ArcTrees& trees = scheme.flow.trees();
  co_await send_up_trees(self, scheme.flow, scheme.way_up, scheme.chunks, "reduce");
  co_await send_down_trees(self, trees, scheme.flow.root(), 0, scheme.chunks * trees.trees(), "broadcast");
}

Plan plan_over_root(const Machine& machine, const Request& request, NodeId root, std::shared_ptr<const ArcTrees> trees) {
  const RootedFlow flow(trees, machine, root);
  const bool both = request.collective == Collective::allreduce;
  const Bytes element = size_of(request.reduction.type), elements = request.bytes / element;
  const auto bytes_of = [&](std::uint64_t chunks) {
    return (flow.up(elements, chunks) + (both ? flow.down(elements, chunks) : 0)) * static_cast<double>(element);
  };
  const bool one_speed = machine.cost.one_speed();
  const auto seconds_of = [&](std::uint64_t k) { return flow.up_s(elements, k, element) + (both ? flow.down_s(elements, k, element) : 0); };
  const std::uint32_t chunks = flow.chunks(machine, request, elements, element, [&](std::uint32_t k) {
    const auto steps = static_cast<double>((both ? 2 : 1) * flow.steps(k));
    return one_speed ? machine.cost.steps(steps, bytes_of(k), steps) : machine.cost.timed_steps(steps, seconds_of(k), steps);
  });
  const auto scheme = std::make_shared<const Scheme>(Scheme{flow, WayUp(machine.topology, *trees), chunks});
  Plan plan;
  plan.segments = chunks * trees->shares();
  plan.start = [scheme, both](Node& self) { return both ? allreduce(self, *scheme) : reduce(self, *scheme); };
  if (both) {
    plan.node_bytes += frames_of_calls(machine, [&](Node& self) {
      make(send_up_trees(self, scheme->flow, scheme->way_up, chunks, ""));
      make(send_down_trees(self, *trees, root, 0, chunks * trees->trees(), ""));
    });
  }
  plan.steps = (both ? 2 : 1) * flow.steps(chunks);
  plan.formula = std::string(both ? "2 " : "") + "(height of the trees + K-1)";
  plan.channel_bytes = bytes_of(chunks);
  if (!one_speed) plan.channel_time_s = seconds_of(chunks);
  plan.combined_bytes = flow.combined(scheme->way_up, elements, chunks) * static_cast<double>(element);
  plan.route_hops = plan.steps;
  plan.table_bytes = trees->table_bytes() + WayUp::table_bytes(machine.topology, trees->trees());
  plan.notes = flow.notes(chunks);
  return plan;
}

std::optional<Refusal> refuses_closed_form(const Machine& machine, const Request& request) {
  if (auto refusal = too_many_dimensions("trees", machine.topology)) return refusal;
  return too_many_chunks("trees", machine.topology, request, closed_form_shares(machine.topology));
}

Plan plan_closed_form(const Machine& machine, const Request& request) {
  return plan_over_root(machine, request, request.sources.front(), std::make_shared<const ArcTrees>(closed_form_trees(machine)));
}

Bytes closed_form_planning_bytes(const Machine& machine) {
  return closed_form_bytes(machine.topology) + WayUp::table_bytes(machine.topology, closed_form_shares(machine.topology));
}

std::optional<Refusal> refuses_rounds(const Machine& machine, const Request& request) {
  const std::uint32_t chunk = request.parameters.whole("chunk"), least = least_chunk(machine);
  if (chunk == 0 || chunk >= least) return std::nullopt;
  return Refusal{Refusal::About::parameter, std::to_string(chunk),
                 "tree-packing searches so large a machine with " + std::to_string(least) + " blocks or more a channel and step",
                 std::to_string(least), "chunk"};
}

std::optional<Refusal> refuses_packing(const Machine& machine, const Request& request) {
  if (auto refusal = too_large_to_pack("tree-packing", machine.topology)) return refusal;
  if (request.parameters.whole("segments") > 0 && few_ports(machine)) {
    return Refusal{Refusal::About::ports, std::to_string(machine.ports), "tree-packing goes over a root with all ports alone",
                   std::to_string(machine.topology.max_ports())};
  }
  if (request.parameters.whole("chunk") > 0 && request.parameters.whole("segments") > 0) {
    return Refusal{Refusal::About::parameter, std::to_string(request.parameters.whole("chunk")),
                   "tree-packing goes over a root in segments, or between all nodes in chunks", "", "chunk"};
  }
  return too_many_chunks("tree-packing", machine.topology, request, most_packed_trees(machine));
}

Plan plan_packed(const Machine& machine, const Request& request, PlanCache& cache) {
  const NodeId root = facts_of(request.collective).rooted() ? request.sources.front() : centre_of(machine.topology);
  std::vector<Plan> plans;
  for (const std::uint32_t most : packings_to_try(machine))
    plans.push_back(plan_over_root(machine, request, root, packed_trees(machine, root, most, cache)));
  return *cheapest(plans, [&](const Plan& plan) { return std::optional(plan.model_time_s(machine.cost)); });
}

Plan plan_rounds(const Machine& machine, const Request& request, BlockOwners owners, const GatherPace& pace, PlanCache& cache) {
  const auto halves = cache.of<PackedGather::pack>(machine, pace, owners);
  Plan plan = plan_reversible(machine, request, halves, "T, T = " + std::to_string(halves->steps()) + " by search", 1);
  const std::string of = pace.pieces == 1 ? "blocks" : "pieces";
  const std::string channel = machine.cost.one_speed() ? "a channel" : "the fastest channel";
  plan.notes.emplace_back("chunk (" + of + " " + channel + " and step)", std::to_string(pace.chunk));
  if (pace.pieces > 1) plan.notes.emplace_back("pieces of a block", std::to_string(pace.pieces));
  return plan;
}

/// The plan of least model time of those that are estimated to take less than the plans before them.
Plan fastest_rounds(const Machine& machine, const Request& request, BlockOwners owners, const std::vector<PaceChoice>& choices,
                    PlanCache& cache) {
  const double ways = request.collective == Collective::allreduce ? 2 : 1;
  std::optional<Plan> best;
  for (const PaceChoice& choice : choices) {
    if (best && ways * choice.time_s >= best->model_time_s(machine.cost)) continue;
    Plan plan = plan_rounds(machine, request, owners, choice.pace, cache);
    if (!best || plan.model_time_s(machine.cost) < best->model_time_s(machine.cost)) best = std::move(plan);
  }
  return *std::move(best);
}

/// With fewer ports than channels: the plan of least model time of those tried, in blocks of so many bytes.
Plan fastest_tried(const Machine& machine, const Request& request, BlockOwners owners, Bytes block, PlanCache& cache) {
  const auto tried = cache.of<tried_paces>(machine, owners);
  const auto time = [&](const TriedPace& t) {
    const auto steps = static_cast<double>(t.steps);
    return std::optional(machine.cost.steps(steps, static_cast<double>(t.channel) * static_cast<double>(block), steps));
  };
  return plan_rounds(machine, request, owners, cheapest(*tried, time)->pace, cache);
}

Plan plan_gather(const Machine& machine, const Request& request, PlanCache& cache) {
  if (const std::uint32_t chunk = request.parameters.whole("chunk"); chunk > 0)
    return plan_rounds(machine, request, BlockOwners::ranks, {chunk, 1}, cache);
  if (few_ports(machine)) return fastest_tried(machine, request, BlockOwners::ranks, request.bytes, cache);
  return fastest_rounds(machine, request, BlockOwners::ranks, choose_pace(machine, BlockOwners::ranks, request.bytes), cache);
}

Plan plan_allreduce(const Machine& machine, const Request& request, PlanCache& cache) {
  if (few_ports(machine)) {
    if (const std::uint32_t chunk = request.parameters.whole("chunk"); chunk > 0)
      return plan_rounds(machine, request, BlockOwners::vector, {chunk, 1}, cache);
    const Bytes block = SegmentBytes(request, machine.topology.living_nodes()).longest;
    return fastest_tried(machine, request, BlockOwners::vector, block, cache);
  }
  if (request.parameters.whole("segments") > 0) return plan_packed(machine, request, cache);
  const auto choose = [&](BlockOwners owners) {
    const std::size_t blocks = owners_of(owners, machine.topology).size();
    return choose_pace(machine, owners, SegmentBytes(request, static_cast<std::uint32_t>(blocks)).longest);
  };
  const std::vector<PaceChoice> even = choose(BlockOwners::vector), balanced = choose(BlockOwners::balanced_vector);
  const bool balances = balanced.front().time_s < even.front().time_s;
  const BlockOwners owners = balances ? BlockOwners::balanced_vector : BlockOwners::vector;
  const std::vector<PaceChoice>& choices = balances ? balanced : even;
  if (const std::uint32_t chunk = request.parameters.whole("chunk"); chunk > 0)
    return plan_rounds(machine, request, owners, {chunk, 1}, cache);
  Plan over_root = plan_packed(machine, request, cache);
  constexpr double doubtful = 1.1;  // the estimate errs by less
  const double rounds_s = 2 * choices[choices.size() > 1 ? 1 : 0].time_s;
  if (rounds_s > doubtful * over_root.model_time_s(machine.cost)) return over_root;
  Plan rounds = fastest_rounds(machine, request, owners, choices, cache);
  return rounds.model_time_s(machine.cost) < over_root.model_time_s(machine.cost) ? rounds : over_root;
}

Bytes packing_planning_bytes(const Machine& machine) {
  return packing_bytes(machine) + WayUp::table_bytes(machine.topology, most_packed_trees(machine));
}
Bytes rounds_planning_bytes(const Machine& machine) { return packed_gather_bytes(machine.topology, BlockOwners::ranks); }

constexpr std::array chunk_alone{parameter::chunk};
constexpr std::array both_parameters{rooted_flow_parameters[0], parameter::chunk};
constexpr std::array former_names{FormerName{"trees"}};

constexpr std::array tree_terms{
    Term{"K", "segments that go along each tree"}, Term{"D", "diameter: the hops between the two nodes that are farthest apart"},
    Term{"c", "fewest channels of a node"}, Term{"C", "blocks that a channel takes in a step"}, Term{"T", "steps that the search finds"}};

constexpr Algorithm trees{
    .name = "trees",
    .collective = Collective::reduce,
    .source = "trees of this project after Varvarigos & Bertsekas, reversed; long vectors near the byte bound",
    .shapes = "torus of any dimension up to 8, any sides",
    .steps = "height of the trees + K-1, K segments a tree: D + 1 + K for n x n, n >= 4",
    .idea = {.first = "The vector is cut into a share for each channel of the root, and each share goes up a spanning tree of its own: no "
                      "two trees use the same channel.",
             .then = "From the leaves on every node adds its own part to what has come and passes the sum on, one chunk behind the other.",
             .good = "All channels into the root bring different bytes in every step, so that a long vector takes little more than the "
                     "bound of the bytes."},
    .terms = tree_terms,
    .native = {.switching = Switching::packet},
    .needs = {.shape = Requirements::Shape::torus, .ports = Requirements::all_ports},
    .parameters = rooted_flow_parameters,
    .also_requires = refuses_closed_form,
    .plan = plan_closed_form,
    .planning_bytes = closed_form_planning_bytes};

/// A large machine is searched where no other algorithm applies.
Offer offer_rounds(const Machine& machine, const Request& request) {
  Offer offer = offer_to_all(machine, request);
  offer.slow = !small_enough_to_pack(machine.topology);
  return offer;
}

constexpr Algorithm tree_packing(Collective collective, int ports, std::string_view source, std::string_view steps, const Idea& idea,
                                 std::span<const Parameter> parameters, Planner plan, Offer (*offer)(const Machine&, const Request&),
                                 Bytes (*planning_bytes)(const Machine&)) {
  return {.name = "tree-packing",
          .collective = collective,
          .source = source,
          .shapes = "any, up to 1024 nodes and 8192 channels",
          .steps = steps,
          .idea = idea,
          .terms = tree_terms,
          .native = {.switching = Switching::packet},
          .needs = {.ports = ports, .lives_with_holes = true, .takes_twists = true},
          .parameters = parameters,
          .also_requires = refuses_packing,
          .plan = plan,
          .offer = offer,
          .planning_bytes = planning_bytes};
}

constexpr std::string_view of_trees = "Edmonds 1973, by growth as in Lovasz 1976: as many arc-disjoint trees as the cut allows, pipelined";
constexpr std::string_view of_rounds = "after Won et al., TACOS: a tree for each block, grown step by step by matchings";
constexpr std::string_view about = "about (D^4 + ((N-1)/(c C))^4)^(1/4), c the fewest channels of a node, C blocks a channel";

constexpr Algorithm packing_reduce = tree_packing(
    Collective::reduce, Requirements::all_ports, of_trees, "height of the trees + K-1, K segments a tree",
    {.first = "A search packs as many spanning trees as the narrowest cut of the machine allows, around dead links and nodes, and each "
              "tree takes one share of the vector to the root.",
     .then = "Chunk behind chunk, every node adds its own part to what its children send and passes the sum to its parent.",
     .good = "No reduce of a long vector beats the narrowest cut, and the trees together fill it, on whole machines and on damaged ones."},
    rooted_flow_parameters, plan_packed, offer_from_one, packing_planning_bytes);
constexpr Algorithm packing_allreduce = [] {
  Algorithm allreduce = tree_packing(
      Collective::allreduce, 1, of_trees, "2 (height of the trees + K-1), K segments a tree; or twice a multi-node broadcast's",
      {.first = "A search packs as many spanning trees as the narrowest cut of the machine allows, around dead links and "
                "nodes; shares of the vector go up them to one node, added on the way.",
       .then = "When all is there, the result goes down the same trees; for short vectors a schedule between all nodes may be "
               "faster, a reduce-scatter and a multi-node broadcast behind it.",
       .good = "The trees fill the narrowest cut up and down, so that long vectors come near what a way over one node allows, "
               "also on damaged machines."},
      both_parameters, plan_allreduce, offer_to_and_fro,  // also between all nodes: an owner is as far from the others
      [](const Machine& machine) {
        return packing_planning_bytes(machine) + packed_gather_bytes(machine.topology, BlockOwners::balanced_vector);
      });
  allreduce.former_names = former_names;
  return allreduce;
}();
constexpr Algorithm in_rounds(Collective collective, const Idea& idea) {
  Algorithm rounds = tree_packing(collective, 1, of_rounds, about, idea, chunk_alone, plan_gather, offer_rounds, rounds_planning_bytes);
  rounds.shapes = "any";
  rounds.also_requires = refuses_rounds;
  return rounds;
}
constexpr Algorithm packing_reduce_scatter = in_rounds(
    Collective::reduce_scatter,
    {.first = "A search grows a tree for each owner, all of them step by step at the same time; in each step a matching fills as many "
              "channels as it can.",
     .then = "The messages go up the trees, in the reverse order of the steps, and every node adds its part on the way to the owner.",
     .good = "In nearly every step nearly every channel carries what some owner lacks, also around dead links and nodes, where no closed "
             "form fits."});
constexpr Algorithm packing_all_gather = in_rounds(
    Collective::multinode_broadcast,
    {.first = "A search grows a tree for the block of each node, all of them step by step at the same time; in each step a matching gives "
              "as many channels as it can a block that the node behind lacks.",
     .then = "The messages follow that schedule, a few blocks on a channel in a step.",
     .good = "In nearly every step nearly every channel brings a new block, also around dead links and nodes, where no closed form fits."});

}  // namespace

extern const Entries entries{trees, packing_reduce, packing_allreduce, packing_reduce_scatter, packing_all_gather};

}  // namespace torus::reduction::trees
