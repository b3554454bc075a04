/// The phases of the multi-node broadcasts that balance, each alone: what every node has after it, in how many steps, with how much on the
/// fullest channel.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "algorithms/common/integers.hpp"
#include "algorithms/multinode_broadcast/aggregate_distribute/aggregate_distribute.hpp"
#include "algorithms/multinode_broadcast/aggregate_distribute/exchange.hpp"
#include "algorithms/multinode_broadcast/aggregate_distribute/prefix.hpp"
#include "algorithms/multinode_broadcast/diagonal.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"
#include "algorithms/multinode_broadcast/hierarchical/windows.hpp"
#include "algorithms/multinode_broadcast/partition.hpp"
#include "algorithms/multinode_broadcast/ring.hpp"
#include "algorithms/multinode_broadcast/source_names.hpp"
#include "tests/support/aggregate_distribute.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/collect.hpp"

using namespace torus;
using namespace torus::multinode_broadcast;
using namespace torus::multinode_broadcast::aggregate_distribute;
using namespace torus::multinode_broadcast::hierarchical;
using support::all_nodes;
using support::block_bytes;
using support::L;
using support::on_dcn_diagonal;
using support::own_blocks;
using support::run_phase;
using support::square;

TEST_CASE("aggregation brings every message to one node of the DCN diagonals, h nodes to each", "[unit]") {
  for (std::int32_t n = 2; n <= 16; ++n) {
    for (const std::int32_t h : divisors(n)) {
      CAPTURE(n, h);
      const Machine machine = square(n);
      const LineTree strip = LineTree::window(5, h);
      std::vector<Bundle> bundles(machine.topology.nodes());
      const RunResult run = run_phase(machine, all_nodes(machine.topology.nodes()), block_bytes, 1, [&](Node& node) {
        return [](Node& self, const LineTree& tree, std::int32_t side, Bundle& bundle) -> Program {
          bundle = own_blocks(self);
          const DiagonalSite site = DiagonalSite::in_torus(self, side);
          co_await gather_to_diagonal(self, tree, site, "aggregate", bundle);
        }(node, strip, h, bundles[node.rank()]);
      });
      CHECK(run.good());
      CHECK(run.steps == L(5, h));
      Bytes payload = 0;
      for (const std::int32_t size : strip.level_sizes()) payload += static_cast<Bytes>(size) * block_bytes;
      CHECK(run.channel_bytes_sum == payload);
      std::set<BlockId> seen;
      for (NodeId node = 0; node < machine.topology.nodes(); ++node) {
        CHECK(bundles[node].size() == (on_dcn_diagonal(machine.topology, node, h) ? static_cast<std::size_t>(h) : 0));
        seen.insert(bundles[node].begin(), bundles[node].end());
      }
      CHECK(seen.size() == machine.topology.nodes());
    }
  }
}

TEST_CASE("the stations of a ring are h a window, in order, each followed by at most one spare place", "[unit]") {
  for (std::int32_t n = 2; n <= 40; ++n) {
    for (std::int32_t h = 1; h <= n; ++h) {
      CAPTURE(n, h);
      const Stations stations(Topology(std::vector<DimensionShape>{{n, Wiring::ring}}), h);
      CHECK(stations.even() == (n % h == 0));
      CHECK(stations.stations(0) == n / h * h);
      std::int32_t last = -1, found = 0;
      for (std::int32_t place = 0; place < n; ++place) {
        const std::optional<std::int32_t> index = stations.index(0, place);
        if (!index) continue;
        CHECK(*index == found++);
        CHECK(stations.place(0, *index) == place);
        CHECK(place - last <= 2);
        CHECK(stations.hops(0, *index, n / h * h) == n);
        CHECK(stations.hops(0, *index, -1) == -stations.hops(0, *index - 1, 1));
        CHECK(stations.gap(0, *index) <= stations.longest_gap());
        last = place;
      }
      CHECK(found == n / h * h);
      CHECK(n - last <= 2);
      CHECK(stations.longest_gap() < 2 * h + 1);
      if (stations.even()) CHECK(stations.longest_gap() == h);
    }
  }
}

