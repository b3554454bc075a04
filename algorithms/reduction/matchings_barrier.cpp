/// Barrier with any ports on any living graph: who tells whom in each step is a matching over the whole machine.
///
/// The schedule is that of an all-gather in which a message carries all that its receiver has not heard of (search/round_search.hpp), but
/// messages are empty. Above 1024 nodes: a broadcast of one message backwards and then forwards, along the tree of the first living node.
///
/// Machine  any switching (single hops), any ports, any shape, twisted or with holes, no channel shared.
/// Steps    as the search finds: the diameter or a few more with two ports and more; above 1024 nodes twice a broadcast's.
/// Bytes    0: messages have neither blocks nor header.   Memory  a table of a line for each message.
/// Source   this project, the growing of steps after Won et al., TACOS.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>
#include <torus/schedule.hpp>

#include "algorithms/bounds/growth.hpp"
#include "algorithms/common/canonical_form.hpp"
#include "algorithms/common/living_channels.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/search/round_search.hpp"

namespace torus::reduction::matchings_barrier {
namespace {

constexpr NodeId most_nodes_at_once = 1024;

void add(Schedule& schedule, Step step, NodeId from, NodeId to, Leg leg) { schedule.add(step, from, to, {&leg, 1}, {}, Manner::copy); }

/// All nodes tell all at once.
Schedule gossip(const Machine& machine) {
  constexpr std::uint64_t most_tries = 16, effort = std::uint64_t{1} << 17U;
  const std::vector<NodeId> owners = living_ranks(machine.topology);
  RoundSearch search(machine, owners, LinkCapacities(machine, static_cast<std::uint32_t>(owners.size())));
  const std::uint64_t tries = std::clamp<std::uint64_t>(effort / (owners.size() * owners.size()), 1, most_tries);
  const auto least = static_cast<std::size_t>(living_diameter(machine.topology));
  const RoundSearch::Rounds best = search.best_attempt(tries, least);
  Schedule schedule(machine.topology.nodes());
  for (std::size_t step = 0; step < best.size(); ++step) {
    for (std::size_t i = 0; i < best[step].size(); ++i) {
      const auto& [from, to, leg, block] = best[step][i];
      const bool again = i > 0 && best[step][i - 1].from == from && best[step][i - 1].to == to && best[step][i - 1].leg == leg;
      if (!again) add(schedule, static_cast<Step>(step), from, to, leg);
    }
  }
  return schedule;
}

/// All tell one node, which tells all.
Schedule to_and_fro(const Machine& machine) {
  const Topology& topology = machine.topology;
  const RoundSearch::Rounds rounds = one_block_rounds(machine, first_living(topology));
  Schedule schedule(topology.nodes());
  for (std::size_t step = 0; step < rounds.size(); ++step) {
    for (const auto& [from, to, leg, block] : rounds[step]) {
      add(schedule, static_cast<Step>(rounds.size() - 1 - step), to, from, {leg.dimension, topology.reverse(leg.dimension, leg.hops)});
      add(schedule, static_cast<Step>(rounds.size() + step), from, to, leg);
    }
  }
  return schedule;
}

Plan plan(const Machine& machine, const Request&) {
  const CanonicalForm form(machine);
  Schedule found = machine.topology.living_nodes() <= most_nodes_at_once ? gossip(form.machine()) : to_and_fro(form.machine());
  found.sort();
  const auto schedule = std::make_shared<const Schedule>(form.outside(found));
  Plan plan;
  plan.start = [schedule](Node& self) { return follow(self, *schedule); };
  plan.steps = schedule->steps();
  plan.route_hops = plan.steps;
  plan.formula = "T, T = " + std::to_string(plan.steps) + " by search";
  plan.table_bytes = schedule->table_bytes();
  return plan;
}

Bytes planning_bytes(const Machine& machine) {
  const Bytes nodes = machine.topology.nodes(), few = std::min<Bytes>(nodes, most_nodes_at_once);
  return nodes * static_cast<Bytes>(machine.topology.max_ports()) * 256 + 3 * few * few * sizeof(RoundSearch::Delivery);
}

constexpr std::array terms{Term{"T", "steps that the search finds"}};

constexpr Algorithm barrier{
    .name = "matchings",
    .collective = Collective::barrier,
    .source = "this project, after Won et al., TACOS",
    .shapes = "any",
    .steps = "those that a search finds; above 1024 nodes twice those of a broadcast",
    .idea = {.first = "A search grows the schedule step by step: in each step a matching lets as many nodes as the ports allow hear from a "
                      "neighbour that has news for them.",
             .then = "A message says all that its sender has heard of, so that news of every node spreads at the same time.",
             .good = "It needs no shape: few ports, meshes, twists and dead nodes are all alike to it; but every node must know the plan."},
    .terms = terms,
    .native = {.switching = Switching::packet, .ports = 1},
    .needs = {.lives_with_holes = true, .takes_twists = true},
    .plan = plan,
    .planning_bytes = planning_bytes,
};

}  // namespace

extern const Entries entries{barrier};

}  // namespace torus::reduction::matchings_barrier
