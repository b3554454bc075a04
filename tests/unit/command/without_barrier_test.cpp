// The channel dependency graph of a trace, against a simulation of small wormhole networks that tries every order of events.
#include "tools/torus/traces/without_barrier.hpp"

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;
using command::WithoutBarrier;

namespace {

[[maybe_unused]] TraceHeader header_on(const char* shape) {
  return {.machine = Machine(Topology(shape)), .collective = "multinode-broadcast"};
}

[[maybe_unused]] TraceMessage message_along(const Topology& topology, Step step, NodeId from, std::vector<Leg> path) {
  TraceMessage m;
  m.step = step;
  m.source = m.destination = from;
  for (const Leg& leg : path) m.destination = *topology.neighbour(m.destination, leg.dimension, leg.hops);
  m.path.assign(path.begin(), path.end());
  return m;
}

/// Wormhole routers with one flit of buffer a channel, and no barrier: whether some order of events ends with messages that wait for ever.
/// A node injects a step's messages once it has received all of earlier steps. A worm holds the last `length` channels behind its head.
class Simulation {
 public:
  Simulation(const Topology& topology, const std::vector<TraceMessage>& messages, int length) : messages_{messages}, length_{length} {
    for (const TraceMessage& m : messages) {
      std::vector<ChannelName> route;
      each_channel(topology, m.source, m.path, [&](const ChannelName& c) { route.push_back(c); });
      routes_.push_back(std::move(route));
    }
  }
  bool deadlocks() { return deadlocks(std::vector<int>(messages_.size(), 0)); }

 private:
  bool arrived(const std::vector<int>& heads, std::size_t m) const { return heads[m] > static_cast<int>(routes_[m].size()); }
  bool taken(const std::vector<int>& heads, const ChannelName& channel) const {
    for (std::size_t m = 0; m < heads.size(); ++m) {
      if (arrived(heads, m)) continue;
      for (int i = std::max(0, heads[m] - length_); i < heads[m]; ++i)
        if (routes_[m][static_cast<std::size_t>(i)] == channel) return true;
    }
    return false;
  }
  bool may_send(const std::vector<int>& heads, std::size_t m) const {
    for (std::size_t other = 0; other < heads.size(); ++other)
      if (messages_[other].destination == messages_[m].source && messages_[other].step < messages_[m].step && !arrived(heads, other))
        return false;
    return true;
  }
  /// heads: channels that the head of each message has taken; one more than there are: it has arrived.
  bool deadlocks(const std::vector<int>& heads) {
    if (!seen_.insert(heads).second) return false;
    bool moved = false, all = true;
    for (std::size_t m = 0; m < heads.size(); ++m) {
      if (arrived(heads, m)) continue;
      all = false;
      const auto at = static_cast<std::size_t>(heads[m]);
      if (at == 0 && !may_send(heads, m)) continue;
      if (at < routes_[m].size() && taken(heads, routes_[m][at])) continue;
      moved = true;
      std::vector<int> next = heads;
      ++next[m];
      if (deadlocks(next)) return true;
    }
    return !moved && !all;
  }

  const std::vector<TraceMessage>& messages_;
  int length_;
  std::vector<std::vector<ChannelName>> routes_;
  std::set<std::vector<int>> seen_;
};

}  // namespace

TEST_CASE("what deadlocks in some order of events is not called free of deadlock", "[unit]") {
  CAPTURE(support::seed());
  std::mt19937_64 random(support::seed());
  const auto below = [&](std::size_t n) { return static_cast<int>(random() % n); };
  int deadlocks = 0, free = 0;
  for (int turn = 0; turn < 500; ++turn) {
    const std::vector<const char*> shapes{"3", "4", "5", "3x3", "4x3", "2x4", "3mx4", "mesh:3x3", "3x4c"};
    const TraceHeader header = header_on(shapes[static_cast<std::size_t>(below(shapes.size()))]);
    const Topology& topology = header.machine.topology;
    std::vector<TraceMessage> messages;
    const int count = 3 + below(4);
    while (static_cast<int>(messages.size()) < count) {
      const auto from = static_cast<NodeId>(below(topology.nodes()));
      std::vector<Leg> path;
      const int legs = 1 + below(2);
      std::int32_t hops = 0;
      for (NodeId at = from; static_cast<int>(path.size()) < legs;) {
        const auto d = static_cast<Dimension>(below(static_cast<std::size_t>(topology.dimensions())));
        const bool complete = topology.wiring(d) == Wiring::complete;
        const int far = 1 + below(static_cast<std::size_t>(topology.extent(d) - 1));
        const Leg leg{d, complete || below(2) == 0 ? far : -far};
        const auto to = topology.neighbour(at, d, leg.hops);
        if (!to) continue;
        at = *to;
        hops += hops_of(topology, leg);
        path.push_back(leg);
      }
      if (hops <= 5) messages.push_back(message_along(topology, static_cast<Step>(below(3)), from, path));
    }
    WithoutBarrier without(header);
    for (const TraceMessage& m : messages) without.message(m);
    const bool called_free = without.cycle().empty();
    free += called_free ? 1 : 0;
    for (const int length : {1, 2, 100}) {
      if (!Simulation(topology, messages, length).deadlocks()) continue;
      ++deadlocks;
      INFO("turn " << turn << " on " << topology.text() << " length " << length);
      REQUIRE_FALSE(called_free);
    }
  }
  INFO(deadlocks << " deadlocks, " << free << " called free");
  CHECK(deadlocks > 20);
  CHECK(free > 50);
}