TEST_CASE("each place takes each class from the nearest station of it, half from either side if two are as near", "[unit]") {
  for (const auto& [n, h] : std::vector<std::pair<std::int32_t, std::int32_t>>{{5, 2}, {7, 3}, {13, 4}, {11, 7}, {8, 4}, {9, 9}, {3, 2}}) {
    CAPTURE(n, h);
    const Stations stations(square(n).topology, h);
    const ClassWindows windows(stations);
    for (std::int32_t place = 0; place < n; ++place) {
      for (std::int32_t piece = 0; piece < h; ++piece) {
        const auto nearest = [&, h = h](std::int32_t direction) {  // clang captures no structured binding by itself before 16
          std::int32_t distance = 0;
          while (stations.index(0, place + direction * distance).value_or(-1) % h != piece) ++distance;
          return distance;
        };
        const std::int32_t below = nearest(-1), above = nearest(+1);
        CHECK(std::min(below, above) <= windows.gather_steps());
        for (const auto& [direction, near, far] : {std::tuple{-1, below, above}, std::tuple{+1, above, below}}) {
          if (near == 0) continue;
          const std::optional<ClassWindows::Take> take = windows.taken(0, place, direction, near);
          CHECK(take.has_value() == (near <= far));
          if (take) CHECK((take->piece == piece && take->half == (near == far)));
        }
      }
    }
  }
}

TEST_CASE("the prefix sum gives the messages consecutive ranks, each its own", "[unit]") {
  std::mt19937_64 random(support::seed());
  for (const Prefix kind : {Prefix::global5, Prefix::global3, Prefix::diag5, Prefix::diag3}) {
    for (const std::int32_t n : {2, 3, 4, 6, 8, 9, 10, 12, 15, 16, 18, 20, 26, 30}) {
      for (const std::int32_t h : divisors(n)) {
        if (h == 1) continue;
        CAPTURE(name(kind), n, h);
        const Machine machine = square(n);
        const PrefixTables tables(kind, n, h);
        std::vector<std::uint32_t> counts(machine.topology.nodes(), 0), ranks(machine.topology.nodes(), 0);
        for (NodeId node = 0; node < counts.size(); ++node) {
          if (on_dcn_diagonal(machine.topology, node, h)) counts[node] = support::random_below(random, static_cast<std::uint64_t>(h) + 1);
        }
        const RunResult run = run_phase(machine, {}, 0, 1, [&](Node& node) {
          return [](Node& self, const PrefixTables& t, std::uint32_t count, std::uint32_t& rank) -> Program {
            rank = co_await rank_of_first(self, t, count);
          }(node, tables, counts[node.rank()], ranks[node.rank()]);
        });
        CHECK(run.good());
        const bool quinary = kind == Prefix::global5 || kind == Prefix::diag5, global = kind == Prefix::global5 || kind == Prefix::global3;
        CHECK(run.steps == (quinary ? 4 * L(5, n) : 2 * L(3, n)) + (global ? 2 * L(5, n / h) : 0));
        CHECK(run.channel_bytes_sum == 4 * run.steps);
        // By diagonal (one for all if global): the intervals [rank, rank + count) follow one another without gaps.
        std::map<std::int32_t, std::vector<std::pair<std::uint32_t, std::uint32_t>>> intervals;
        for (NodeId node = 0; node < counts.size(); ++node) {
          if (!on_dcn_diagonal(machine.topology, node, h)) continue;
          const std::int32_t g = modulo(machine.topology.coordinate(node, 0) - machine.topology.coordinate(node, 1), n) / h;
          intervals[global ? 0 : g].emplace_back(ranks[node], counts[node]);
        }
        for (auto& [g, list] : intervals) {
          std::sort(list.begin(), list.end());
          std::uint32_t next = global ? 0 : first_rank_of_diagonal(g, h, n / h);
          bool consecutive = true;
          for (const auto& [rank, count] : list) {
            consecutive &= rank == next;
            next += count;
          }
          CHECK(consecutive);
        }
      }
    }
  }
}

TEST_CASE("the moves of the tuning and their worst payloads are the reference ones", "[unit]") {
  const auto cost = [](std::int32_t h) {
    const TuneMoves moves(h, 5);
    std::int32_t payload = 0;
    for (const TuneMoves::Move& move : moves.moves) payload += move.worst;
    return std::pair(moves.steps(), payload);
  };
  using Cost = std::pair<std::int32_t, std::int32_t>;
  for (const std::int32_t h : {2, 3}) CHECK(cost(h) == Cost{1, 1});
  for (const std::int32_t h : {4, 5}) CHECK(cost(h) == Cost{2, 2});
  for (const std::int32_t h : {6, 7}) CHECK(cost(h) == Cost{3, 4});
  for (const std::int32_t h : {8, 9}) CHECK(cost(h) == Cost{3, 6});
  for (const std::int32_t h : {10, 11}) CHECK(cost(h) == Cost{3, 7});
  for (const std::int32_t h : {12, 13}) CHECK(cost(h) == Cost{3, 9});
  CHECK(cost(15) == Cost{3, 11});
  CHECK(cost(16) == Cost{4, 13});
  CHECK(cost(20) == Cost{4, 16});
  CHECK(cost(25) == Cost{4, 20});
  CHECK(cost(30) == Cost{5, 28});
  for (std::int32_t h = 2; h <= 81; ++h) CHECK(TuneMoves(h, 3).steps() == static_cast<std::int32_t>(L(3, h)));
}

