/// Messages of several blocks: what arrives is the node's, whether it is passed on at once, in part, twice, or asked for first.
#include <span>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/run.hpp"

using namespace torus;

namespace {

const Machine ring4(Topology::parse("4"), 0, Switching::packet);

/// On a ring of four every node sends its blocks for the next three nodes forwards, and then `then` decides.
template <class Then>
RunResult after_one_hop(Then then, support::Workers workers = {}) {
  const auto program = [then](Node& self) -> Program {
    const NodeId n = self.topology().nodes();
    std::vector<BlockId> bundle;
    for (NodeId i = 3; i >= 1; --i) bundle.push_back(BlockId{self.rank()} * n + (self.rank() + i) % n);
    self.forward({{0, +1}}, bundle);
    for (const Message& m : co_await self.step()) then(self, m);
    for (const Message& m : co_await self.step()) {
      if (m.blocks().size() > 1) self.forward({{0, +1}}, m.blocks().first(1));
    }
    co_await self.step();
  };
  RunOptions options;
  options.executor = workers.executor;
  options.threads = workers.threads;
  return Engine(ring4, Placement::personalised(ring4.topology, 24), options).run(program);
}

}  // namespace

TEST_CASE("a front part of what has arrived can be passed on, and the rest is kept", "[unit]") {
  for (const support::Workers& workers : support::every_executor()) {
    const RunResult result = after_one_hop([](Node& self, const Message& m) { self.forward({{0, +1}}, m.blocks().first(2)); }, workers);
    CHECK(result.good());
    CHECK(result.verified);
    CHECK(result.duplicates == 0);
    CHECK(result.blocks_delivered == 4 * (3 + 2 + 1));
  }
}

TEST_CASE("what has arrived is held before and not after it is passed on", "[unit]") {
  std::vector<std::vector<bool>> seen(4);
  std::vector<std::size_t> held(4);
  const RunResult result = after_one_hop([&](Node& self, const Message& m) {
    std::vector<bool>& mine = seen[self.rank()];
    if (self.rank() % 2 == 0) {  // half of the nodes ask before, all after
      for (const BlockId id : m.blocks()) mine.push_back(self.holds(id));
    }
    self.forward({{0, +1}}, m.blocks().first(2));
    for (const BlockId id : m.blocks()) mine.push_back(self.holds(id));
    held[self.rank()] = self.blocks().size();
  });
  CHECK(result.verified);
  for (std::size_t node = 0; node < 4; ++node) {
    CHECK(seen[node] == (node % 2 == 0 ? std::vector<bool>{true, true, true, false, false, true} : std::vector<bool>{false, false, true}));
    CHECK(held[node] == 2);  // its own and the one that ends here
  }
}

TEST_CASE("a node reads, overwrites and releases blocks that have just arrived", "[unit]") {
  const RunResult spoiled = after_one_hop([](Node& self, const Message& m) {
    if (self.rank() == 1) self.bytes(m.blocks()[0])[5] ^= std::byte{1};
    self.forward({{0, +1}}, m.blocks().first(2));
  });
  REQUIRE(spoiled.wrong);
  CHECK(spoiled.wrong->block == 0 * 4 + 3);
  CHECK(spoiled.wrong->offset == 5);

  const RunResult lost = after_one_hop([](Node& self, const Message& m) {
    self.forward({{0, +1}}, m.blocks().first(2));
    if (self.rank() == 2) self.release(m.blocks()[2]);
  });
  REQUIRE(lost.wrong);
  CHECK(lost.wrong->node == 2);
  CHECK(lost.wrong->block == 1 * 4 + 2);
}

TEST_CASE("what has been passed on cannot be sent again", "[unit]") {
  for (const std::size_t first : {0U, 1U}) {
    const RunResult result = after_one_hop([first](Node& self, const Message& m) {
      self.forward({{0, +1}}, m.blocks().first(2));
      if (self.rank() == 3) self.forward({{0, -1}}, m.blocks().subspan(first, 2));
    });
    REQUIRE(!result.violations.empty());
    CHECK(result.violations.front().kind == ViolationKind::block_not_held);
    CHECK(result.violations.front().node == 3);
  }
}

