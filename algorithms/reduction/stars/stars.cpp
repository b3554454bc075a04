/// All-reduce in few steps and few bytes where no channel is shared: windows, then stars of long paths, then windows.
///
/// The vector is split into w pieces, and the nodes into as many classes, which repeat over the torus (window_classes.hpp).
///   windows   hop by hop every node gives all pieces but that of its class to nodes near by
///   stars     the nodes of each class all-reduce their piece along paths that become fewer as they become longer (packing.hpp)
///   windows   the first phase backwards: every node takes the other pieces
/// More pieces mean fewer bytes; w = 1: stars alone. Paths of all classes share the channels. Who sends when is searched for, by every
/// node for itself with the same result, or by plan() once for all.
/// Machine  torus of any sides, wormhole in any routing order, any ports, no channel shared.
/// Steps    2 rounds of windows + levels up + exchange + levels down, as found: about 2 to 3 log_{p+1} N.
/// Bytes    2 (w-1)/(w p) m or more in the windows, m/w in each other step.   Memory  the tables of who sends when.   Header  none.
/// Source   this project.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>
#include <torus/schedule.hpp>

#include "algorithms/common/parameters.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/program_memory.hpp"
#include "algorithms/reduction/one_order.hpp"
#include "algorithms/reduction/segment_bytes.hpp"
#include "algorithms/reduction/stars/packing.hpp"
#include "algorithms/reduction/stars/window_classes.hpp"

namespace torus::reduction::stars {
namespace {

constexpr NodeId most_nodes = 1024;  // for which the search ends within seconds
constexpr std::uint32_t most_pieces = 64;

/// The stars' sends: up, exchange, down. Up, step by step, the nodes of a class send to centres. The way down is a way up, backwards, for
/// the machine with the routing order reversed (torus/schedule.hpp). The two meet where each node that is left on the one can send to all
/// that are left on the other in one step.
struct StarTrees {
  Schedule sends;              // a node's block is its class
  std::uint64_t combined = 0;  // sum over the steps of the most pieces that a node combines
};

void add(Schedule& sends, Step step, const Paths& paths, const Machine& machine, const Sublattice& classes, Manner manner) {
  for (const Path& path : paths) {
    const BlockId piece[] = {classes.coset(machine.topology.coordinates(path.from))};
    sends.add(step, path.from, path.to, path.route, piece, manner);
  }
}

/// The sends of the first levels of stars.
Schedule sends_of(const Levels& levels, std::size_t count, const Machine& machine, const Sublattice& classes) {
  Schedule sends(machine.topology.nodes());
  for (std::size_t level = 0; level < count; ++level)
    add(sends, static_cast<Step>(level), levels.paths[level], machine, classes, Manner::combine);
  sends.sort();
  return sends;
}

/// The most partials that a node combines in an exchange. A node that is not active holds none yet, and takes over the first.
std::uint64_t most_combined(const Paths& exchange, const std::vector<bool>& active) {
  std::map<NodeId, std::uint64_t> arrivals;
  for (const Path& path : exchange) ++arrivals[path.to];
  std::uint64_t most = 0;
  for (const auto& [node, count] : arrivals) most = std::max(most, count - (active[node] ? 0 : 1));
  return most;
}

StarTrees joined_at(const Machine& machine, const Sublattice& classes, const Levels& there, std::size_t ups, const Paths& exchange,
                    const Levels& back, std::size_t downs) {
  StarTrees trees{sends_of(there, ups, machine, classes)};
  trees.sends.name_phase("up");
  trees.combined = static_cast<std::uint64_t>(trees.sends.loads(machine.topology, [](BlockId) { return 1; }).combined) +
                   most_combined(exchange, there.active[ups]);
  Schedule across(machine.topology.nodes());
  add(across, 0, exchange, machine, classes, Manner::share);
  across.sort();
  across.name_phase("exchange");
  trees.sends.merge(across, trees.sends.steps());
  Schedule down = sends_of(back, downs, machine, classes).backwards(machine.topology);
  down.name_phase("down");
  trees.sends.merge(down, trees.sends.steps());
  return trees;
}

/// Those with fewest levels that meet; none if none do.
std::optional<StarTrees> joined(const Machine& machine, const Sublattice& classes, const Levels& there, const Levels& back) {
  for (std::size_t levels = 0; levels <= there.paths.size() + back.paths.size(); ++levels) {
    for (std::size_t downs = 0; downs <= std::min(levels, back.paths.size()); ++downs) {
      const std::size_t ups = levels - downs;
      if (ups > there.paths.size()) continue;
      if (const auto exchange = all_to_all(machine, classes, there.active[ups], back.active[downs]))
        return joined_at(machine, classes, there, ups, *exchange, back, downs);
    }
  }
  return std::nullopt;
}

/// The way down is searched for freely, or so that it ends with nodes that the way up ends with, too: what takes fewer steps.
StarTrees pack_trees(const Machine& machine, const Sublattice& classes) {
  const Machine mirrored = Schedule::mirrored(machine);
  const Levels there = pack_levels(machine, classes, {});
  auto trees = joined(machine, classes, there, pack_levels(mirrored, classes, {}));
  for (const std::vector<bool>& active : there.active) {  // the last is one node a class, which has nothing to exchange
    if (!all_to_all(machine, classes, active, active)) continue;
    auto other = joined(machine, classes, there, pack_levels(mirrored, classes, active));
    if (!trees || (other && other->sends.steps() < trees->sends.steps())) trees = std::move(other);
    break;
  }
  return std::move(*trees);
}

/// What all nodes know.
struct Stars {
  WindowClasses windows;
  std::shared_ptr<const StarTrees> trees;