TEST_CASE("tuning brings message x of a node to DDN (rank + x) mod h on the same diagonal", "[unit]") {
  std::mt19937_64 random(support::seed());
  for (const std::int32_t base : {3, 5}) {
    for (const std::int32_t h : {2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 15, 16}) {
      CAPTURE(base, h);
      const Machine machine = square(2 * h);
      const Topology& topology = machine.topology;
      const TuneMoves moves(h, base);
      std::vector<Bundle> before(topology.nodes()), after(topology.nodes());
      std::vector<std::uint32_t> ranks(topology.nodes());
      std::vector<NodeId> sources;  // a diagonal node stands in for all h that it gathered: blocks 0 .. h-1 of its own
      for (NodeId node = 0; node < topology.nodes(); ++node) {
        ranks[node] = support::random_below(random, 1000);
        if (on_dcn_diagonal(topology, node, h)) sources.push_back(node);
      }
      const RunResult run =
          run_phase(machine, sources, static_cast<Bytes>(h) * block_bytes, static_cast<std::uint32_t>(h), [&](Node& node) {
            return [](Node& self, const TuneMoves& m, std::uint32_t rank, Bundle& start, Bundle& bundle) -> Program {
              bundle = start = own_blocks(self);
              co_await tune(self, m, rank, 1, bundle);
            }(node, moves, ranks[node.rank()], before[node.rank()], after[node.rank()]);
          });
      CHECK(run.good());
      CHECK(run.steps == moves.moves.size());
      Bytes worst = 0;  // every node has a message for every DDN: the worst case
      for (const TuneMoves::Move& move : moves.moves) worst += static_cast<Bytes>(move.worst) * (block_bytes + (move.last_digit ? 0 : 4));
      CHECK(run.channel_bytes_sum == worst);
      std::size_t moved = 0;
      bool right = true;
      for (NodeId node = 0; node < topology.nodes(); ++node) {
        for (const BlockId id : after[node]) {
          const auto source = static_cast<NodeId>(id / static_cast<BlockId>(h));
          const auto x = static_cast<std::size_t>(std::find(before[source].begin(), before[source].end(), id) - before[source].begin());
          const std::int32_t di = centred(topology.coordinate(node, 0) - topology.coordinate(source, 0), 2 * h);
          const std::int32_t dj = centred(topology.coordinate(node, 1) - topology.coordinate(source, 1), 2 * h);
          right &= topology.coordinate(node, 0) % h == static_cast<std::int32_t>((ranks[source] + x) % static_cast<std::uint32_t>(h));
          right &= di == dj && di >= window_low(h) && di <= window_high(h);
          ++moved;
        }
      }
      CHECK(right);
      CHECK(moved == sources.size() * static_cast<std::size_t>(h));
    }
  }
}

TEST_CASE("the exchange on the diagonal takes as many steps, and carries as much, as the formulas say", "[unit]") {
  for (std::int32_t q = 1; q <= 1000; ++q) {
    CAPTURE(q);
    for (const bool ternary : {false, true}) {
      const ExchangeRounds rounds(q, ternary);
      const std::vector<std::int32_t> payloads = rounds.step_payloads();
      std::int32_t sum = 0;
      for (const std::int32_t payload : payloads) sum += payload;
      CHECK(sum == q / 2);
      CHECK(payloads.size() == static_cast<std::size_t>(rounds.steps()));
      if (ternary) CHECK(rounds.steps() == static_cast<std::int32_t>(L(3, q)));
      for (const ExchangeRounds::Round& round : rounds.rounds) CHECK((ternary ? 2 : 3) * round.t <= (ternary ? q + 1 : q + 2));
    }
    if (q > 30) continue;
    const bool one_less = q == 2 || q == 3 || q == 6 || q == 7 || q == 26 || q == 27;
    CHECK(ExchangeRounds(q, false).steps() == static_cast<std::int32_t>(2 * L(5, q)) - (one_less ? 1 : 0));
  }
}

