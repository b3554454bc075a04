/// Multi-node broadcast in a logarithmic number of steps: aggregation-then-distribution with h = 1 and the ternary all-to-all.
///
/// Everything gathers on the main diagonal of the torus, is exchanged along it and spreads from it. The fewest steps of all, and the
/// most bytes: for small messages. On unequal sides a < b the diagonal is a staircase: gather to its stations, a ternary exchange among
/// them, and back. The number w of its turns and what becomes of the spare lines are chosen for the fewest steps. 12x40: 36 stations, the
/// other 4 lines folded, 2 + 4 + 2 steps. Where b is many times a, fewer stations are better than long ways along: a round's t is at most
/// a.
/// Machine  2-D torus, wormhole in ascending order, all ports, no channel shared.   Memory  O(s) words a node.
/// Steps    n x n: 2 ceil(log5 n) + ceil(log3 n), whatever the sources; unequal sides: 2 levels (staircase.hpp) and the rounds of the
///          exchange, L3(w a) if no t has to be shortened.
/// Header   see exchange.hpp (none for n <= 9).
/// Source   this project, from the phases of Chen, Chen & Tseng, section 3.2.

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/entries.hpp"
#include "algorithms/multinode_broadcast/aggregate_distribute/exchange.hpp"
#include "algorithms/multinode_broadcast/aggregate_distribute/staircase.hpp"
#include "algorithms/multinode_broadcast/diagonal.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"
#include "algorithms/multinode_broadcast/line_tree.hpp"
#include "algorithms/program_memory.hpp"

namespace torus::multinode_broadcast::log {
namespace {

using aggregate_distribute::exchange_on_diagonal;
using aggregate_distribute::ExchangeRounds;
using aggregate_distribute::ExchangeSite;
using aggregate_distribute::Staircase;

/// On n x n nodes.
struct SquareScheme {
  explicit SquareScheme(std::int32_t n) : diagonals{LineTree::window(5, n)}, exchange{n, true}, n{n} {}
  std::int32_t steps() const noexcept { return 2 * diagonals.levels() + exchange.steps(); }
  /// Sum over the steps of the most bytes on a channel, for s sources of m bytes: exact for s = all, else for random ones, about.
  double channel_bytes(double s, double m) const;

  LineTree diagonals;
  ExchangeRounds exchange;
  std::int32_t n;
};

double SquareScheme::channel_bytes(double s, double m) const {
  const double nodes = static_cast<double>(n) * n, share = s / nodes;
  double bytes = 0;
  for (const std::int32_t size : diagonals.level_sizes()) bytes += m * fullest(size * share, nodes, size);
  const std::vector<std::int32_t> payloads = exchange.step_payloads(), words = exchange.step_words();
  for (std::size_t i = 0; i < payloads.size(); ++i)
    bytes += m * fullest(payloads[i] * n * share, 4.0 * n, static_cast<double>(payloads[i]) * n) + 4.0 * words[i];
  return bytes + m * std::ceil(s) * diagonals.levels();
}

Program square_program(Node& self, const SquareScheme& scheme) {
  Bundle bundle(self.blocks().begin(), self.blocks().end());
  const DiagonalSite site = DiagonalSite::in_ddn(self, 1);
  co_await gather_to_diagonal(self, scheme.diagonals, site, "align", bundle);
  co_await exchange_on_diagonal(self, scheme.exchange, {self.coordinate(0) == self.coordinate(1), self.coordinate(0)}, bundle);
  co_await broadcast_from_diagonal(self, scheme.diagonals, site, "distribute", bundle);
}

/// On unequal sides.
struct StaircaseScheme {
  /// The fewest steps; among those the fewest levels, since each step of the spread carries all messages.
  explicit StaircaseScheme(const Topology& topology);
  std::int32_t steps() const noexcept { return 2 * stairs.levels() + exchange.steps(); }
  /// Sum over the steps of the most bytes on a channel, for s sources of m bytes: exact for s = all, else for random ones, about.
  double channel_bytes(double s, double m) const;

  Staircase stairs;
  ExchangeRounds exchange;

