// Whatever is wrong with what the nodes hold at the end is found, and the first of it, by node and block, is named.
#include <algorithm>
#include <functional>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/run.hpp"

using namespace torus;

namespace {

/// A multinode broadcast from 0 and 1 on four nodes, two segments each, by everybody sending all it has to the right for three steps; then
/// each node does what a test wants to see found.
RunResult spoiled(const std::function<void(Node&)>& spoil, const support::Workers& workers = {}) {
  const Machine machine(Topology::parse("4"), 0, Switching::packet);
  const auto program = [&](Node& self) -> Program {
    for (int i = 0; i < 3; ++i) {
      if (!self.blocks().empty()) self.send({{0, +1}}, self.blocks());
      co_await self.step();
    }
    spoil(self);
  };
  return support::emulate(machine, Placement::replicated(machine.topology, {0, 1}, 101, 2), program, workers).result;
}

}  // namespace

TEST_CASE("the verifier is content with a right run", "[unit]") {
  const RunResult result = spoiled([](Node&) {});
  CHECK(result.verified);
  CHECK_FALSE(result.wrong);
}

TEST_CASE("a single damaged byte, anywhere, is found", "[unit]") {
  for (const NodeId node : {0U, 1U, 3U}) {
    for (const BlockId block : {0U, 1U, 2U, 3U}) {
      const std::size_t length = block % 2 == 0 ? 51 : 50;
      for (const std::size_t offset : {std::size_t{0}, std::size_t{8}, length - 1}) {
        CAPTURE(node, block, offset);
        std::byte got{};
        const RunResult result = spoiled([&](Node& self) {
          if (self.rank() != node) return;
          self.bytes(block)[offset] ^= std::byte{0x10};
          got = self.bytes(block)[offset];
        });
        CHECK_FALSE(result.verified);
        REQUIRE(result.wrong);
        CHECK(result.wrong->kind == WrongDelivery::Kind::damaged);
        CHECK(result.wrong->node == node);
        CHECK(result.wrong->block == block);
        CHECK(result.wrong->offset == offset);
        CHECK(result.wrong->got == static_cast<std::uint8_t>(got));
        CHECK(result.wrong->wanted == static_cast<std::uint8_t>(got ^ std::byte{0x10}));
      }
    }
  }
}

TEST_CASE("the first wrong byte by node and block is named, whatever the executor", "[unit]") {
  for (const support::Workers& workers : support::every_executor()) {
    CAPTURE(workers.text());
    const RunResult result = spoiled(
        [](Node& self) {
          if (self.rank() == 0) return;
          for (const BlockId block : {1U, 3U}) self.bytes(block)[7] ^= std::byte{1};
        },
        workers);
    REQUIRE(result.wrong);
    CHECK(result.wrong->node == 1);
    CHECK(result.wrong->block == 1);
    CHECK(result.wrong->offset == 7);
  }
}

TEST_CASE("one block's bytes in another block's place are found", "[unit]") {
  const RunResult result = spoiled([](Node& self) {
    if (self.rank() == 2) std::swap_ranges(self.bytes(1).begin(), self.bytes(1).end(), self.bytes(3).begin());
  });
  REQUIRE(result.wrong);
  CHECK(result.wrong->kind == WrongDelivery::Kind::damaged);
  CHECK(result.wrong->node == 2);
  CHECK(result.wrong->block == 1);
}

TEST_CASE("a missing block is found", "[unit]") {
  const RunResult result = spoiled([](Node& self) {
    if (self.rank() >= 2) self.release(2);
  });
  REQUIRE(result.wrong);
  CHECK(result.wrong->kind == WrongDelivery::Kind::missing);
  CHECK(result.wrong->node == 2);
  CHECK(result.wrong->block == 2);
}

TEST_CASE("a block that nobody wanted there is found", "[unit]") {
  const Machine machine(Topology::parse("3m"), 0, Switching::packet);
  const auto keeps = [](Node& self) -> Program {
    const std::vector<BlockId> away{1, 2};
    const std::vector<BlockId> further{2};
    if (self.rank() == 0) self.forward({{0, +1}}, away);
    if (self.rank() != 1) co_return;
    co_await self.arrival();
    self.send({{0, +1}}, further);  // and keeps it
  };
  const RunResult result = support::emulate(machine, Placement::scattered(machine.topology, 0, 16), keeps).result;
  REQUIRE(result.wrong);
  CHECK(result.wrong->kind == WrongDelivery::Kind::unasked);
  CHECK(result.wrong->node == 1);
  CHECK(result.wrong->block == 2);
}

TEST_CASE("damage on the way travels on and is found at the first node that holds it", "[unit]") {
  const Machine machine(Topology::parse("6m"), 0, Switching::packet);
  const auto program = [](Node& self) -> Program {
    if (self.rank() > 0) co_await self.arrival();
    if (self.rank() == 3) self.bytes(0)[9] ^= std::byte{1};
    if (self.rank() < 5) self.send({{0, +1}}, self.blocks());
  };
  const RunResult result = support::emulate(machine, Placement::replicated(machine.topology, {0}, 64), program).result;
  REQUIRE(result.wrong);
  CHECK(result.wrong->node == 3);
  CHECK(result.wrong->offset == 9);
}