TEST_CASE("the exchange gives every node of the main diagonal all bundles, empty and unequal ones too", "[unit]") {
  std::mt19937_64 random(support::seed());
  for (const bool ternary : {false, true}) {
    for (const std::int32_t q : {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 25, 26, 27, 30, 31}) {
      for (const std::int32_t unit : {1, 2}) {
        CAPTURE(ternary, q, unit);
        const Machine machine = square(q * unit);
        const ExchangeRounds rounds(q, ternary);
        std::vector<NodeId> sources;
        for (std::int32_t a = 0; a < q; ++a) {
          if (support::random_below(random, 3) > 0) sources.push_back(static_cast<NodeId>(a * unit * (q * unit + 1)));
        }
        std::vector<Bundle> bundles(machine.topology.nodes());
        const RunResult run = run_phase(machine, sources, 3 * block_bytes, 3, [&](Node& node) {
          return [](Node& self, const ExchangeRounds& r, std::int32_t step, Bundle& bundle) -> Program {
            bundle = own_blocks(self);
            bundle.resize(std::min<std::size_t>(bundle.size(), 1 + self.rank() % 3));  // one to three blocks
            const bool member = self.coordinate(0) == self.coordinate(1) && self.coordinate(0) % step == 0;
            const ExchangeSite site{member, self.coordinate(0) / step, step};
            co_await exchange_on_diagonal(self, r, site, bundle);
            std::sort(bundle.begin(), bundle.end());
          }(node, rounds, unit, bundles[node.rank()]);
        });
        CHECK(run.good());
        CHECK(run.steps == static_cast<std::uint64_t>(rounds.steps()));
        Bundle all;
        for (const NodeId source : sources) {
          for (BlockId i = 0; i < 1 + source % 3; ++i) all.push_back(BlockId{source} * 3 + i);
        }
        for (std::int32_t a = 0; a < q; ++a) CHECK(bundles[static_cast<std::size_t>(a * unit * (q * unit + 1))] == all);
      }
    }
  }
}

TEST_CASE("the broadcast in the DDNs brings the main diagonal's bundles to all their nodes", "[unit]") {
  for (const auto& [n, h] :
       std::vector<std::pair<std::int32_t, std::int32_t>>{{6, 1}, {6, 2}, {6, 6}, {15, 3}, {16, 4}, {12, 2}, {26, 2}}) {
    CAPTURE(n, h);
    const Machine machine = square(n);
    const LineTree ddn = LineTree::window(5, n / h);
    std::vector<NodeId> sources;
    for (std::int32_t k = 0; k < h; ++k) sources.push_back(static_cast<NodeId>(k * (n + 1)));
    std::vector<Bundle> bundles(machine.topology.nodes());
    const RunResult run = run_phase(machine, sources, block_bytes, 1, [&, ddn_side = h](Node& node) {
      return [](Node& self, const LineTree& tree, std::int32_t side, Bundle& bundle) -> Program {
        const auto k = static_cast<BlockId>(self.coordinate(0) % side * (self.extent(0) + 1));
        if (self.rank() == k) bundle = {k};
        // Its DDN's block goes down the main diagonal first, for the test's sake: one hop of h places a step.
        const std::int32_t q = self.extent(0) / side;
        for (std::int32_t a = 1; a < q; ++a) {
          if (!bundle.empty() && a == self.coordinate(0) / side + 1) self.send({{0, side}, {1, side}}, bundle);
          for (const Message& m : co_await self.step()) append(bundle, m);
        }
        const DiagonalSite site = DiagonalSite::in_ddn(self, side);
        co_await broadcast_from_diagonal(self, tree, site, "distribute", bundle);
      }(node, ddn, ddn_side, bundles[node.rank()]);
    });
    CHECK(run.good());
    CHECK(run.steps == static_cast<std::uint64_t>(n / h - 1) + L(5, n / h));
    bool right = true;
    for (NodeId node = 0; node < machine.topology.nodes(); ++node) {
      const Bundle wanted{static_cast<BlockId>(machine.topology.coordinate(node, 0) % h * (n + 1))};
      right &= bundles[node] == (on_dcn_diagonal(machine.topology, node, h) ? wanted : Bundle{});
    }
    CHECK(right);
  }
}

TEST_CASE("counting tells every node the sum", "[unit]") {
  for (const char* shape : {"2", "7", "5x5", "4x1x9", "3x3x3"}) {
    CAPTURE(shape);
    const Machine machine(Topology::parse(shape));
    std::vector<Dimension> axes;
    std::vector<LineTree> trees;
    std::uint64_t steps = 0;
    for (Dimension d = 0; d < machine.topology.dimensions(); ++d) {
      axes.push_back(d);
      trees.push_back(LineTree::line(3, machine.topology.extent(d)));
      steps += 2 * L(3, machine.topology.extent(d));
    }
    std::vector<std::uint32_t> sums(machine.topology.nodes());
    const RunResult run = run_phase(machine, {}, 0, 1, [&](Node& node) {
      return [](Node& self, const std::vector<Dimension>& along, const std::vector<LineTree>& by, std::uint32_t& sum) -> Program {
        sum = co_await count_everywhere(self, along, by, self.rank());
      }(node, axes, trees, sums[node.rank()]);
    });
    CHECK(run.good());
    CHECK(run.steps == steps);
    const NodeId nodes = machine.topology.nodes();
    for (const std::uint32_t sum : sums) CHECK(sum == nodes * (nodes - 1) / 2);
  }
}
