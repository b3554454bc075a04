#include "runtime/engine/network/channel_table.hpp"

#include <array>
#include <atomic>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/catch.hpp"

using namespace torus;
using namespace torus::detail;

namespace {

const std::vector<std::string> shapes = {"1",      "2",      "7",  "4x5", "1x6",      "6x1",  "3x1x4",
                                         "4mx3x2", "3x4cx2", "5c", "2^6", "mesh:3x5", "32x3", "2x64m"};

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
          const std::optional<NodeId> to =
              std::abs(hops) > most || (complete && hops < 0) ? std::nullopt : topology.neighbour(from, d, hops);
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

TEST_CASE("a channel for which one worker bids is its, in every step, and nobody's twice", "[unit]") {
  ChannelEntry channel{};
  channel.begin(3);
  Bytes carried = 0;
  for (std::uint32_t now = 1; now < 20; ++now) {
    for (const std::uint32_t first : {3U, 0U, 5U}) {
      for (const std::uint32_t second : {3U, 0U, 5U}) {
        CAPTURE(now, first, second);
        ChannelEntry again = channel;
        REQUIRE(again.bid(first, now));
        ChannelEntry::bids_made();
        REQUIRE(again.win(first, now, 7));
        const bool taken = again.bid(second, now);
        ChannelEntry::bids_made();
        REQUIRE_FALSE((taken && again.win(second, now, 7)));
        CHECK(again.bytes() == carried + 7);
        CHECK(again.owner() == 3);
      }
    }
    const std::uint32_t worker = now % 5;  // the next steps find the stamps of remote workers and of its owner
    REQUIRE(channel.bid(worker, now));
    REQUIRE(channel.win(worker, now, now));
    carried += now;
  }
}

TEST_CASE("of two workers that bid for a channel at the same time one at most wins it", "[unit]") {
  constexpr std::uint32_t rounds = 20'000;
  for (const std::array<std::uint32_t, 2>& workers : {std::array<std::uint32_t, 2>{0, 1}, std::array<std::uint32_t, 2>{1, 2}}) {
    CAPTURE(workers[0], workers[1]);
    ChannelEntry channel{};  // worker 0 owns it
    std::array<std::atomic<std::uint32_t>, 2> arrived{0, 0};
    std::array<std::array<bool, rounds + 1>, 2> won{};
    const auto bid = [&](std::size_t i) {
      for (std::uint32_t round = 1; round <= rounds; ++round) {
        arrived[i].store(round);
        for (int spin = 0; arrived[1 - i].load() < round; ++spin) {
          if (spin > 1000) std::this_thread::yield();
        }
        if (!channel.bid(workers[i], round)) continue;
        ChannelEntry::bids_made();
        won[i][round] = channel.win(workers[i], round, 1);
      }
    };
    std::jthread other(bid, std::size_t{1});
    bid(0);
    other.join();
    std::uint32_t both = 0;
    for (std::uint32_t round = 1; round <= rounds; ++round) both += won[0][round] && won[1][round] ? 1U : 0U;
    CHECK(both == 0);
  }
}

TEST_CASE("a run begins with channels that no stranger of the last run has claimed", "[unit]") {
  const Machine machine(Topology::parse("4x5"), 4, Switching::wormhole);
  ChannelTable table(machine);
  table.make(0, 1);
  for (int run = 0; run < 2; ++run) {
    CAPTURE(run);
    table.clear(0, 1);  // worker 0 owns them all
    std::size_t refused = 0;
    table.each_of_part(0, 1, [&](ChannelEntry& entry) {
      const bool fresh = !table.used(entry) && entry.bid(1, 1) && entry.win(1, 1, 8);
      refused += fresh ? 0 : 1;
    });
    CHECK(refused == 0);
  }
}