 private:
  StaircaseScheme(Staircase&& staircase, std::int32_t a);
};

Staircase shortest_staircase(const Topology& topology) {
  const std::int32_t a = std::min(topology.extent(0), topology.extent(1)), b = std::max(topology.extent(0), topology.extent(1));
  std::optional<Staircase> best;
  std::int32_t fewest = INT32_MAX;
  // Half of w rounds are needed at least, as a round reaches a of the w a stations on each side.
  for (std::int32_t windings = 1; windings <= b / a && windings / 2 <= fewest; ++windings) {
    const std::int32_t rounds = ExchangeRounds(windings * a, true, a).steps();
    for (const Staircase::Spare spare : {Staircase::Spare::joined, Staircase::Spare::folded}) {
      const std::int32_t levels = Staircase::levels(a, b, windings, spare), steps = 2 * levels + rounds;
      if (steps > fewest || (steps == fewest && levels >= best->levels())) continue;
      Staircase stairs(topology, windings, spare);
      if (!stairs.sound()) continue;
      best = std::move(stairs);
      fewest = steps;
    }
  }
  return std::move(*best);
}

/// The most messages of `count` stations in a row.
double fullest_run(const std::vector<std::int32_t>& loads, std::int32_t count) {
  const std::size_t q = loads.size();
  std::int64_t run = 0, most = 0;
  for (std::size_t p = 0; p < q + static_cast<std::size_t>(count); ++p) {
    run += loads[p % q];
    if (p >= static_cast<std::size_t>(count)) run -= loads[(p - static_cast<std::size_t>(count)) % q];
    most = std::max(most, run);
  }
  return static_cast<double>(most);
}

StaircaseScheme::StaircaseScheme(const Topology& topology)
    : StaircaseScheme(shortest_staircase(topology), std::min(topology.extent(0), topology.extent(1))) {}

StaircaseScheme::StaircaseScheme(Staircase&& staircase, std::int32_t a)
    : stairs{std::move(staircase)}, exchange{stairs.stations(), true, a} {}

double StaircaseScheme::channel_bytes(double s, double m) const {
  const Staircase::Loads loads = stairs.loads();
  const double nodes = stairs.nodes(), share = s / nodes;
  double bytes = 0;
  for (const std::int32_t size : loads.levels) bytes += m * fullest(size * share, nodes, size);
  const std::vector<std::int32_t> payloads = exchange.step_payloads(), words = exchange.step_words();
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    const double most = fullest_run(loads.stations, payloads[i]);
    bytes += m * fullest(most * share, 2.0 * stairs.stations(), most) + 4.0 * words[i];
  }
  return bytes + m * s * stairs.levels();
}

Program staircase_program(Node& self, const StaircaseScheme& scheme) {
  const Staircase& stairs = scheme.stairs;
  const Staircase::Handover& up = stairs.up(self);
  Bundle bundle(self.blocks().begin(), self.blocks().end());
  for (std::int32_t level = 0; level < stairs.levels(); ++level) {
    self.phase("gather");
    if (up.level == level) {
      send_bundle(self, {up.leg}, bundle);
      bundle.clear();
    }
    for (const Message& m : co_await self.step()) append(bundle, m);
  }
  const ExchangeSite site{up.level == stairs.levels(), stairs.station(self), 1, &stairs};
  co_await exchange_on_diagonal(self, scheme.exchange, site, bundle);
  for (std::int32_t level = stairs.levels() - 1; level >= 0; --level) {
    self.phase("spread");
    for (const Staircase::Handover& down : stairs.down(self)) {
      if (down.level == level) send_bundle(self, {down.leg}, bundle);
    }
    for (const Message& m : co_await self.step()) append(bundle, m);
  }
}

constexpr Requirements any_sides{.shape = Requirements::Shape::torus,
                                 .dimensions = 2,
                                 .switching = Switching::wormhole,
                                 .ports = Requirements::all_ports,
                                 .ascending_routing = true};

/// Without the program.
template <class Scheme>
Plan plan_of(const Machine& machine, const Request& request, const Scheme& scheme, const char* formula) {
  const double s = assumed_sources(machine, request);
  Plan plan;
  plan.steps = static_cast<std::uint64_t>(scheme.steps());
  plan.formula = formula;
  plan.channel_bytes = scheme.channel_bytes(s, static_cast<double>(request.bytes));
  plan.node_bytes += 4 * sizeof(BlockId) * request.sources.size();
  plan.notes = {{"sources assumed by the prediction", decimal(s)}};
  return plan;
}

Plan plan(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  if (topology.extent(0) == topology.extent(1)) {
    const auto scheme = std::make_shared<const SquareScheme>(topology.extent(0));
    Plan plan = plan_of(machine, request, *scheme, "2 ceil(log5 n) + ceil(log3 n)");
    plan.start = [scheme](Node& self) { return square_program(self, *scheme); };
    plan.node_bytes += frames_of_calls(machine, [&](Node& self) {
      Bundle none;
      make(gather_to_diagonal(self, scheme->diagonals, {}, "", none));
      make(exchange_on_diagonal(self, scheme->exchange, {}, none));
      make(broadcast_from_diagonal(self, scheme->diagonals, {}, "", none));
    });
    return plan;
  }
  const auto scheme = std::make_shared<const StaircaseScheme>(topology);
  Plan plan = plan_of(machine, request, *scheme, "2 levels of the trees + rounds of the exchange");
  plan.start = [scheme](Node& self) { return staircase_program(self, *scheme); };
  plan.node_bytes += frames_of_calls(machine, [&](Node& self) {
    Bundle none;
    make(exchange_on_diagonal(self, scheme->exchange, {}, none));
  });
  plan.table_bytes = scheme->stairs.table_bytes();
  plan.notes.insert(plan.notes.begin(), {"stations", std::to_string(scheme->stairs.stations())});
  return plan;
}

/// The tables of the best staircase, and of one that is tried with what its children are numbered by.
Bytes planning_bytes(const Machine& machine) {
  const Topology& topology = machine.topology;
  return topology.extent(0) == topology.extent(1) ? 0
                                                  : Bytes{topology.nodes()} * (4 * sizeof(Staircase::Handover) + 3 * sizeof(std::size_t));
}

constexpr std::array terms{Term{"levels", "steps of the gather, and of the spread"},
                           Term{"rounds", "steps of the exchange on the diagonal"}};

constexpr Algorithm log{
    .name = "log",
    .collective = Collective::multinode_broadcast,
    .source = "after Chen, Chen & Tseng: their diagonal phases with h = 1 and a ternary all-to-all; a staircase on unequal sides",
    .shapes = "torus n1 x n2",
    .steps = "n x n: 2 ceil(log5 n) + ceil(log3 n); unequal sides: 2 levels + rounds",
    .idea = {.first = "All messages of a row and a column gather on one node of the diagonal, and the nodes that still hold some become "
                      "five times fewer in each step.",
             .then = "The nodes of the diagonal exchange what they hold in rounds, each of which trebles what a node knows, and then all "
                     "of it spreads over the rows and columns the way that it came.",
             .good = "The steps grow with the logarithm of the side alone, whatever the sources, which suits short messages; long ones "
                     "crowd the channels at the diagonal."},
    .terms = terms,
    .native = {},
    .needs = any_sides,
    .plan = plan,
    .planning_bytes = planning_bytes,
};

}  // namespace

extern const Entries entries{log};

}  // namespace torus::multinode_broadcast::log
