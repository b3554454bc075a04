/// All-reduce over undirected spanning trees: as few bytes as a channel must carry, on meshes, and around dead links and nodes.
///
/// The vector is cut into p parts. Part i is reduced up tree i to its middle and broadcast down again, in S segments. Each link is in at
/// most q trees, and an edge of a tree carries its part once each way: q/p m on a channel, with p and q such that q/p is at its lower bound
/// or near it (spanning_trees.hpp). Where the middle of a tree is a link, its two ends exchange their sums. Short vectors: all trees at
/// once, one segment each. Long ones: the trees take turns on each channel, so that the steps are few and all channels busy
/// (tree_times.hpp).
/// Machine  packet (single hops), all ports, no channel shared. Any topology up to a size, with dead links and nodes too. All nodes know
///          the machine and its holes, and so the trees.
/// Memory   about 100 bytes a tree and node of tables; p S segments a node. Planning: packing_bytes() below.
/// Steps    at once: D, the longest path of a tree, near the diameter. In turns: q (S-1) + T; T as found, about D + q.
/// Bytes    in turns m / pS in each busy step: q/p m (1 + (T-q)/(q S)).
/// Speeds   where links differ in speed, a link has a capacity c (link_capacities.hpp): it is in up to q c trees, and takes up to c parts
/// in
///          a step of a turn, which go the same way; trees are made for that, or the period is q + 1 (tree_directions.hpp).
/// Choice   `parts`, p; `segments`, S. Without them those of least model time.   Header  none.
/// Order    each end of a middle link combines its own sum with the other's: for commuting operators.
/// Source   the bound: Nash-Williams, Tutte 1961. Trees, turns: this project.

#include "algorithms/trees/spanning_trees.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/common/canonical_form.hpp"
#include "algorithms/common/parameters.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/reduction/rounds_prediction.hpp"
#include "algorithms/schedule/repeated.hpp"
#include "algorithms/trees/arc_trees.hpp"
#include "algorithms/trees/centre.hpp"
#include "algorithms/trees/rooted_flow.hpp"
#include "algorithms/trees/tree_directions.hpp"
#include "algorithms/trees/tree_times.hpp"

