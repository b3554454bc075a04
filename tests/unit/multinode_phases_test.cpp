/// Every phase of the multi-node broadcasts alone: what each node has after it, in how many steps, with how much on the fullest channel.
#include <algorithm>
#include <map>
#include <set>

#include "algorithms/common/integers.hpp"
#include "algorithms/multinode_broadcast/column_ring.hpp"
#include "algorithms/multinode_broadcast/count.hpp"
#include "algorithms/multinode_broadcast/diagonal.hpp"
#include "algorithms/multinode_broadcast/diagonal_exchange.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"
#include "algorithms/multinode_broadcast/prefix.hpp"
#include "algorithms/multinode_broadcast/ring_gather.hpp"
#include "algorithms/multinode_broadcast/tune.hpp"
#include "algorithms/multinode_broadcast/window_spread.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/collect.hpp"

using namespace torus;
using namespace torus::multinode;
using support::all_nodes;
using support::run_phase;

namespace {

constexpr Bytes block_bytes = 8;

Machine square(std::int32_t n) { return Machine(Topology(std::vector<DimensionShape>(2, DimensionShape{n, Wiring::ring}))); }

bool on_dcn_diagonal(const Topology& t, NodeId node, std::int32_t h) { return t.coordinate(node, 0) % h == t.coordinate(node, 1) % h; }

std::uint32_t L(std::uint64_t base, std::int32_t n) { return ceil_log(base, static_cast<std::uint64_t>(n)); }

Bundle own_blocks(Node& self) { return {self.blocks().begin(), self.blocks().end()}; }

}  // namespace

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
    const RunResult run = run_phase(machine, sources, block_bytes, 1, [&](Node& node) {
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
      }(node, ddn, h, bundles[node.rank()]);
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

TEST_CASE("rows, then columns, collect the h bundles of a DCN at each of its nodes", "[unit]") {
  for (std::int32_t h = 1; h <= 13; ++h) {
    CAPTURE(h);
    const Machine machine = square(2 * h);
    const LineTree row = LineTree::window(3, h);
    std::vector<NodeId> sources;
    for (NodeId node = 0; node < machine.topology.nodes(); ++node) {
      if (on_dcn_diagonal(machine.topology, node, h)) sources.push_back(node);
    }
    std::vector<Bundle> after_row(machine.topology.nodes());
    std::vector<std::size_t> held(machine.topology.nodes());
    const RunResult run = run_phase(machine, sources, block_bytes, 1, [&](Node& node) {
      return [](Node& self, const LineTree& window, Bundle& bundle, std::size_t& count) -> Program {
        bundle = own_blocks(self);
        co_await broadcast_row(self, window, bundle);
        Bundle passing = bundle;
        co_await column_ring(self, window.positions(), passing);
        count = self.blocks().size();
      }(node, row, after_row[node.rank()], held[node.rank()]);
    });
    CHECK(run.good());
    CHECK(run.steps == L(3, h) + static_cast<std::uint64_t>(h) - 1);
    CHECK(run.channel_bytes_sum == run.steps * block_bytes);
    for (NodeId node = 0; node < machine.topology.nodes(); ++node) {
      REQUIRE(after_row[node].size() == 1);
      CHECK(after_row[node][0] / static_cast<BlockId>(2 * h) == node / static_cast<NodeId>(2 * h));  // of its own row
      CHECK(held[node] == static_cast<std::size_t>(h));
    }
  }
}

TEST_CASE("the ring of a column visits every place once", "[unit]") {
  for (std::int32_t h = 2; h <= 40; ++h) {
    CAPTURE(h);
    std::set<std::int32_t> seen;
    std::int32_t y = 0;
    for (std::int32_t i = 0; i < h; ++i) {
      seen.insert(y);
      CHECK(std::abs(column_ring_hop(y, h)) <= 2);
      y += column_ring_hop(y, h);
      CHECK((y >= 0 && y < h));
    }
    CHECK(y == 0);
    CHECK(seen.size() == static_cast<std::size_t>(h));
  }
}

TEST_CASE("the ring all-gather brings every part everywhere, both ways round", "[unit]") {
  for (const char* shape : {"2", "3", "8", "1x5", "2x2", "5x5", "6x6", "4x7", "3x8", "2x3x4", "3x3x3", "2x2x2x2"}) {
    CAPTURE(shape);
    const Machine machine(Topology::parse(shape));
    const RingGather rings = whole_rings(machine.topology, "rings");
    const auto parts = static_cast<std::uint32_t>(rings.parts());
    std::vector<std::vector<Bundle>> got(machine.topology.nodes());
    const RunResult run = run_phase(machine, all_nodes(machine.topology.nodes()), parts * block_bytes, parts, [&](Node& node) {
      return [](Node& self, const RingGather& r, std::vector<Bundle>& bundles) -> Program {
        bundles = split_parts(self.blocks(), r.axes.size());
        co_await ring_gather(self, r, true, bundles);
      }(node, rings, got[node.rank()]);
    });
    CHECK(run.good());
    CHECK(run.duplicates == 0);
    CHECK(run.steps == static_cast<std::uint64_t>(rings.steps()));
    CHECK(static_cast<double>(run.channel_bytes_sum) == rings.channel_bytes(block_bytes * parts, 1, 1, machine.topology.nodes()));
    for (const std::vector<Bundle>& bundles : got) {
      for (const Bundle& bundle : bundles) CHECK(bundle.size() == machine.topology.nodes());
    }
  }
}

TEST_CASE("the scatter cuts every bundle of a DDN alike over its windows, and the rings modulo h put it together again", "[unit]") {
  for (const auto& [shape, h] : std::vector<std::pair<const char*, std::int32_t>>{
           {"6x6", 2}, {"6x6", 6}, {"5x10", 5}, {"8x8", 4}, {"16x8", 8}, {"4x4x4", 2}, {"3x6x3", 3}, {"2x4x2x2", 2}}) {
    CAPTURE(shape, h);
    const Machine machine(Topology::parse(shape));
    const LineTree window = LineTree::window(3, h);
    RingGather rings = whole_rings(machine.topology, "dcn-rings");
    std::fill(rings.lengths.begin(), rings.lengths.end(), h);
    const auto k = static_cast<std::uint32_t>(machine.topology.dimensions());
    std::vector<std::size_t> held(machine.topology.nodes());
    // After an all-gather every node holds everything; then a DDN's nodes act as if they had the bundle of their DDN alone: of the
    // sources whose rank is congruent to the DDN's number.
    const RunResult run = run_phase(machine, all_nodes(machine.topology.nodes()), k * block_bytes, k, [&](Node& node) {
      return [](Node& self, const LineTree& w, const RingGather& r, std::size_t& count) -> Program {
        const Dimension dimensions = self.dimensions();
        const auto places = static_cast<NodeId>(w.positions());
        const RingGather everywhere = whole_rings(self.topology(), "rings");
        std::vector<Bundle> all = split_parts(self.blocks(), everywhere.axes.size());
        co_await ring_gather(self, everywhere, true, all);
        bool member = true;
        for (Dimension d = 1; d < dimensions; ++d) member &= (self.coordinate(d) - self.coordinate(0)) % w.positions() == 0;
        std::vector<Bundle> parts(all.size());
        const auto pieces = static_cast<BlockId>(parts.size());
        for (BlockId t = 0; t < pieces; ++t) {
          for (BlockId source = 0; member && source < self.topology().nodes(); ++source) {
            if (source % places == static_cast<NodeId>(self.coordinate(0)) % places) parts[t].push_back(source * pieces + t);
          }
        }
        co_await scatter_windows(self, w, parts);
        co_await ring_gather(self, r, true, parts);
        std::set<BlockId> different;
        for (const Bundle& part : parts) different.insert(part.begin(), part.end());
        count = different.size();
      }(node, window, rings, held[node.rank()]);
    });
    CHECK(run.good());
    for (const std::size_t count : held) CHECK(count == std::size_t{k} * machine.topology.nodes());
  }
}

TEST_CASE("gathering the windows of a torus of three and more dimensions leaves all at nodes with congruent coordinates", "[unit]") {
  for (const auto& [shape, h] :
       std::vector<std::pair<const char*, std::int32_t>>{{"4x4x4", 2}, {"6x3x9", 3}, {"5x5x5", 5}, {"2x2x4x2", 2}}) {
    CAPTURE(shape, h);
    const Machine machine(Topology::parse(shape));
    const LineTree window = LineTree::window(3, h);
    std::vector<Bundle> bundles(machine.topology.nodes());
    const RunResult run = run_phase(machine, all_nodes(machine.topology.nodes()), block_bytes, 1, [&](Node& node) {
      return [](Node& self, const LineTree& tree, Bundle& bundle) -> Program {
        bundle = own_blocks(self);
        co_await gather_windows(self, tree, bundle);
      }(node, window, bundles[node.rank()]);
    });
    CHECK(run.good());
    CHECK(run.steps == static_cast<std::uint64_t>(machine.topology.dimensions() - 1) * L(3, h));
    std::size_t sum = 0;
    for (NodeId node = 0; node < machine.topology.nodes(); ++node) {
      if (bundles[node].empty()) continue;
      sum += bundles[node].size();
      for (Dimension d = 1; d < machine.topology.dimensions(); ++d) {
        CHECK(machine.topology.coordinate(node, d) % h == machine.topology.coordinate(node, 0) % h);
      }
    }
    CHECK(sum == machine.topology.nodes());
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
