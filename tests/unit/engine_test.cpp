#include <algorithm>
#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <torus/engine.hpp>
#include <torus/error.hpp>

#include "runtime/host/host_memory.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/run.hpp"

using namespace torus;
using support::emulate;

namespace {

/// The message of node 0, one block of so many bytes, for every node of a machine.
Placement from_zero(const Machine& machine, Bytes bytes = 100, std::uint32_t segments = 1) {
  return Placement::replicated(machine.topology, {0}, bytes, segments);
}

/// Passes the message of node 0 along a line or a ring, one hop a step.
Program pass_on(Node& self) {
  if (self.blocks().empty()) co_await self.arrival();
  const std::optional<NodeId> next = self.neighbour({0, +1});
  if (next && *next != 0) self.send({{0, +1}}, self.blocks());
}

const std::vector<BlockId> no_blocks;

/// Blocks of which two do not fit in the last cache: the engine stores them past it, from the second step on.
const Bytes more_than_cached = last_level_cache() / 2 + 64;

}  // namespace

TEST_CASE("a message sent in a step arrives at the start of the next", "[unit]") {
  const Machine machine(Topology::parse("4x5"));
  const NodeId to = machine.topology.rank(Coordinates{1, 3});
  int arrived = 0;
  const auto program = [&](Node& self) -> Program {
    if (self.rank() == 0) self.send({{0, 1}, {1, -2}}, self.blocks(), {11U, 22U});
    if (self.rank() == to) {
      const Arrivals arrivals = co_await self.arrival();
      arrived += static_cast<int>(arrivals.size());
      const Message& m = arrivals.front();
      CHECK(self.now() == 1);
      CHECK(m.step() == 0);
      CHECK(m.source() == 0);
      CHECK(m.destination() == to);
      CHECK(support::text_of(m) == "0: 0 [[0,1][1,-2]] -> " + std::to_string(to) + ", 108 bytes, blocks 0, header 11 22");
      CHECK(m.dimension() == 1);
      CHECK(m.direction() < 0);
      CHECK(self.holds(0));
      CHECK(self.bytes(0).size() == 100);
      CHECK_FALSE(first_wrong_byte(self.bytes(0), 1, 0));
    }
  };
  const RunResult result = emulate(machine, from_zero(machine), program).result;
  CHECK(arrived == 1);
  CHECK(result.steps == 1);
  CHECK(result.busy_steps == 1);
}

TEST_CASE("a run accounts for every message, hop and byte", "[unit]") {
  const Machine machine(Topology::parse("8m"), 0, Switching::packet, Contention::forbid, {},
                        {.start_up_s = 1, .byte_s = 0.5, .hop_s = 0.25});
  const RunResult result = emulate(machine, from_zero(machine), pass_on).result;
  CHECK(result.verified);
  CHECK(result.good());
  CHECK(result.steps == 7);
  CHECK(result.busy_steps == 7);
  CHECK(result.messages == 7);
  CHECK(result.control_messages == 0);
  CHECK(result.hops == 7);
  CHECK(result.blocks_delivered == 7);
  CHECK(result.bytes_delivered == 700);
  CHECK(result.control_bytes == 0);
  CHECK(result.bytes_hops == 700);
  CHECK(result.duplicates == 0);
  CHECK(result.max_channel_load == 1);
  CHECK(result.channel_bytes_max == 100);
  CHECK(result.channel_bytes_mean == Approx(700.0 / 14));
  CHECK(result.channel_idle_share == Approx(7.0 / 14));
  CHECK(result.channel_bytes_sum == 700);
  CHECK(result.model_time_s == Approx(7 * (1 + 100 * 0.5 + 0.25)));
  CHECK(result.step_records.size() == 7);
}

TEST_CASE("a message of several hops weighs on every channel that it crosses", "[unit]") {
  const Machine machine(Topology::parse("8"), 0, Switching::wormhole, Contention::forbid, {},
                        {.start_up_s = 1, .byte_s = 0.5, .hop_s = 0.25});
  const auto program = [](Node& self) -> Program {
    if (self.rank() == 0) self.send({{0, +3}}, self.blocks());
    co_await self.step();
  };
  const RunResult result = emulate(machine, Placement::replicated(machine.topology, {0}, 100), program).result;
  CHECK(result.messages == 1);
  CHECK(result.hops == 3);
  CHECK(result.bytes_delivered == 100);
  CHECK(result.bytes_hops == 300);
  CHECK(result.channel_bytes_mean == Approx(300.0 / 16));
  CHECK(result.channel_idle_share == Approx(13.0 / 16));
  CHECK(result.channel_bytes_sum == 100);
  CHECK(result.model_time_s == Approx(1 + 100 * 0.5 + 3 * 0.25));
}

TEST_CASE("headers weigh four bytes a word", "[unit]") {
  const Machine machine(Topology::parse("2m"));
  const auto program = [](Node& self) -> Program {
    if (self.rank() == 0) {
      self.send({{0, +1}}, self.blocks(), {1U, 2U, 3U});
      co_await self.step();
      self.send({{0, +1}}, no_blocks, {4U});
    }
  };
  const RunResult result = emulate(machine, from_zero(machine), program).result;
  CHECK(result.verified);
  CHECK(result.messages == 2);
  CHECK(result.control_messages == 1);
  CHECK(result.control_bytes == 16);
  CHECK(result.bytes_delivered == 100);
  CHECK(result.channel_bytes_sum == 112 + 4);
}

