/// The phases of the multi-node broadcasts that gather, each alone: what every node has after it, in how many steps, with how much on the
/// fullest channel.
#include <algorithm>
#include <set>

#include "algorithms/common/integers.hpp"
#include "algorithms/multinode_broadcast/aggregate_distribute/aggregate_distribute.hpp"
#include "algorithms/multinode_broadcast/aggregate_distribute/exchange.hpp"
#include "algorithms/multinode_broadcast/aggregate_distribute/prefix.hpp"
#include "algorithms/multinode_broadcast/diagonal.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"
#include "algorithms/multinode_broadcast/hierarchical/windows.hpp"
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
