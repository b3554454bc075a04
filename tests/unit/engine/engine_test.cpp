/// Messages on the engine: when they arrive, in what order, with what bytes, and what they weigh.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <torus/engine.hpp>
#include <torus/error.hpp>

#include "runtime/base/host.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/run.hpp"

using namespace torus;
using support::emulate;
using support::from_zero;
using support::no_blocks;
using support::pass_on;

namespace {

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

TEST_CASE("the blocks of a gather are listed in their order, however they came", "[unit]") {
  const Machine machine(Topology::parse("40m"), 0, Switching::packet);
  const auto program = [](Node& self) -> Program {
    const std::int32_t last = self.extent(0) - 1;
    if (self.coordinate(0) < last) co_await self.arrival();
    const std::vector<BlockId> held(self.blocks().begin(), self.blocks().end());
    std::vector<BlockId> all(static_cast<std::size_t>(last - self.coordinate(0) + 1));
    std::iota(all.begin(), all.end(), self.rank());
    CHECK(held == all);
    if (self.coordinate(0) > 0) self.forward({{0, -1}}, held);
  };
  CHECK(emulate(machine, Placement::gathered(machine.topology, 0, 8), program).result.verified);
}

TEST_CASE("blocks of a scatter that arrive once more are duplicates", "[unit]") {
  const Machine machine(Topology::parse("3m"), 0, Switching::packet);
  const auto program = [](Node& self) -> Program {
    const std::vector<BlockId> two{1, 2};
    for (int time = 0; time < 2 && self.rank() == 0; ++time) {
      self.send({{0, +1}}, two);
      co_await self.step();
    }
  };
  CHECK(emulate(machine, Placement::scattered(machine.topology, 0, 40), program).result.duplicates == 2);
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

TEST_CASE("a node that is not there cannot be sent to", "[unit]") {
  const Machine machine(Topology::parse("4"));
  const auto program = [](Node& self) -> Program {
    self.send(6, self.blocks());
    co_await self.step();
  };
  CHECK_THROWS_AS(Engine(machine, Placement::resident(machine.topology, 1, 8), {.executor = ExecutorKind::serial}).run(program), RunError);
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