TEST_CASE("a sender may overwrite its block as soon as send has returned", "[unit]") {
  const Machine machine(Topology::parse("3m"), 0, GENERATE(Switching::packet, Switching::wormhole));
  const Bytes bytes = GENERATE(Bytes{100}, Bytes{4096}, more_than_cached);
  const bool asks_before = GENERATE(false, true);
  const auto program = [asks_before](Node& self) -> Program {
    if (self.rank() > 0) co_await self.arrival();
    if (self.rank() == 2) co_return;
    std::span<std::byte> mine;
    if (asks_before) mine = self.bytes(0);
    self.send({{0, +1}}, self.blocks());
    if (!asks_before) mine = self.bytes(0);
    const std::vector<std::byte> right(mine.begin(), mine.end());
    std::fill(mine.begin(), mine.end(), std::byte{0});
    co_await self.step();
    co_await self.step();
    std::copy(right.begin(), right.end(), self.bytes(0).begin());
  };
  CHECK(emulate(machine, from_zero(machine, bytes), program).result.verified);
}

TEST_CASE("a sender may release its block as soon as send has returned", "[unit]") {
  const Machine machine(Topology::parse("3m"), 0, GENERATE(Switching::packet, Switching::wormhole));
  const Bytes bytes = GENERATE(Bytes{100}, more_than_cached);
  const auto program = [](Node& self) -> Program {
    if (self.rank() > 0) co_await self.arrival();
    if (self.rank() == 2) co_return;
    self.send({{0, +1}}, self.blocks());
    self.release(0);
  };
  Engine engine(machine, from_zero(machine, bytes), {.executor = ExecutorKind::serial});
  const RunResult result = engine.run(program);
  REQUIRE(result.wrong);
  CHECK(result.wrong->node == 0);  // as it has none any more
  REQUIRE(engine.bytes(2, 0).size() == bytes);
  CHECK_FALSE(first_wrong_byte(engine.bytes(2, 0), 1, 0));
}

TEST_CASE("a released block arrives whole, whatever takes its place", "[unit]") {
  const Machine machine(Topology::parse("3"), 0, GENERATE(Switching::packet, Switching::wormhole));
  // The copy of the first, of 2 KiB, may wait; that of the second is made at once, to the place that the first has left.
  const Placement placement = from_zero(machine, 4095, 2);
  const auto program = [](Node& self) -> Program {
    if (self.rank() > 0) {
      co_await self.arrival();
      co_return;
    }
    const BlockId first = 0, second = 1;
    self.send({{0, +1}}, {&first, 1});
    self.release(first);
    self.send({{0, -1}}, {&second, 1});
  };
  Engine engine(machine, placement, {.executor = ExecutorKind::serial});
  CHECK(engine.run(program).violations.empty());
  REQUIRE(engine.bytes(1, 0).size() == 2048);
  REQUIRE(engine.bytes(2, 1).size() == 2047);
  CHECK_FALSE(first_wrong_byte(engine.bytes(1, 0), 1, 0));
  CHECK_FALSE(first_wrong_byte(engine.bytes(2, 1), 1, 1));
}

TEST_CASE("what a sender writes after sending stays with the sender", "[unit]") {
  const Machine machine(Topology::parse("3m"), 0, Switching::packet);
  const auto program = [](Node& self) -> Program {
    if (self.rank() > 0) co_await self.arrival();
    if (self.rank() == 2) co_return;
    self.send({{0, +1}}, self.blocks());
    if (self.rank() == 1) self.bytes(0)[5] ^= std::byte{1};
  };
  const RunResult result = emulate(machine, from_zero(machine), program).result;
  REQUIRE(result.wrong);
  CHECK(result.wrong->node == 1);
  CHECK(result.wrong->offset == 5);
}

TEST_CASE("arrivals come ordered by in-channel, then by source", "[unit]") {
  struct Case {
    Contention contention;
    std::vector<Coordinates> senders;  // all to the centre of a 5x5 torus, which has four ports
  };
  const std::vector<Case> cases{{Contention::forbid, {{1, 2}, {2, 1}, {2, 3}, {3, 2}}},
                                {Contention::share, {{0, 2}, {1, 2}, {2, 0}, {2, 1}}},
                                {Contention::share, {{2, 3}, {2, 4}, {3, 2}, {4, 2}}}};
  const NodeId centre = 12;
  const auto slot_of = [](const Message& m) { return m.dimension() * 2 + (m.direction() > 0 ? 0 : 1); };
  for (const Case& c : cases) {
    const Machine machine(Topology::parse("5x5"), 0, Switching::wormhole, c.contention);
    for (const support::Workers& workers : support::every_executor()) {
      CAPTURE(workers.text());
      std::vector<std::pair<int, NodeId>> order;
      const auto program = [&](Node& self) -> Program {
        if (std::find(c.senders.begin(), c.senders.end(), self.coordinates()) != c.senders.end()) self.send(centre, no_blocks);
        if (self.rank() == centre) {
          for (const Message& m : co_await self.arrival()) order.emplace_back(slot_of(m), m.source());
        }
      };
      const RunResult result = emulate(machine, Placement::resident(machine.topology, 1, 8), program, workers).result;
      CHECK(result.violations.empty());
      CHECK(order.size() == 4);
      CHECK(std::is_sorted(order.begin(), order.end()));
    }
  }
}