namespace torus::reduction::spanning_trees {
namespace {

constexpr std::uint32_t most_trees = 64, most_trees_of_speeds = 128;
constexpr std::uint64_t most_places = 32768;  // trees times nodes: what a search packs within a second

std::uint32_t trees_within_reach(const Machine& machine) {
  const std::uint32_t most = machine.cost.one_speed() ? most_trees : most_trees_of_speeds;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(most_places / machine.topology.nodes(), 1, most));
}

/// A packing and its two schedules, of one segment a tree.
struct Packed {
  TreeCount count;
  RepeatedSchedule at_once, in_turns;
};
using PackedList = std::vector<std::shared_ptr<const Packed>>;

/// Packs trees for a machine. Where links differ in speed some trees may be left out, unless all are wanted.
std::shared_ptr<const Packed> pack(const Machine& given, const CanonicalForm& form, const LinkGraph& graph, TreeCount count,
                                   bool all_trees) {
  const Machine& machine = form.machine();
  std::vector<SpanningTree> trees = pack_spanning_trees(graph, count), even;
  if (!machine.cost.one_speed()) {
    // With fewer trees a turn more would be better.
    const std::uint32_t least = all_trees ? count.trees : count.trees * count.per_link / (count.per_link + 1) + 1;
    even = tree_times::with_even_directions(graph, count.per_link, trees, least);
    if (!even.empty()) trees.resize(even.size());
    count.trees = static_cast<std::uint32_t>(trees.size());
  }
  Schedule at_once = trees_at_once(machine, graph, trees);
  const Step steps = at_once.steps();
  TreeTurns turns = trees_in_turns(machine.topology, graph, even.empty() ? trees : even, count.per_link);
  // The trees reach a corner by one of its links in different turns. If all their middles are as far from it, the last is late: longer
  // trees, whose middles differ more, can take fewer steps.
  constexpr std::uint32_t spare = 3;
  if (machine.cost.one_speed() && count.trees > 1) {
    TreeTurns longer = trees_in_turns(machine.topology, graph, pack_spanning_trees(graph, count, spare), count.per_link);
    if (longer.schedule.steps() < turns.schedule.steps()) turns = std::move(longer);
  }
  return std::make_shared<const Packed>(Packed{count, RepeatedSchedule(given, form.outside(at_once), steps, 0),
                                               RepeatedSchedule(given, form.outside(turns.schedule), turns.period, count.trees)});
}

/// Several numbers of trees, each of which puts less on a channel than those before.
std::vector<TreeCount> counts_of_one_speed(const TreeCount& ratio, std::uint32_t most) {
  constexpr double worth_it = 0.96;
  const std::vector<TreeCount> all = records(ratio, most);
  std::vector<TreeCount> counts{all.front()};
  for (const TreeCount& count : all) {
    if (count.load() < worth_it * counts.back().load() || count == all.back()) counts.push_back(count);
  }
  if (counts.front() == counts.back()) counts.pop_back();
  return counts;
}

/// One tree; then some numbers of trees with as many trees on a link as that takes, or hardly more.
std::vector<TreeCount> counts_of_speeds(const TreeCount& ratio, std::uint32_t most) {
  std::vector<TreeCount> counts{with_trees(ratio, 1)};
  for (const std::uint32_t limit : {24U, 64U, 96U}) {
    const std::uint32_t per_link = std::max(1U, std::min(limit, most) * ratio.per_link / ratio.trees);
    const TreeCount count{std::min(most, per_link * ratio.trees / ratio.per_link), per_link};
    if (count.trees > counts.back().trees && count.load() < counts.back().load() * 1.001) counts.push_back(count);
  }
  return counts;
}

/// The capacity of the fastest links with which `trees` trees (0: any number) take the least time that single nodes allow. Of capacities
/// with about the same time the smallest, since few lanes are easier to fill.
std::uint32_t choose_capacity(const Machine& machine, std::uint32_t trees) {
  constexpr double worth_it = 0.985;
  std::uint32_t best = 1;
  double least_s = 0;
  for (const std::uint32_t capacity : capacities_to_try(machine)) {
    const LinkCapacities capacities(machine, capacity);
    const LinkGraph graph(machine, capacities);
    double load = static_cast<double>(graph.nodes().size() - 1) / static_cast<double>(graph.capacity());
    for (const NodeId node : graph.nodes()) load = std::max(load, 1 / static_cast<double>(capacities.around(node)));
    if (trees > 0) load = std::ceil(load * trees) / trees;
    const double byte_s = load * capacities.step_byte_s();
    if (capacity > 1 && !(byte_s < worth_it * least_s)) continue;
    best = capacity;
    least_s = byte_s;
  }
  return best;
}

/// So many trees; or, if that is 0, several numbers of trees.
PackedList pack_form(const Machine& given, const CanonicalForm& form, std::uint32_t trees) {
  const Machine& machine = form.machine();
  const std::uint32_t most = trees_within_reach(machine);
  const LinkGraph graph(machine, LinkCapacities(machine, choose_capacity(machine, trees)));
  const TreeCount ratio = least_ratio(graph, most);
  std::vector<TreeCount> counts{with_trees(ratio, trees)};
  if (trees == 0) counts = machine.cost.one_speed() ? counts_of_one_speed(ratio, most) : counts_of_speeds(ratio, most);
  PackedList packed;
  for (const TreeCount& count : counts) packed.push_back(pack(given, form, graph, count, trees > 0));
  return packed;
}

/// The same of both orders of the dimensions: now the one, now the other gives better trees.
PackedList pack_all(const Machine& machine, std::uint32_t trees) {
  const CanonicalForm longer_first(machine), shorter_first(machine, std::nullopt, CanonicalForm::Order::shorter_first);
  PackedList packed = pack_form(machine, longer_first, trees);
  const Machine &one = longer_first.machine(), &other = shorter_first.machine();
  if (one.topology == other.topology && one.cost == other.cost) return packed;  // trees know no order of routing
  for (auto& each : pack_form(machine, shorter_first, trees)) packed.push_back(std::move(each));
  return packed;
}

/// A schedule of a packing, and how many segments a tree carries.
struct Choice {
  std::shared_ptr<const Packed> packed;
  bool in_turns = false;
  std::uint32_t segments = 1;
  double time_s = 0;

  const RepeatedSchedule& schedule() const noexcept { return in_turns ? packed->in_turns : packed->at_once; }
};

class Chooser {
 public:
  Chooser(const Machine& machine, const Request& request) : machine_{machine}, request_{request} {}

  Choice best(const PackedList& list) const {
    std::optional<Choice> best;
    for (const auto& packed : list) {
      for (const bool in_turns : {false, true}) {
        Choice choice{packed, in_turns};
        if (const std::uint32_t asked = request_.parameters.whole("segments"); asked > 0) {
          if (!in_turns && asked > 1) continue;
          choice.segments = asked;
        } else if (in_turns) {
          choice.segments = best_segments_of(*packed);
        }
        choice.time_s = time_s(choice.schedule(), packed->count.trees, choice.segments);
        if (!best || choice.time_s < best->time_s) best = choice;
      }
    }
    return *std::move(best);
  }

 private:
  double time_s(const RepeatedSchedule& schedule, std::uint32_t trees, std::uint32_t segments) const {
    Plan plan;
    predict_rounds(plan, machine_, request_, schedule, segments, std::uint64_t{trees} * segments);
    return plan.model_time_s(machine_.cost);
  }
  std::uint32_t best_segments_of(const Packed& packed) const {
    const std::uint32_t trees = packed.count.trees, period = packed.in_turns.period();
    const double fill = std::max(0.0, static_cast<double>(packed.in_turns.steps(1)) - period);
    const std::uint64_t holders = std::uint64_t{machine_.topology.nodes()} * trees;
    return best_segments(fill / period, request_.bytes / trees,
                         static_cast<NodeId>(std::min<std::uint64_t>(holders, std::numeric_limits<NodeId>::max())), part_byte_s(packed),
                         machine_.cost.steps(1, 0, 1), [&](std::uint32_t k) { return time_s(packed.in_turns, trees, k); });
  }

