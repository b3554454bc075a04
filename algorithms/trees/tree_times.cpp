#include "algorithms/trees/tree_times.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include <torus/error.hpp>

#include "algorithms/trees/turns.hpp"

namespace torus {
namespace {

using tree_times::Levels;
using tree_times::Times;

/// The sends of all trees, those of one channel, step and manner as one.
Schedule schedule_of(const Topology& topology, const LinkGraph& graph, const std::vector<SpanningTree>& trees,
                     const std::vector<Times>& times) {
  struct Sent {
    NodeId to;
    Leg leg;
    Manner manner;
    std::vector<BlockId> parts;
  };
  std::map<std::tuple<NodeId, std::uint32_t, std::int32_t>, Sent> sent;  // from, step, slot
  const auto add = [&](std::uint32_t step, NodeId from, NodeId to, std::uint32_t link, Manner manner, std::uint32_t part) {
    const LinkGraph::Link& l = graph.link(link);
    const Leg leg = l.from == from ? l.leg : Leg{l.leg.dimension, topology.reverse(l.leg.dimension, l.leg.hops)};
    Sent& s = sent[{from, step, topology.slot(leg.dimension, leg.hops)}];
    TORUS_ASSERT(s.parts.empty() || s.manner == manner);
    s.to = to;
    s.leg = leg;
    s.manner = manner;
    s.parts.push_back(part);
  };
  for (std::uint32_t k = 0; k < trees.size(); ++k) {
    for (const NodeId node : trees[k].order) {
      const std::uint32_t link = trees[k].link[node];
      if (link == LinkGraph::none) continue;
      const NodeId parent = trees[k].parent(graph, node);
      const bool middle = link == trees[k].middle;
      add(times[k].up[node], node, parent, link, middle ? Manner::share : Manner::combine, k);
      add(times[k].down[node], parent, node, link, middle ? Manner::share : Manner::copy, k);
    }
  }
  Schedule schedule(topology.nodes());
  for (const auto& [key, s] : sent) schedule.add(std::get<1>(key), std::get<0>(key), s.to, std::array{s.leg}, s.parts, s.manner);
  schedule.sort();
  return schedule;
}

/// The sum over the steps of the longest time that a channel takes for its parts, in units of the slowest T_c.
double fullest(const Machine& machine, const Schedule& schedule) {
  if (machine.cost.one_speed()) return schedule.loads(machine.topology, [](BlockId) { return 1; }).channel;
  std::vector<double> most(schedule.steps());
  for (const Schedule::Send& s : schedule.sends()) {
    const Leg leg = schedule.route(s)[0];
    most[s.step] = std::max(most[s.step], s.blocks * machine.byte_s(s.from, leg.dimension, leg.hops) / machine.cost.byte_s);
  }
  return std::accumulate(most.begin(), most.end(), 0.0);
}

}  // namespace

Schedule trees_at_once(const Machine& machine, const LinkGraph& graph, const std::vector<SpanningTree>& trees) {
  std::vector<Levels> levels;
  std::uint32_t meet = 0;
  for (const SpanningTree& tree : trees) meet = std::max(meet, levels.emplace_back(graph, tree).most);
  const std::uint32_t first_down = meet + (tree_times::any_middle(trees) ? 1 : 0);
  enum class Form : std::uint8_t { near_middle, far, as_far_as_its_tree };  // from the step in which the trees meet
  constexpr std::array forms{Form::near_middle, Form::far, Form::as_far_as_its_tree};
  std::optional<Schedule> best;
  double least = 0;
  for (const Form up : forms) {
    for (const Form down : forms) {
      std::vector<Times> times;
      for (std::uint32_t k = 0; k < trees.size(); ++k) {
        const Levels& level = levels[k];
        Times& t = times.emplace_back(Times{level.depth, level.depth});
        for (const NodeId node : trees[k].order) {
          if (trees[k].link[node] == LinkGraph::none) continue;
          if (trees[k].link[node] == trees[k].middle) {
            t.up[node] = t.down[node] = meet;
            continue;
          }
          const auto from_end = [&](Form form) { return level.height[node] + (form == Form::far ? 0 : meet - level.most); };
          t.up[node] = up == Form::near_middle ? meet - level.depth[node] : from_end(up);
          t.down[node] = first_down + (down == Form::near_middle ? level.depth[node] : meet - from_end(down)) - 1;
        }
      }
      Schedule schedule = schedule_of(machine.topology, graph, trees, times);
      const double channel = fullest(machine, schedule);
      if (best && channel >= least) continue;
      least = channel;
      best = std::move(schedule);
    }
  }
  return *std::move(best);
}

TreeTurns trees_in_turns(const Topology& topology, const LinkGraph& graph, const std::vector<SpanningTree>& trees, std::uint32_t per_link) {
  tree_times::Turns turns(graph, trees, per_link);
  turns.shorten();
  return {schedule_of(topology, graph, turns.trees(), turns.times()), turns.period()};
}

}  // namespace torus