TEST_CASE("a step's model time is that of its fullest channel and its longest route, not of all its messages", "[unit]") {
  const Machine machine(Topology::parse("4x4"), 0, Switching::wormhole, Contention::forbid, {},
                        {.start_up_s = 1, .byte_s = 0.5, .hop_s = 0.25});
  const auto program = [](Node& self) -> Program {
    if (self.rank() == 0) {
      self.send({{0, +1}}, self.blocks());
      self.send({{1, +1}}, no_blocks, {1U, 2U, 3U});
      self.send({{0, -1}, {1, -1}}, no_blocks, {1U});
    }
    co_await self.step();
  };
  const RunResult result = emulate(machine, Placement::resident(machine.topology, 1, 100), program).result;
  CHECK(result.channel_bytes_sum == 100);
  CHECK(result.model_time_s == Approx(1 + 100 * 0.5 + 2 * 0.25));
}

TEST_CASE("steps are the barriers crossed until all programs have ended", "[unit]") {
  const Machine machine(Topology::parse("4"));
  const auto waits = [](NodeId who, int steps) {
    return [=](Node& self) -> Program {
      if (self.rank() == who) {
        for (int i = 0; i < steps; ++i) co_await self.step();
      }
    };
  };
  const Placement nothing = Placement::resident(machine.topology, 1, 8);
  CHECK(emulate(machine, nothing, waits(2, 0)).result.steps == 0);
  const RunResult idle = emulate(machine, nothing, waits(2, 5)).result;
  CHECK(idle.steps == 5);
  CHECK(idle.busy_steps == 0);
  CHECK(idle.verified);
}

TEST_CASE("a node whose program has ended still takes what arrives", "[unit]") {
  const Machine machine(Topology::parse("2m"));
  const auto program = [](Node& self) -> Program {
    if (self.rank() == 0) self.send({{0, +1}}, self.blocks());
    co_return;
  };
  const RunResult result = emulate(machine, from_zero(machine), program).result;
  CHECK(result.verified);
  CHECK(result.steps == 1);
}

TEST_CASE("a block that arrives twice is counted and dropped", "[unit]") {
  const Machine machine(Topology::parse("2m"));
  const auto program = [](Node& self) -> Program {
    for (int i = 0; i < 3; ++i) {
      if (self.rank() == 0) self.send({{0, +1}}, self.blocks());
      co_await self.step();
    }
  };
  const RunResult result = emulate(machine, from_zero(machine), program).result;
  CHECK(result.verified);
  CHECK(result.blocks_delivered == 3);
  CHECK(result.duplicates == 2);
}

TEST_CASE("a forwarded block leaves its node", "[unit]") {
  const Machine machine(Topology::parse("3m"), 0, Switching::packet);
  const Placement scatter = Placement::scattered(machine.topology, 0, 40);
  const auto program = [](Node& self) -> Program {
    if (self.rank() == 0) {
      const std::vector<BlockId> away{1, 2};
      self.forward({{0, +1}}, away);
      CHECK_FALSE(self.holds(1));
      CHECK(self.holds(0));
    }
    if (self.rank() == 1) {
      co_await self.arrival();
      CHECK(std::vector<BlockId>(self.blocks().begin(), self.blocks().end()) == std::vector<BlockId>{1, 2});
      const std::vector<BlockId> away{2};
      self.forward({{0, +1}}, away);
      CHECK(std::vector<BlockId>(self.blocks().begin(), self.blocks().end()) == std::vector<BlockId>{1});
    }
  };
  CHECK(emulate(machine, scatter, program).result.verified);
}

TEST_CASE("a program is made of programs that return values", "[unit]") {
  struct Sub {
    static ProgramOf<int> leaf(Node& self, int steps) {
      for (int i = 0; i < steps; ++i) co_await self.step();
      co_return steps;
    }
    static ProgramOf<int> sum(Node& self, int upto) {
      int total = 0;
      for (int i = 0; i <= upto; ++i) {
        const int part = co_await leaf(self, i);
        total += part;
      }
      co_return total;
    }
    static Program nothing(Node&) { co_return; }
  };
  const Machine machine(Topology::parse("3"));
  std::vector<int> totals(3);
  const auto program = [&](Node& self) -> Program {
    co_await Sub::nothing(self);
    const int total = co_await Sub::sum(self, 4);
    totals[self.rank()] = total;
    co_await Sub::nothing(self);
  };
  const RunResult result = emulate(machine, Placement::resident(machine.topology, 1, 8), program).result;
  CHECK(totals == std::vector<int>{10, 10, 10});
  CHECK(result.steps == 10);
}