  /// Seconds that a busy step of the pipeline takes for each byte of a part, about.
  double part_byte_s(const Packed& packed) const {
    if (machine_.cost.one_speed()) return machine_.cost.byte_s;
    const std::uint32_t period = packed.in_turns.period(), full = packed.in_turns.first().steps() / period + 2;
    return (packed.in_turns.loads(full + 1).channel_byte_s - packed.in_turns.loads(full).channel_byte_s) / period;
  }

  const Machine& machine_;
  const Request& request_;
};

Plan plan(const Machine& machine, const Request& request, PlanCache& cache) {
  Plan plan;
  plan.formula = "q (S-1) + T, S segments a tree, a link in q trees; T = ";
  if (machine.topology.living_nodes() == 1) {
    plan.start = [](Node&) -> Program { co_return; };
    plan.formula += "0";
    return plan;
  }
  const Choice choice = Chooser(machine, request).best(*cache.of<pack_all>(machine, request.parameters.whole("parts")));
  const RepeatedSchedule& schedule = choice.schedule();
  const std::uint32_t trees = choice.packed->count.trees;
  plan.segments = trees * choice.segments;
  plan.start = [choice](Node& self) { return follow(self, choice.schedule(), choice.segments); };
  plan.formula += std::to_string(schedule.first().steps()) + " by search";
  predict_rounds(plan, machine, request, schedule, choice.segments, plan.segments);
  plan.table_bytes = choice.packed->at_once.table_bytes() + choice.packed->in_turns.table_bytes();
  plan.notes = {{"trees", std::to_string(trees)},
                {"trees that share a link", std::to_string(choice.packed->count.per_link)},
                {"segments a tree", std::to_string(choice.segments)}};
  return plan;
}

std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  if (auto refusal = too_large_to_pack("spanning-trees", machine.topology)) return refusal;
  const std::uint32_t most = trees_within_reach(machine);
  if (request.parameters.whole("parts") > most) {
    return Refusal{Refusal::About::parameter, std::to_string(request.parameters.whole("parts")),
                   "spanning-trees packs up to " + std::to_string(most) + " trees on " + machine.topology.text(), std::to_string(most),
                   "parts"};
  }
  return too_many_chunks("spanning-trees", machine.topology, request, most);
}

// A place in a tree: about 100 bytes while the trees are packed, 100 while they get turns, and 300 in the two schedules of each packing,
// of which the largest two have most of the trees; twice where the dimensions have two orders.
Bytes planning_bytes(const Machine& machine) {
  constexpr Bytes of_a_place = 1400, of_a_node = 1000;
  return Bytes{machine.topology.nodes()} * (of_a_place * trees_within_reach(machine) + of_a_node);
}

// The ends of a link in the middle send each other their sums in one step.
Offer offer(const Machine& machine, const Request& request) {
  return {.steps = std::max<std::uint64_t>(offer_to_and_fro(machine, request).steps, 1) - 1};
}

constexpr std::array parameters{Parameter{"parts", "parts of the vector, each over a spanning tree of its own"}, rooted_flow_parameters[0]};

constexpr std::array terms{Term{"q", "trees that a link is in, at most"}, Term{"S", "segments that go along each tree"},
                           Term{"T", "steps of a single segment of all trees, as the search finds"}};

constexpr Algorithm allreduce{.name = "spanning-trees",
                              .collective = Collective::allreduce,
                              .source = "Nash-Williams 1961, Tutte 1961: spanning trees that share the links evenly; their turns are ours",
                              .shapes = "any, up to 1024 nodes and 8192 channels",
                              .steps = "the longest path of a tree; or q (S-1) + T, T as found, S segments a tree, a link in q trees",
                              .idea = {.first = "The vector is cut into parts, one for each of several spanning trees that share the links "
                                                "evenly, and each part is added up along its tree, from the ends towards the middle.",
                                       .then = "From the middle each result goes back down the same tree; short vectors go along all trees "
                                               "at once, and of long ones the trees take turns on each link, segment behind segment.",
                                       .good = "The trees together load every channel about as little as any all-reduce can, also on "
                                               "meshes and around dead links and nodes, so that long vectors gain."},
                              .terms = terms,
                              .native = {.switching = Switching::packet},
                              .needs = {.ports = Requirements::all_ports, .lives_with_holes = true, .takes_twists = true},
                              .parameters = parameters,
                              .also_requires = also_requires,
                              .plan = plan,
                              .offer = offer,
                              .planning_bytes = planning_bytes};

}  // namespace

extern const Entries entries{allreduce};

}  // namespace torus::reduction::spanning_trees
