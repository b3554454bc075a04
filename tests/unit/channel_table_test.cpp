// SPDX-License-Identifier: MIT
#include "runtime/detail/channel_table.hpp"

#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"

using namespace torus;
using namespace torus::detail;

namespace {

const std::vector<std::string> shapes = {"1", "2", "7", "4x5", "1x6", "6x1", "3x1x4", "4mx3x2", "3x4cx2", "5c", "2^6", "mesh:3x5"};

/// Calls f(table, topology) for each shape, with packet and with long-distance switching.
template <class F>
void each_table(F&& f) {
  for (const std::string& shape : shapes) {
    for (const Switching switching : {Switching::packet, Switching::wormhole}) {
      CAPTURE(shape, switching == Switching::packet);
      const Topology topology = Topology::parse(shape);
      const Machine machine(topology, topology.max_ports(), switching);
      ChannelTable table(machine);
      table.make(0, 1);
      f(table, topology);
    }
  }
}

}  // namespace

TEST_CASE("the parts of the channels have each of them once", "[unit]") {
  each_table([](ChannelTable& table, const Topology& topology) {
    for (unsigned parts = 1; parts <= 7; ++parts) {
      CAPTURE(parts);
      std::set<const ChannelEntry*> seen;
      std::size_t calls = 0;
      for (unsigned part = 0; part < parts; ++part) {
        table.each_of_part(part, parts, [&](const ChannelEntry& entry) {
          seen.insert(&entry);
          ++calls;
        });
      }
      const std::size_t all = std::size_t{topology.nodes()} * static_cast<std::size_t>(topology.channel_slots());
      CHECK(calls == all);
      CHECK(seen.size() == all);
    }
  });
}

TEST_CASE("a leg is walked hop by hop to its neighbour, and no channel stands for two", "[unit]") {
  each_table([](ChannelTable& table, const Topology& topology) {
    std::set<const ChannelEntry*> single;
    for (NodeId from = 0; from < topology.nodes(); ++from) {
      for (Dimension d = 0; d < topology.dimensions(); ++d) {
        const std::int32_t n = topology.extent(d);
        const bool complete = topology.wiring(d) == Wiring::complete;
        const std::int32_t most = topology.wiring(d) == Wiring::ring && n > 1 ? n : n - 1;
        for (std::int32_t hops = -n - 1; hops <= n + 1; ++hops) {
          if (hops == 0) continue;
          CAPTURE(from, d, hops);
          std::vector<const ChannelEntry*> crossed;
          const ChannelTable::End end = table.walk(from, {d, hops}, [&](const ChannelEntry& entry) { crossed.push_back(&entry); });
          const std::optional<NodeId> to = std::abs(hops) > most || (complete && hops < 0) ? std::nullopt : topology.neighbour(from, d, hops);
          REQUIRE(end.node == to.value_or(no_node));
          REQUIRE(crossed.size() == static_cast<std::size_t>(!to ? 0 : complete ? 1 : std::abs(hops)));
          if (!to) continue;
          CHECK(end.slot == static_cast<std::uint32_t>(topology.slot(d, hops)));
          if (crossed.size() == 1) CHECK(single.insert(crossed[0]).second);
          if (complete) continue;
          NodeId at = from;
          for (const ChannelEntry* entry : crossed) {
            at = table.walk(at, {d, hops > 0 ? 1 : -1}, [&](const ChannelEntry& one) { CHECK(&one == entry); }).node;
          }
          CHECK(at == *to);
        }
      }
    }
  });
}