TEST_CASE("an exception passes through sub-programs, and may be caught on its way", "[unit]") {
  struct Sub {
    static Program fails(Node& self) {
      co_await self.step();
      throw std::runtime_error("no");
    }
    static Program between(Node& self) { co_await fails(self); }
  };
  const Machine machine(Topology::parse("3"));
  const Placement nothing = Placement::resident(machine.topology, 1, 8);
  std::vector<int> caught(3);
  const auto catches = [&](Node& self) -> Program {
    try {
      co_await Sub::between(self);
    } catch (const std::runtime_error&) {
      caught[self.rank()] = 1;
    }
    co_await self.step();
  };
  CHECK(emulate(machine, nothing, catches).result.steps == 2);
  CHECK(caught == std::vector<int>{1, 1, 1});
  CHECK_THROWS_WITH(emulate(machine, nothing, [](Node& self) { return Sub::between(self); }), "step 1, node (0): no");
}

TEST_CASE("programs that wait for ever are destroyed, with those that they wait for", "[unit]") {
  struct Counted {
    std::atomic<int>& alive;
    explicit Counted(std::atomic<int>& count) : alive{count} { ++alive; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    ~Counted() { --alive; }
  };
  struct Sub {
    static ProgramOf<int> waits(Node& self, std::atomic<int>& alive) {
      const Counted counted(alive);
      co_await self.arrival();
      co_return 1;
    }
    static Program between(Node& self, std::atomic<int>& alive) {
      const Counted counted(alive);
      co_await waits(self, alive);
    }
  };
  const Machine machine(Topology::parse("5"));
  std::atomic<int> alive = 0;
  int most = 0;
  const auto program = [&](Node& self) -> Program {
    const Counted counted(alive);
    co_await self.step();
    most = alive;
    if (self.rank() != 3) co_await Sub::between(self, alive);
  };
  Engine engine(machine, Placement::resident(machine.topology, 1, 8), {.executor = ExecutorKind::serial});
  const RunResult result = engine.run(program);
  REQUIRE(result.hang);
  CHECK(result.hang->nodes == 4);
  CHECK(most > 5);
  CHECK(alive == 0);
}

TEST_CASE("a program may run an engine of its own", "[unit]") {
  const Machine ring(Topology::parse("6"), 1, Switching::packet);
  const auto program = [&](Node& self) -> Program {
    const Arrivals none = co_await self.step();
    if (!none.empty()) throw std::runtime_error("nobody has sent");
    const RunResult inner = Engine(ring, from_zero(ring), {.executor = ExecutorKind::serial}).run(pass_on);
    if (!inner.verified) throw std::runtime_error("the inner run went wrong");
    self.forward({{0, +1}}, self.blocks());
    const NodeId from = (co_await self.arrival()).front().source();
    if (self.neighbour({0, -1}) != from) throw std::runtime_error("somebody else's message");
    self.forward({{0, -1}}, self.blocks());
    co_await self.step();
  };
  for (const support::Workers& workers : support::every_executor()) {
    CAPTURE(workers.text());
    CHECK(Engine(ring, Placement::resident(ring.topology, 1, 8), {.executor = workers.executor, .threads = workers.threads})
              .run(program)
              .verified);
  }
}

TEST_CASE("of the exceptions of a step the lowest node's is rethrown, whatever the executor", "[unit]") {
  // Large enough that several workers meet failing programs in the same step.
  const Machine machine(Topology::parse("64x64"));
  const Placement nothing = Placement::resident(machine.topology, 1, 8);
  const auto program = [](Node& self) -> Program {
    co_await self.step();
    if (self.rank() % 50 == 49) throw std::runtime_error("node " + std::to_string(self.rank()));
    co_await self.step();
    throw std::runtime_error("too late");
  };
  for (const support::Workers& workers : support::every_executor()) {
    CAPTURE(workers.text());
    CHECK_THROWS_WITH(emulate(machine, nothing, program, workers), "step 1, node (0,49): node 49");
  }
}

TEST_CASE("an engine runs again and again from fresh blocks, also after a run that failed", "[unit]") {
  const Machine machine(Topology::parse("2m"));
  Engine engine(machine, from_zero(machine), {.executor = ExecutorKind::serial});
  const auto sends = [](Node& self) -> Program {
    if (self.rank() == 0) self.send({{0, +1}}, self.blocks());
    co_return;
  };
  const auto damages = [](Node& self) -> Program {
    if (self.rank() == 0) self.bytes(0)[0] ^= std::byte{1};
    co_return;
  };
  const auto throws = [](Node& self) -> Program {
    if (self.rank() == 0) self.send({{0, +1}}, self.blocks());
    if (self.rank() == 1) throw std::runtime_error("no");
    co_return;
  };
  const std::uint64_t digest = engine.run(sends).trace_digest;
  CHECK(engine.run(damages).wrong);
  CHECK_THROWS_WITH(engine.run(throws), "step 0, node (1): no");
  const RunResult again = engine.run(sends);
  CHECK(again.verified);
  CHECK(again.messages == 1);
  CHECK(again.duplicates == 0);
  CHECK(again.trace_digest == digest);
  CHECK(engine.bytes(1, 0).size() == 100);
}

TEST_CASE("phases name their steps", "[unit]") {
  const Machine machine(Topology::parse("4"));
  const auto program = [](Node& self) -> Program {
    self.phase("first");
    co_await self.step();
    co_await self.step();
    self.phase(self.rank() == 0 ? "last" : "not the lowest rank's word");
    co_await self.step();
  };
  for (const support::Workers& workers : support::every_executor()) {
    const RunResult result = emulate(machine, Placement::resident(machine.topology, 1, 8), program, workers).result;
    REQUIRE(result.step_records.size() == 3);
    CHECK(std::string(result.step_records[0].phase) == "first");
    CHECK(result.step_records[1].phase == nullptr);
    CHECK(std::string(result.step_records[2].phase) == "last");
  }
}

TEST_CASE("the sums of a long run cover every step, and its memory does not grow with them", "[unit]") {
  const Machine machine =
      Machine::make({.topology = "2m", .switching = Switching::packet, .cost = {.start_up_s = 1, .byte_s = 0, .hop_s = 0}});
  constexpr Step rounds = 100'000;  // of two steps
  static_assert(2 * rounds > RunResult::max_step_records);
  const auto program = [](Node& self) -> Program {
    for (Step round = 0; round < rounds; ++round) {
      self.phase("there");
      if (self.rank() == 0) self.send({{0, +1}}, no_blocks, {1U});
      co_await self.step();
      self.phase("and back");
      if (self.rank() == 1) self.send({{0, -1}}, self.blocks());
      co_await self.step();
    }
  };
  Engine engine(machine, Placement::resident(machine.topology, 1, 8),
                {.executor = ExecutorKind::serial, .memory_limit = Bytes{1} << 20U, .verify = false});
  const Bytes before = peak_memory();
  const RunResult result = engine.run(program);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // whose own records grow with a run
  CHECK(peak_memory() - before < Bytes{16} << 20U);
#else
  static_cast<void>(before);
#endif
  CHECK(result.violations.empty());
  CHECK(result.steps == 2 * rounds);
  CHECK(result.busy_steps == 2 * rounds);
  CHECK(result.control_steps == rounds);
  CHECK(result.messages == 2 * rounds);
  CHECK(result.hops == 2 * rounds);
  CHECK(result.route_hops_sum == 2 * rounds);
  CHECK(result.bytes_delivered == Bytes{8} * rounds);
  CHECK(result.control_bytes == Bytes{4} * rounds);
  CHECK(result.channel_bytes_sum == Bytes{12} * rounds);
  CHECK(result.model_time_s == Approx(2.0 * rounds));
  CHECK(result.step_records.size() == RunResult::max_step_records);
  REQUIRE(result.phases.size() == 2);
  CHECK(std::string(result.phases[0].phase) == "there");
  CHECK(std::string(result.phases[1].phase) == "and back");
  CHECK(result.phases[0].steps == rounds);
  CHECK(result.phases[0].control_steps == rounds);
  CHECK(result.phases[1].channel_bytes == Bytes{8} * rounds);
}

TEST_CASE("phases past the last one that is told apart count as steps without a name", "[unit]") {
  const Machine machine("2m");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < RunResult::max_phases + 10; ++i) names.push_back("phase " + std::to_string(i));
  const auto program = [&](Node& self) -> Program {
    for (const std::string& name : names) {
      self.phase(name.c_str());
      co_await self.step();
    }
  };
  const RunResult result = emulate(machine, Placement::resident(machine.topology, 1, 8), program, {}, {.idle_steps = 1000}).result;
  CHECK(result.steps == names.size());
  REQUIRE(result.phases.size() == RunResult::max_phases);
  CHECK(result.phases.back().phase == nullptr);
  CHECK(result.phases.back().steps == 11);
}