  std::uint64_t steps() const noexcept { return 2 * windows.rounds().size() + trees->sends.steps(); }
};

/// For the pieces that are asked for. Otherwise it packs stars for the two most promising numbers of pieces, and takes the faster.
Stars choose(const Machine& machine, const Request& request, PlanCache& cache) {
  constexpr std::size_t most_packings = 2;
  const double nodes = machine.topology.nodes(),
               base = std::log(std::max(2.0, 1.0 + std::min(machine.ports, machine.topology.max_ports())));
  struct Promising {
    WindowClasses windows;
    double about, least;  // time
  };
  std::vector<Promising> promising;
  const auto time_of = [&](const WindowClasses& windows, double steps) {
    const double channel = 2.0 * static_cast<double>(windows.channel()) + steps;
    return machine.cost.steps(2.0 * static_cast<double>(windows.rounds().size()) + steps,
                              channel * static_cast<double>(request.bytes) / static_cast<double>(windows.classes()), 0);
  };
  for (std::uint32_t w = 1; w <= std::min<std::uint64_t>(most_pieces, machine.topology.nodes()); ++w) {
    if (request.parameters.whole("pieces") != 0 && request.parameters.whole("pieces") != w) continue;
    auto windows = WindowClasses::find(machine, w);
    if (!windows) continue;
    const double members = std::log(nodes / w) / base;  // the least levels of a tree
    const double least = time_of(*windows, std::max(0.0, 2 * std::ceil(members - 1e-9) - 1));
    const double about = time_of(*windows, 1.25 * std::log(nodes) / base + members);  // what packings have needed
    promising.push_back({std::move(*windows), about, least});
  }
  std::stable_sort(promising.begin(), promising.end(), [](const Promising& a, const Promising& b) { return a.about < b.about; });
  if (promising.size() > most_packings) promising.erase(promising.begin() + most_packings, promising.end());
  const auto trees_of = [&](const Promising& one) { return cache.of<pack_trees>(machine, one.windows.sublattice()); };
  double shortest = std::numeric_limits<double>::infinity();
  const auto time = [&](const Promising& one) -> std::optional<double> {
    if (one.least >= shortest) return std::nullopt;
    const double needed = time_of(one.windows, static_cast<double>(trees_of(one)->sends.steps()));
    shortest = std::min(shortest, needed);
    return needed;
  };
  const Promising best = *cheapest(promising, time);
  return {best.windows, trees_of(best)};
}

void give_in_windows(Node& self, const WindowClasses& windows, const WindowClasses::Round& round) {
  const std::uint32_t own = windows.of(self.coordinates());
  std::vector<BlockId> blocks;
  for (const WindowClasses::Pull& pull : round) {
    blocks.clear();
    for (const std::uint32_t displacement : pull.displacements) blocks.push_back(windows.sum(own, displacement));
    self.forward(combine, {pull.leg}, blocks);
  }
}

void give_back_in_windows(Node& self, const WindowClasses& windows, const WindowClasses::Round& round) {
  std::vector<BlockId> blocks;
  for (const WindowClasses::Pull& pull : round) {
    const Leg leg{pull.leg.dimension, -pull.leg.hops};
    const std::uint32_t of_taker =
        windows.of(self.topology().coordinates(*self.topology().neighbour(self.rank(), leg.dimension, leg.hops)));
    blocks.clear();
    for (const std::uint32_t displacement : pull.displacements) blocks.push_back(windows.sum(of_taker, displacement));
    self.send({leg}, blocks);
  }
}

Program program(Node& self, const Stars& stars) {
  const auto& rounds = stars.windows.rounds();
  for (auto round = rounds.rbegin(); round != rounds.rend(); ++round) {
    self.phase("windows");
    give_in_windows(self, stars.windows, *round);
    co_await self.step();
  }
  const Step begin = self.now(), end = begin + stars.trees->sends.steps();
  co_await follow(self, stars.trees->sends, begin);
  while (self.now() < end) co_await self.step();
  for (const WindowClasses::Round& round : rounds) {
    self.phase("windows back");
    give_back_in_windows(self, stars.windows, round);
    co_await self.step();
  }
}

std::vector<std::uint32_t> possible_pieces(const Machine& machine) {
  std::vector<std::uint32_t> pieces;
  if (machine.topology.nodes() > most_nodes) return {1};  // it is refused
  for (std::uint32_t w = 1; w <= std::min<std::uint64_t>(most_pieces, machine.topology.nodes()); ++w) {
    if (WindowClasses::find(machine, w)) pieces.push_back(w);
  }
  return pieces;
}

std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  if (auto why = differs_by_node("stars", request)) return why;
  const std::uint32_t pieces = request.parameters.whole("pieces");
  if (machine.topology.nodes() > most_nodes) {
    return Refusal{Refusal::About::shape, machine.topology.text(),
                   "stars searches for its worms on machines of up to " + std::to_string(most_nodes) + " nodes", "32x32"};
  }
  if (pieces == 0 || (pieces <= most_pieces && WindowClasses::find(machine, pieces))) return std::nullopt;
  return Refusal{Refusal::About::parameter, std::to_string(pieces), "stars needs as many classes of nodes that repeat over the torus",
                 std::to_string(possible_pieces(machine).back()), "pieces"};
}

Plan plan(const Machine& machine, const Request& request, PlanCache& cache) {
  const auto stars = std::make_shared<const Stars>(choose(machine, request, cache));
  Plan plan;
  plan.segments = stars->windows.classes();
  plan.start = [stars](Node& self) { return program(self, *stars); };
  plan.node_bytes += frames_of_calls(machine, [&](Node& self) { make(follow(self, stars->trees->sends)); });
  plan.steps = stars->steps();
  plan.formula = "2 rounds of windows + levels up + exchange + levels down";
  const SegmentBytes piece(request, plan.segments);
  plan.bytes_exact = piece.equal;
  const auto rounds = stars->windows.rounds().size(), steps = std::size_t{stars->trees->sends.steps()};
  plan.channel_bytes = piece.of(2 * stars->windows.channel() + steps);
  plan.combined_bytes = piece.of(stars->windows.taken() + stars->trees->combined);
  plan.route_hops = 2 * rounds + stars->trees->sends.loads(machine.topology, [](BlockId) { return 1; }).hops;
  plan.table_bytes = stars->windows.table_bytes() + stars->trees->sends.table_bytes();
  plan.node_bytes += plan.segments * sizeof(BlockId);
  plan.notes = {{"pieces", std::to_string(plan.segments)}};
  return plan;
}

Bytes planning_bytes(const Machine& machine) { return levels_bytes(machine.topology); }

constexpr std::array parameters{Parameter{"pieces", "pieces of the vector, and classes of nodes", {}, possible_pieces}};

constexpr Algorithm allreduce{
    .name = "stars",
    .collective = Collective::allreduce,
    .source = "ours: windows, and worms packed as stars",
    .shapes = "torus of up to 1024 nodes; pieces: the index of a sublattice that fits the sides",
    .steps = "as found, about 2 to 3 log_{p+1} N: 2 rounds of windows + levels up + exchange + levels down",
    .idea = {.first = "The vector is cut into pieces and the nodes into as many classes, which repeat all over the torus; hop by hop each "
                      "node gives nodes near by all pieces but that of its class.",
             .then = "The nodes of each class add their piece up along paths that are packed as stars without a common channel, up to a "
                     "few centres and down again; then each node takes the other pieces from near by.",
             .good = "Each long path carries one piece alone, and a star adds up several nodes in a step, so that both steps and bytes are "
                     "few: between logarithmic ways and rings."},
    .needs = {.shape = Requirements::Shape::torus, .switching = Switching::wormhole},
    .parameters = parameters,
    .also_requires = also_requires,
    .plan = plan,
    .planning_bytes = planning_bytes};

}  // namespace

extern const Entries entries{allreduce};

}  // namespace torus::reduction::stars