TEST_CASE("a block that has come alone can be passed on once, with a header or without", "[unit]") {
  for (const bool header_first : {false, true}) {
    for (const bool header_then : {false, true}) {
      const auto program = [=](Node& self) -> Program {
        const BlockId block = 0 * 4 + 2;
        if (self.rank() == 0) self.forward({{0, +1}}, {&block, 1});
        const std::vector<Word> some{7};
        const std::span<const Word> none;
        for (const Message& m : co_await self.step()) {
          self.forward({{0, +1}}, m.blocks(), header_first ? std::span<const Word>(some) : none);
          self.forward({{0, -1}}, m.blocks(), header_then ? std::span<const Word>(some) : none);
        }
        co_await self.step();
      };
      RunOptions options;
      options.executor = ExecutorKind::serial;
      const RunResult result = Engine(ring4, Placement::personalised(ring4.topology, 24), options).run(program);
      CAPTURE(header_first, header_then);
      REQUIRE(result.violations.size() == 1);
      CHECK(result.violations.front().kind == ViolationKind::block_not_held);
      CHECK(result.violations.front().node == 1);
    }
  }
}

TEST_CASE("the parts of what has arrived can be passed on in any order", "[unit]") {
  std::vector<std::vector<bool>> held(4);
  const RunResult result = after_one_hop([&](Node& self, const Message& m) {
    self.forward({{0, -1}}, m.blocks().subspan(1, 1));
    self.forward({{0, +1}}, m.blocks().first(1));
    for (const BlockId id : m.blocks()) held[self.rank()].push_back(self.holds(id));
  });
  CHECK(result.violations.empty());
  CHECK(result.duplicates == 0);
  for (const std::vector<bool>& each : held) CHECK(each == std::vector<bool>{false, false, true});
}

TEST_CASE("copies that a node has kept are noticed when the block comes back, whatever is passed on", "[unit]") {
  // Node 0 sends two blocks to node 1 and keeps them; node 1 sends them back; node 0 forwards what came back: it holds neither then.
  const Machine pair(Topology::parse("2"), 0, Switching::packet);
  std::vector<bool> holds;
  const auto program = [&](Node& self) -> Program {
    const std::vector<BlockId> both{0, 1};
    if (self.rank() == 0) self.send({{0, +1}}, both);
    for (const Message& m : co_await self.step()) self.forward({{0, +1}}, m.blocks());
    for (const Message& m : co_await self.step()) {
      self.forward({{0, +1}}, m.blocks());
      for (const BlockId id : both) holds.push_back(self.holds(id));
    }
    co_await self.step();
  };
  RunOptions options;
  options.executor = ExecutorKind::serial;
  const RunResult result = Engine(pair, Placement::personalised(pair.topology, 8), options).run(program);
  CHECK(result.violations.empty());
  CHECK(result.duplicates == 2);
  CHECK(holds == std::vector<bool>{false, false});
}

TEST_CASE("a part from the end of what has arrived can be passed on alone, and the rest is kept", "[unit]") {
  std::vector<std::vector<bool>> held(4);
  const RunResult result = after_one_hop([&](Node& self, const Message& m) {
    self.forward({{0, +1}}, m.blocks().subspan(1, 2));  // two: a single block goes another way
    for (const BlockId id : m.blocks()) held[self.rank()].push_back(self.holds(id));
  });
  CHECK(result.violations.empty());
  CHECK(result.duplicates == 0);
  for (const std::vector<bool>& each : held) CHECK(each == std::vector<bool>{true, false, false});
}

TEST_CASE("a long block that is sent and kept has its bytes at the receiver, also if it is passed on at once", "[unit]") {
  // Its copy is put off, and what leaves after it takes the place of its bytes.
  for (const char* shape : {"3x3", "3x3x3"}) {
    for (const bool bundled : {false, true}) {
      for (const Switching switching : {Switching::packet, Switching::wormhole}) {
        const Machine machine(Topology::parse(shape), 0, switching);
        const NodeId n = machine.topology.nodes();
        std::vector<int> right(n);
        const auto program = [&](Node& self) -> Program {
          const std::vector<BlockId> both{BlockId{self.rank()} * n, BlockId{self.rank()} * n + 1};
          self.send({{0, +1}}, {both.data(), 1});
          if (bundled) {
            self.forward({{0, -1}}, both);
          } else {
            self.forward({{0, -1}}, {both.data(), 1});
            self.forward({{1, +1}}, {both.data() + 1, 1});
          }
          for (const Message& m : co_await self.step()) {
            for (const BlockId id : m.blocks()) right[self.rank()] += first_wrong_byte(self.bytes(id), 1, id) ? 0 : 1;
          }
        };
        RunOptions options;
        options.executor = ExecutorKind::serial;
        options.verify = false;
        const RunResult result = Engine(machine, Placement::personalised(machine.topology, 4096), options).run(program);
        CAPTURE(shape, bundled, name(switching));
        CHECK(result.violations.empty());
        CHECK(right == std::vector<int>(n, 3));
      }
    }
  }
}