TEST_CASE("an engine runs a program with its arguments", "[unit]") {
  struct Table {
    std::vector<NodeId> next;
  };
  const auto program = [](Node& self, NodeId root, const Table& table) -> Program {
    if (self.rank() != root) co_await self.arrival();
    if (table.next[self.rank()] != root) self.send(table.next[self.rank()], self.blocks());
  };
  const Machine machine = Machine::make({.topology = "5", .ports = 1, .switching = Switching::packet});
  const NodeId root = 2;
  Engine engine(machine, Placement::replicated(machine.topology, {root}, 64));
  const RunResult result = engine.run(program, root, Table{{1, 2, 3, 4, 0}});
  CHECK(result.verified);
  CHECK(result.steps == 4);
}

TEST_CASE("a program that is called outside a run says so", "[unit]") {
  struct Sub {
    static Program nothing(Node&) { co_return; }
  };
  Node nowhere;
  CHECK_THROWS_AS(Sub::nothing(nowhere), RunError);
}

TEST_CASE("a machine of one node, and a message of no byte, are runs like any other", "[unit]") {
  const Machine one(Topology::parse("1"));
  const RunResult alone = emulate(one, from_zero(one), pass_on).result;
  CHECK(alone.verified);
  CHECK(alone.steps == 0);
  const Machine line(Topology::parse("3m"), 0, Switching::packet);
  const RunResult empty = emulate(line, from_zero(line, 0), pass_on).result;
  CHECK(empty.verified);
  CHECK(empty.blocks_delivered == 2);
  CHECK(empty.bytes_delivered == 0);
}

