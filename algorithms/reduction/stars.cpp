#include "algorithms/reduction/stars.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>

#include "algorithms/reduction/segment_bytes.hpp"
#include "algorithms/reduction/star_choice.hpp"

namespace torus::reduction {
namespace {

constexpr NodeId most_nodes = 1024;  // for which the search ends within seconds

void give_in_windows(Node& self, const WindowClasses& windows, const WindowClasses::Round& round) {
  const std::uint32_t own = windows.of(self.coordinates());
  std::vector<BlockId> blocks;
  for (const WindowClasses::Move& move : round) {
    blocks.clear();
    for (const std::uint32_t displacement : move.displacements) blocks.push_back(windows.sum(own, displacement));
    self.forward(combine, {move.leg}, blocks);
  }
}

void give_back_in_windows(Node& self, const WindowClasses& windows, const WindowClasses::Round& round) {
  std::vector<BlockId> blocks;
  for (const WindowClasses::Move& move : round) {
    const Leg leg{move.leg.dimension, -move.leg.hops};
    const std::uint32_t of_taker =
        windows.of(self.topology().coordinates(*self.topology().neighbour(self.rank(), leg.dimension, leg.hops)));
    blocks.clear();
    for (const std::uint32_t displacement : move.displacements) blocks.push_back(windows.sum(of_taker, displacement));
    self.send({leg}, blocks);
  }
}

Program program(Node& self, const Stars& stars) {
  const BlockId own[] = {stars.windows.of(self.coordinates())};
  const StarTrees& trees = stars.trees;
  const auto& rounds = stars.windows.rounds();
  for (auto round = rounds.rbegin(); round != rounds.rend(); ++round) {
    self.phase("windows");
    give_in_windows(self, stars.windows, *round);
    co_await self.step();
  }
  for (const Worms& worms : trees.up) {
    self.phase("up");
    for (const Worm& worm : trees.of(worms, self.rank())) self.forward(combine, RouteView(worm.route), own);
    co_await self.step();
  }
  if (!trees.exchange.empty()) {
    self.phase("exchange");
    for (const Worm& worm : trees.of(trees.exchange, self.rank())) self.send(combine, RouteView(worm.route), own);
    co_await self.step();
  }
  for (const Worms& worms : trees.down) {
    self.phase("down");
    for (const Worm& worm : trees.of(worms, self.rank())) self.send(RouteView(worm.route), own);
    co_await self.step();
  }
  for (const WindowClasses::Round& round : rounds) {
    self.phase("windows back");
    give_back_in_windows(self, stars.windows, round);
    co_await self.step();
  }
}

std::vector<std::uint32_t> possible_pieces(const Machine& machine) {
  std::vector<std::uint32_t> pieces;
  if (machine.topology.nodes() > most_nodes) return {1};  // it is refused
  for (std::uint32_t w = 1; w <= std::min<std::uint64_t>(Stars::most_pieces, machine.topology.nodes()); ++w) {
    if (WindowClasses::find(machine, w)) pieces.push_back(w);
  }
  return pieces;
}

std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  const std::uint32_t pieces = request.parameters.whole("pieces");
  if (machine.topology.nodes() > most_nodes) {
    return Refusal{Refusal::About::shape, machine.topology.text(),
                   "stars searches for its worms on machines of up to " + std::to_string(most_nodes) + " nodes", "32x32"};
  }
  if (pieces == 0 || (pieces <= Stars::most_pieces && WindowClasses::find(machine, pieces))) return std::nullopt;
  return Refusal{Refusal::About::parameter, std::to_string(pieces), "stars needs as many classes of nodes that repeat over the torus",
                 std::to_string(possible_pieces(machine).back()), "pieces"};
}

Plan plan(const Machine& machine, const Request& request, PlanCache& cache) {
  const auto stars = std::make_shared<const Stars>(Stars::choose(machine, request, cache));
  Plan plan;
  plan.segments = stars->windows.classes();
  plan.start = [stars](Node& self) { return program(self, *stars); };
  plan.steps = stars->steps();
  plan.formula = "2 rounds of windows + levels up + exchange + levels down";
  const SegmentBytes piece(request, plan.segments);
  plan.bytes_exact = piece.equal;
  plan.channel_bytes = piece.of(stars->channel());
  plan.combined_bytes = piece.of(stars->windows.taken() + stars->trees.combined());
  plan.route_hops = 2 * stars->windows.rounds().size() + stars->trees.hops();
  plan.table_bytes = stars->windows.table_bytes() + stars->trees.table_bytes();
  plan.node_bytes = plan.segments * sizeof(BlockId);
  plan.notes = {{"pieces", std::to_string(plan.segments)}};
  return plan;
}

Bytes planning_bytes(const Machine& machine) {
  return ClassNeighbours::bytes(machine.topology) + Bytes{machine.topology.nodes()} * 4 * sizeof(Worm);
}

constexpr std::array parameters{Parameter{"pieces", "pieces of the vector, and classes of nodes", {}, possible_pieces}};

}  // namespace

const Algorithm stars_allreduce{.name = "stars",
                                .collective = Collective::allreduce,
                                .source = "ours: windows, and worms packed as stars",
                                .shapes = "torus of up to 1024 nodes; pieces: the index of a sublattice that fits the sides",
                                .steps = "as found, about 2 to 3 log_{p+1} N: 2 rounds of windows + levels up + exchange + levels down",
                                .needs = {.shape = Requirements::Shape::torus, .switching = Switching::wormhole},
                                .parameters = parameters,
                                .also_requires = also_requires,
                                .plan = plan,
                                .planning_bytes = planning_bytes};

}  // namespace torus::reduction