TEST_CASE("a cycle around a ring is named link by link, and a dateline breaks it", "[unit]") {
  const TraceHeader header = header_on("3x4");
  const Topology& topology = header.machine.topology;
  WithoutBarrier without(header);
  for (NodeId node = 0; node < 4; ++node) without.message(message_along(topology, node, node, {{1, 2}}));
  const auto cycle = without.cycle();
  REQUIRE(cycle.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(cycle[i].asked == cycle[(i + 1) % 4].held);
    CHECK(cycle[i].source == cycle[i].held.from);
    CHECK(cycle[i].step == cycle[i].source);
    CHECK(cycle[i].destination == (cycle[i].source + 2) % 4);
  }
  CHECK(without.cycle({false, true}).empty());
  CHECK(without.cycle({true, false}).size() == 4);
  CHECK(without.datelines() == std::vector<Dimension>{1});
  // A message of a line's length and one back do not wait for each other; nor do single hops around a ring.
  WithoutBarrier hops(header);
  for (NodeId node = 0; node < 4; ++node) hops.message(message_along(topology, 0, node, {{1, 1}}));
  CHECK(hops.cycle().empty());
  CHECK(hops.datelines() == std::vector<Dimension>{});
}

/// Nodes that send all messages of a step, without a buffer, and then receive those of it: whether they wait for ever. What comes to a
/// node that receives is taken, whatever the order.
[[maybe_unused]] bool sends_hang(const std::vector<TraceMessage>& messages) {
  std::vector<bool> taken(messages.size());
  const auto open = [&](NodeId node, Step until, bool sends) {  // something that it must do before
    for (std::size_t m = 0; m < messages.size(); ++m) {
      const bool mine = sends ? messages[m].source == node : messages[m].destination == node;
      if (mine && !taken[m] && messages[m].step < until) return true;
    }
    return false;
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t m = 0; m < messages.size(); ++m) {
      const Step step = messages[m].step;
      const NodeId from = messages[m].source, to = messages[m].destination;
      if (taken[m] || open(from, step, true) || open(from, step, false)) continue;  // not sent yet
      if (open(to, step, false) || open(to, step + 1, true)) continue;              // not ready to receive
      taken[m] = moved = true;
    }
  }
  return std::find(taken.begin(), taken.end(), false) != taken.end();
}

TEST_CASE("nodes that send first wait for one another exactly where they form a circle in a step", "[unit]") {
  CAPTURE(support::seed());
  std::mt19937_64 random(support::seed());
  int hang = 0;
  constexpr int turns = 2000;
  for (int turn = 0; turn < turns; ++turn) {
    const auto nodes = static_cast<NodeId>(2 + random() % 5);
    std::vector<TraceMessage> messages(1 + random() % 8);
    for (TraceMessage& m : messages) {
      m.step = static_cast<Step>(random() % 3);
      m.source = static_cast<NodeId>(random() % nodes);
      m.destination = static_cast<NodeId>((m.source + 1 + random() % (nodes - 1)) % nodes);
    }
    std::stable_sort(messages.begin(), messages.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
    command::BlockingSends sends;
    for (const TraceMessage& m : messages) sends.message(m);
    const command::Circle circle = sends.circle();
    CHECK(!circle.nodes.empty() == sends_hang(messages));
    for (std::size_t i = 0; i < circle.nodes.size(); ++i) {
      const NodeId from = circle.nodes[i], to = circle.nodes[(i + 1) % circle.nodes.size()];
      CHECK(std::any_of(messages.begin(), messages.end(),
                        [&](const TraceMessage& m) { return m.step == circle.step && m.source == from && m.destination == to; }));
    }
    hang += circle.nodes.empty() ? 0 : 1;
  }
  CHECK(hang > turns / 20);
  CHECK(hang < turns - turns / 20);
}

TEST_CASE("turns of all kinds make a cycle that no dateline breaks", "[unit]") {
  const TraceHeader header = header_on("mesh:3x3");
  const Topology& topology = header.machine.topology;
  WithoutBarrier without(header);
  without.message(message_along(topology, 0, 0, {{1, 1}, {0, 1}}));
  without.message(message_along(topology, 0, 1, {{0, 1}, {1, -1}}));
  without.message(message_along(topology, 0, 4, {{1, -1}, {0, -1}}));
  CHECK(without.cycle().empty());
  without.message(message_along(topology, 0, 3, {{0, -1}, {1, 1}}));
  CHECK(without.cycle().size() == 4);
  CHECK_FALSE(without.datelines().has_value());
}

TEST_CASE("what waits at a node to be sent on is counted from its arrival to its last send", "[unit]") {
  const TraceHeader header = header_on("5");
  const Topology& topology = header.machine.topology;
  const auto carry = [&](Step step, NodeId from, std::vector<std::uint64_t> blocks) {
    TraceMessage m = message_along(topology, step, from, {{0, 1}});
    m.bytes = 10 * blocks.size();
    m.blocks = std::move(blocks);
    return m;
  };
  WithoutBarrier without(header);
  without.message(carry(0, 0, {0}));     // waits at 1 in steps 1 and 2
  without.message(carry(1, 0, {4, 3}));  // wait at 1 in step 2; 3 goes nowhere
  CHECK(without.buffered().blocks == 0);
  without.message(carry(2, 1, {0, 4}));
  CHECK(without.buffered().blocks == 2);
  CHECK(without.buffered().bytes == 20);
  without.message(carry(3, 2, {0}));
  CHECK(without.buffered().blocks == 2);
  without.message(carry(4, 0, {2, 1}));
  without.message(carry(5, 1, {2}));
  without.message(carry(6, 1, {0, 2, 1}));  // all three wait in step 5, 0 since step 0
  CHECK(without.buffered().blocks == 3);
}