TEST_CASE("segments of unequal length arrive whole", "[unit]") {
  const Machine line(Topology::parse("3m"), 0, Switching::packet);
  const RunResult result = emulate(line, from_zero(line, 103, 10), pass_on).result;
  CHECK(result.verified);
  CHECK(result.bytes_delivered == 206);
  CHECK(result.blocks_delivered == 20);
}

TEST_CASE("a placement that was made for another machine is refused", "[unit]") {
  const Machine machine(Topology::parse("16"));
  for (const char* shape : {"8", "17", "4x5"}) {
    CAPTURE(shape);
    std::string line;
    try {
      Engine engine(machine, Placement::replicated(Topology::parse(shape), {3}, 64), {});
    } catch (const InputError& error) {
      line = error.what();
    }
    CAPTURE(line);
    CHECK(line.find("on a machine of 16 nodes (16): make the placement from the machine's topology") != std::string::npos);
  }
}

TEST_CASE("a run that cannot fit is refused with what it needs and what there is", "[unit]") {
  const Machine machine(Topology::parse("64x64"));
  const Placement placement = from_zero(machine, Bytes{1} << 40U);
  std::string line;
  try {
    Engine engine(machine, placement, {});
  } catch (const InputError& error) {
    line = error.what();
  }
  CAPTURE(line);
  CHECK(line.find("4096 nodes") != std::string::npos);
  CHECK(line.find("MiB") != std::string::npos);
  CHECK(line.find("would fit") != std::string::npos);
  CHECK(line.find('\n') == std::string::npos);
  CHECK_THROWS_AS(Engine(machine, from_zero(machine), {.memory_limit = 1000}), InputError);
  CHECK_NOTHROW(
      Engine(machine, from_zero(machine), {.threads = 2, .memory_limit = estimate_memory(machine, from_zero(machine), 0, 2).total()}));
}

TEST_CASE("a step whose messages need more memory than a run may use is refused", "[unit]") {
  const Machine machine(Topology::parse("2"));
  const auto program = [](Node& self) -> Program {
    const std::vector<Word> header(Bytes{8} << 20U);
    if (self.rank() == 0) self.send({{0, 1}}, no_blocks, header);
    co_return;
  };
  const auto run = [&](Bytes limit) {
    return Engine(machine, from_zero(machine), {.executor = ExecutorKind::serial, .memory_limit = limit}).run(program);
  };
  std::string line;
  try {
    run(Bytes{8} << 20U);
  } catch (const RunError& error) {
    line = error.what();
  }
  CAPTURE(line);
  CHECK(line.find("33554") != std::string::npos);
  CHECK(line.find("RunOptions::memory_limit") != std::string::npos);
  CHECK(run(Bytes{1} << 30U).violations.empty());
}

TEST_CASE("a run ends in an error where its messages find no room, whoever notices, and the engine can be used again", "[unit]") {
  // Step 0: all pass their blocks on. Step 1: one node sends a long header, and all pass on what has come. With the shortest header that is
  // too long it is one of the others' messages that finds no room.
  const Machine machine(Topology::parse("32x32"), 0, Switching::packet);
  constexpr Bytes limit = Bytes{4} << 20U;
  const auto crowded = [](Node& self, NodeId talker, std::size_t words) -> Program {
    self.forward({{1, +1}}, self.blocks());
    const Arrivals& arrivals = co_await self.step();
    if (self.rank() == talker) self.send({{0, -1}}, no_blocks, std::vector<Word>(words));
    for (const Message& m : arrivals) self.forward({{1, -1}}, m.blocks());
    co_await self.step();
  };
  const auto quiet = [](Node& self) -> Program {
    self.forward({{1, +1}}, self.blocks());
    for (const Message& m : co_await self.step()) self.forward({{1, -1}}, m.blocks());
    co_await self.step();
  };
  for (const support::Workers& workers : support::every_executor()) {
    for (const NodeId talker : {0U, 1000U}) {
      CAPTURE(workers.text(), talker);
      const Placement placement = Placement::resident(machine.topology, 1, 64);
      Engine engine(machine, placement, {.executor = workers.executor, .threads = workers.threads, .memory_limit = limit});
      std::size_t fits = 0, too_long = std::size_t{8} << 20U;
      while (too_long - fits > 16) {
        const std::size_t words = (fits + too_long) / 2;
        try {
          const RunResult result = engine.run([&](Node& self) { return crowded(self, talker, words); });
          CHECK(result.verified);
          fits = words;
        } catch (const RunError&) {
          too_long = words;
          const RunResult after = engine.run(quiet);
          CHECK(after.verified);
          CHECK(after.messages == 2048);
        }
      }
      CHECK(fits > 0);
      CHECK(too_long < std::size_t{8} << 20U);
    }
  }
}

TEST_CASE("a program that catches the error of a send does not make its run a good one", "[unit]") {
  const Machine machine(Topology::parse("4"));
  const std::vector<Word> header(Bytes{8} << 20U);
  const auto program = [&](Node& self) -> Program {
    try {
      self.send({{0, 1}}, no_blocks, header);
    } catch (const RunError&) {
    }
    self.send({{0, 1}}, self.blocks());
    co_await self.step();
  };
  for (const support::Workers& workers : support::every_executor()) {
    CAPTURE(workers.text());
    Engine engine(machine, Placement::resident(machine.topology, 1, 8),
                  {.executor = workers.executor, .threads = workers.threads, .memory_limit = Bytes{8} << 20U});
    std::string line;
    try {
      engine.run(program);
    } catch (const RunError& error) {
      line = error.what();
    }
    CAPTURE(line);
    CHECK(line.find("raise the memory limit") != std::string::npos);
  }
}

