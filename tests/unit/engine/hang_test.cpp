// A run that would wait for ever ends, and says who waits for what.

#include "tests/support/catch.hpp"
#include "tests/support/run.hpp"

using namespace torus;

TEST_CASE("a run in which everybody waits for a message is a hang, at once", "[unit]") {
  const Machine machine(Topology::parse("16x16"));
  const auto program = [](Node& self) -> Program { co_await self.arrival(); };
  for (const support::Workers& workers : support::every_executor()) {
    CAPTURE(workers.text());
    const RunResult result = support::emulate(machine, Placement::replicated(machine.topology, {0}, 64), program, workers).result;
    REQUIRE(result.hang);
    CHECK(result.hang->nodes == 256);
    CHECK_FALSE(result.hang->last_traffic);
    CHECK_FALSE(result.hang->stepping);
    REQUIRE_FALSE(result.hang->first.empty());
    for (std::size_t i = 0; i < result.hang->first.size(); ++i) {
      CHECK(result.hang->first[i].node == i);
      CHECK(result.hang->first[i].waits_for == Wait::arrival);
      CHECK_FALSE(result.hang->first[i].last_arrival);
    }
    CHECK_FALSE(result.good());
    CHECK_FALSE(result.verified);
  }
}

TEST_CASE("a hang tells the last step with traffic, and each waiting node's last arrival", "[unit]") {
  const Machine machine(Topology::parse("6m"), 0, Switching::packet);
  // The message of node 0 comes to node 3, which keeps it to itself; node 2 waits for an answer.
  const auto program = [](Node& self) -> Program {
    if (self.rank() > 0) co_await self.arrival();
    if (self.rank() < 3) self.send({{0, +1}}, self.blocks());
    if (self.rank() == 2) co_await self.arrival();
  };
  const RunResult result = support::emulate(machine, Placement::replicated(machine.topology, {0}, 64), program).result;
  REQUIRE(result.hang);
  CHECK(result.hang->nodes == 3);
  CHECK(result.hang->last_traffic == Step{2});
  REQUIRE(result.hang->first.size() == 3);
  CHECK(result.hang->first[0].node == 2);
  CHECK(result.hang->first[0].last_arrival == Step{1});  // sent in step 1
  CHECK(result.hang->first[1].node == 4);
  CHECK_FALSE(result.hang->first[1].last_arrival);
  CHECK(result.hang->first[2].node == 5);
}

TEST_CASE("nodes that pass barriers for ever without sending are a hang too", "[unit]") {
  const Machine machine(Topology::parse("2"));
  const auto program = [](Node& self) -> Program {
    while (true) co_await self.step();
  };
  const RunResult result = support::emulate(machine, Placement::resident(machine.topology, 1, 8), program).result;
  REQUIRE(result.hang);
  CHECK(result.hang->stepping);
  CHECK(result.hang->nodes == 2);
  CHECK_FALSE(result.verified);  // although every block is where it should be
  CHECK_FALSE(result.good());
}

TEST_CASE("nodes may pass as many barriers without sending as the run allows", "[unit]") {
  const Machine machine(Topology::parse("2"), 0, Switching::packet);
  const auto sends_after = [&](Step idle, std::uint64_t allowed) {
    RunOptions options;
    options.idle_steps = allowed;
    return Engine(machine, Placement::replicated(machine.topology, {0}, 8), options).run([idle](Node& self) -> Program {
      for (Step i = 0; i < idle; ++i) co_await self.step();
      if (self.rank() == 0) self.send({{0, +1}}, self.blocks());
      co_await self.step();
    });
  };
  const Step usual = 64 + 4 * 2;
  CHECK(sends_after(usual, 0).good());
  CHECK(sends_after(usual + 1, 0).hang);
  CHECK(sends_after(5, 5).good());
  CHECK(sends_after(6, 5).hang);
  CHECK(sends_after(10 * usual, 10 * usual).good());
}

TEST_CASE("a hang inside a sub-program is a hang of its node", "[unit]") {
  struct Sub {
    static Program sleeps(Node& self) { co_await self.arrival(); }
  };
  const Machine machine(Topology::parse("4"));
  const auto program = [](Node& self) -> Program {
    co_await self.step();
    if (self.rank() == 2) co_await Sub::sleeps(self);
  };
  const RunResult result = support::emulate(machine, Placement::resident(machine.topology, 1, 8), program).result;
  REQUIRE(result.hang);
  CHECK(result.hang->nodes == 1);
  CHECK(result.hang->first.front().node == 2);
}