TEST_CASE("copies that their receivers drop take no more memory the longer a run lasts", "[unit]") {
  const Machine machine(Topology::parse("64c"), 0, Switching::packet);
  const Placement placement = Placement::replicated(machine.topology, {0}, Bytes{1} << 18U);
  const auto program = [](Node& self) -> Program {
    for (int step = 0; step < 63; ++step) {
      if (static_cast<int>(self.rank()) == step) self.send({{0, 1}}, self.blocks());
      co_await self.step();
    }
    for (int step = 0; step < 200; ++step) {  // the lower half sends to the upper one what it has
      if (self.rank() < 32) self.send({{0, 32}}, self.blocks());
      co_await self.step();
    }
  };
  for (const support::Workers& workers : support::every_executor()) {
    CAPTURE(workers.text());
    const Bytes limit = estimate_memory(machine, placement, 0, std::max(1U, workers.threads)).total() + (Bytes{128} << 20U);
    Engine engine(machine, placement, {.executor = workers.executor, .threads = workers.threads, .memory_limit = limit});
    const RunResult result = engine.run(program);
    CHECK(result.verified);
    CHECK(result.duplicates == 200 * 32);
  }
}

TEST_CASE("the estimate is enough for blocks that wander, however long they are", "[unit]") {
  const Machine machine(Topology::parse("4"), 0, Switching::packet);
  const Placement placement = Placement::resident(machine.topology, 1, Bytes{32} << 20U);
  const auto round = [](Node& self) -> Program {
    self.forward({{0, 1}}, self.blocks());
    for (int step = 1; step < 4; ++step) {
      for (const Message& m : co_await self.step()) self.forward({{0, 1}}, m.blocks());
    }
    co_await self.step();
  };
  for (const support::Workers& workers : support::every_executor()) {
    CAPTURE(workers.text());
    const Bytes limit = estimate_memory(machine, placement, 0, std::max(1U, workers.threads)).total();
    CHECK(
        Engine(machine, placement, {.executor = workers.executor, .threads = workers.threads, .memory_limit = limit}).run(round).verified);
  }
}

TEST_CASE("lengths that no host has are refused, and do not wrap round", "[unit]") {
  const Machine machine(Topology::parse("4x4"));
  for (const Bytes bytes : {Bytes{1} << 60U, (Bytes{1} << 63U) - 1, ~Bytes{0}}) {
    CAPTURE(bytes);
    CHECK_THROWS_AS(Engine(machine, from_zero(machine, bytes), {}), InputError);
    CHECK(estimate_memory(machine, from_zero(machine, bytes)).total() >= Bytes{1} << 60U);
  }
}

TEST_CASE("the block length that a refusal names is the longest that fits", "[unit]") {
  const Machine machine(Topology::parse("64x64"));
  for (const Bytes limit : {Bytes{4} << 20U, Bytes{5} << 20U, Bytes{64} << 20U, Bytes{1} << 30U}) {
    std::string line;
    try {
      Engine engine(machine, from_zero(machine, Bytes{1} << 40U), {.threads = 2, .memory_limit = limit});
    } catch (const InputError& error) {
      line = error.what();
    }
    CAPTURE(line);
    const std::size_t at = line.find("at most ");
    REQUIRE(at != std::string::npos);
    const Bytes fitting = std::stoull(line.substr(at + 8));
    CHECK_NOTHROW(Engine(machine, from_zero(machine, fitting), {.threads = 2, .memory_limit = limit}));
    CHECK_THROWS_AS(Engine(machine, from_zero(machine, fitting + 64), {.threads = 2, .memory_limit = limit}), InputError);
  }
}

TEST_CASE("more memory allowed than there is address space does no harm", "[unit]") {
  const Machine machine(Topology::parse("4x4"));
  CHECK_NOTHROW(Engine(machine, from_zero(machine), {.memory_limit = Bytes{1000} << 40U}));
}

TEST_CASE("a node that is not there cannot be sent to", "[unit]") {
  const Machine machine(Topology::parse("4"));
  const auto program = [](Node& self) -> Program {
    self.send(6, self.blocks());
    co_await self.step();
  };
  CHECK_THROWS_AS(Engine(machine, Placement::resident(machine.topology, 1, 8), {.executor = ExecutorKind::serial}).run(program),
                  InputError);
}

TEST_CASE("what starts a node can make its program and call nothing else", "[unit]") {
  const Machine machine(Topology::parse("4"), 0, Switching::packet);
  const auto round = [](Node& self) -> Program {
    self.forward({{0, 1}}, self.blocks());
    for (const Message& m : co_await self.step()) self.forward({{0, -1}}, m.blocks());
    co_await self.step();
  };
  const BlockId own = 2;
  const std::vector<std::function<void(Node&)>> calls{
      [own](Node& self) {
        self.send({{0, 1}}, {&own, 1});
      },
      [own](Node& self) {
        self.send({{0, 1}}, {&own, 1}, {7U});
      },
      [own](Node& self) {
        self.forward({{0, 1}}, {&own, 1});
      },
      [own](Node& self) {
        self.forward(3, {&own, 1});
      },
      [own](Node& self) { self.release(own); },
      [own](Node& self) { self.bytes(own); },
      [own](Node& self) { self.holds(own); },
      [](Node& self) { self.blocks(); },
      [](Node& self) { self.phase("early"); },
  };
  for (const support::Workers& workers : support::every_executor()) {
    CAPTURE(workers.text());
    Engine engine(machine, Placement::resident(machine.topology, 1, 64), {.executor = workers.executor, .threads = workers.threads});
    for (std::size_t i = 0; i < calls.size(); ++i) {
      CAPTURE(i);
      const auto early = [&](Node& self) {
        if (self.rank() == 2) calls[i](self);
        return round(self);
      };
      std::string line;
      try {
        engine.run(early);
      } catch (const RunError& error) {
        line = error.what();
      }
      CAPTURE(line);
      CHECK(line.find("before step 0, node (2): ") == 0);
      CHECK(engine.run(round).verified);  // and the next run goes on as if nothing had been
    }
  }
}

TEST_CASE("a message can be forwarded to a node, with words in place", "[unit]") {
  const Machine machine(Topology::parse("3x4"), 0, Switching::circuit);
  const auto program = [](Node& self) -> Program {
    const NodeId other = 11 - self.rank();
    self.forward(other, self.blocks(), {self.rank(), 5U});
    for (const Message& m : co_await self.step()) {
      if (m.source() != other || m.header().size() != 2 || m.header()[0] != other || m.header()[1] != 5)
        throw RunError("not what was sent");
      self.forward({{0, 0}}, {}, {});  // a route of no hop is refused
    }
    co_await self.step();
  };
  Engine engine(machine, Placement::resident(machine.topology, 1, 8), {.executor = ExecutorKind::serial});
  const RunResult result = engine.run(program);
  CHECK(result.messages == 12);
  CHECK(result.violations_found == 12);
}

TEST_CASE("an engine can be used again after a run that broke a rule or hung", "[unit]") {
  const Machine machine(Topology::parse("16x16"), 1, Switching::packet);
  const auto good = [](Node& self) -> Program {
    self.forward({{0, 1}}, self.blocks());
    for (const Message& m : co_await self.step()) self.forward({{0, -1}}, m.blocks());
    co_await self.step();
  };
  const auto greedy = [](Node& self) -> Program {
    self.send({{0, 1}}, self.blocks());
    self.send({{1, 1}}, self.blocks());
    co_await self.arrival();
    co_await self.arrival();
  };
  const auto waiting = [](Node& self) -> Program {
    if (self.rank() % 2 == 0) self.send({{0, 1}}, self.blocks());
    co_await self.arrival();
  };
  for (const support::Workers& workers : support::every_executor()) {
    CAPTURE(workers.text());
    Engine engine(machine, Placement::resident(machine.topology, 1, 8), {.executor = workers.executor, .threads = workers.threads});
    for (int round = 0; round < 3; ++round) {
      CHECK_FALSE(engine.run(greedy).violations.empty());
      CHECK(engine.run(good).verified);
      CHECK(engine.run(waiting).hang);
      CHECK(engine.run(good).verified);
    }
  }
}

TEST_CASE("a run that is told to stop ends at the next barrier", "[unit]") {
  const Machine machine(Topology::parse("16x16"));
  for (const support::Workers& workers : support::every_executor()) {
    CAPTURE(workers.text());
    std::atomic<bool> stop{false};
    RunOptions options;
    options.stop = &stop;
    options.on_step = [&](Step step) {
      if (step == 3) stop = true;
    };
    const auto program = [](Node& self) -> Program {
      while (true) {
        self.send({{0, +1}}, self.blocks());
        co_await self.step();
      }
    };
    const RunResult result = emulate(machine, Placement::resident(machine.topology, 1, 8), program, workers, options).result;
    CHECK(result.interrupted);
    CHECK_FALSE(result.good());
    CHECK_FALSE(result.verified);
    CHECK(result.steps >= 3);
    CHECK(result.steps <= 5);
  }
}

TEST_CASE("messages of one sender over a shared channel arrive as they were sent", "[unit]") {
  const Machine machine(Topology::parse("2^8"), 0, Switching::wormhole, Contention::share);
  for (const support::Workers& workers : support::every_executor()) {
    CAPTURE(workers.text());
    std::vector<Word> arrived;
    const auto program = [&](Node& self) -> Program {
      for (Word i = 0; i < 8 && self.rank() == 0; ++i) self.send({{0, +1}}, {}, {i});
      for (const Message& m : co_await self.step()) arrived.push_back(m.header()[0]);
    };
    const RunResult result = emulate(machine, Placement::resident(machine.topology, 1, 8), program, workers).result;
    CHECK(result.good());
    CHECK(arrived == std::vector<Word>{0, 1, 2, 3, 4, 5, 6, 7});
  }
}
