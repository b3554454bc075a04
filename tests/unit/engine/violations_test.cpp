// Every rule of the machine, broken by a program that is wrong in just that way; named right, and the same by every executor.
#include "runtime/engine/rules/violations.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include <torus/report.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/run.hpp"
#include "tests/support/wrong_programs.hpp"

using namespace torus;
using namespace torus::support;

TEST_CASE("every broken rule is named with its step and node, the same by every executor", "[unit]") {
  for (const Wrong& wrong : all_wrong()) {
    CAPTURE(wrong.what);
    const auto program = [&](Node& self) { return break_rule(self, wrong); };
    std::string text;
    for (const support::Workers& workers : support::every_executor()) {
      CAPTURE(workers.text());
      const RunResult result = support::emulate(wrong.machine, Placement::resident(wrong.machine.topology, 1, 64), program, workers).result;
      REQUIRE_FALSE(result.violations.empty());
      const Violation& first = result.violations.front();
      CAPTURE(first.text);
      CHECK(name(first.kind) == name(wrong.kind));
      CHECK(first.step == 2);
      CHECK(first.node == wrong.named);
      CHECK(first.text.find("step 2") != std::string::npos);
      CHECK(first.text.find('\n') == std::string::npos);
      CHECK_FALSE(result.good());
      CHECK_FALSE(result.verified);
      CHECK_FALSE(result.hang);
      if (text.empty()) text = first.text;
      CHECK(first.text == text);
    }
  }
}

TEST_CASE("two messages that meet in a channel are found whichever workers their senders run on, at the same time or not", "[unit]") {
  constexpr NodeId side = 64;
  const Machine machine(Topology::parse("64x64"), 0, Switching::wormhole);
  for (const support::Workers& workers : support::every_executor()) {
    CAPTURE(workers.text());
    RunOptions options;
    options.executor = workers.executor;
    options.threads = workers.threads;
    Engine engine(machine, Placement::resident(machine.topology, 1, 64), options);
    for (NodeId column = 0; column < side; column += 7) {
      CAPTURE(column);
      // Far apart, and as far from the first node of their half: two workers come to them at about the same time.
      const NodeId far = 16 * side + column, near = 48 * side + column;
      const RunResult result = engine.run([&](Node& self) -> Program {
        co_await self.step();
        if (self.rank() == far) self.send({{0, 33}}, no_blocks);
        if (self.rank() == near) self.send({{0, 1}}, no_blocks);
        while (true) co_await self.step();
      });
      REQUIRE(result.violations.size() == 1);
      CHECK(result.violations[0].kind == ViolationKind::channel_used_twice);
      CHECK(result.violations[0].node == near);
      CHECK(result.violations[0].step == 1);
    }
  }
}

TEST_CASE("of very many violations all are counted, and the first are told, the same by every executor", "[unit]") {
  // A row's nodes all send once round it: each message but the first of a row meets another in every channel.
  const Machine machine(Topology::parse("30x30"));
  constexpr std::size_t found = 30 * 29 * 30;
  const auto program = [](Node& self) -> Program {
    self.send({{1, 30}}, no_blocks);
    co_await self.step();
  };
  std::vector<Violation> told;
  for (const support::Workers& workers : support::every_executor()) {
    CAPTURE(workers.text());
    const RunResult result = support::emulate(machine, Placement::resident(machine.topology, 1, 64), program, workers).result;
    CHECK(result.violations_found == found);
    REQUIRE(result.violations.size() == Violations::max_kept);
    if (told.empty()) told = result.violations;
    for (std::size_t i = 0; i < told.size(); ++i) {
      REQUIRE(result.violations[i].text == told[i].text);
      REQUIRE(result.violations[i].node == 30 * (i / (29 * 30)) + 1 + i / 30 % 29);  // row by row: who comes second, on each of 30 channels
      if (i > 0) REQUIRE_FALSE(reported_before(told[i], told[i - 1]));
    }
    CHECK(failure_of(machine, result).value().find("(and 26,099 more in that step)") != std::string::npos);
  }
}

TEST_CASE("the first violations are told whatever the order in which they were found", "[unit]") {
  const auto kind = [](NodeId node) { return node % 2 == 0 ? ViolationKind::too_many_sends : ViolationKind::block_not_held; };
  const auto add = [&](Violations& to, NodeId node) { to.add(kind(node), 7, node, [&] { return "node " + std::to_string(node); }); };
  constexpr NodeId all = 5 * Violations::max_kept;
  Violations descending, first_half, second_half;
  for (NodeId node = all; node-- > 0;) add(descending, node);
  for (NodeId node = 0; node < all; ++node) add(node % 3 == 0 ? first_half : second_half, node);
  second_half.add(first_half);
  for (const Violations* found : {&descending, &second_half}) {
    CHECK(found->found() == all);
    const std::vector<Violation> told = found->first();
    REQUIRE(told.size() == Violations::max_kept);
    for (NodeId node = 0; node < told.size(); ++node) {
      REQUIRE(told[node].text == "step 7: node " + std::to_string(node));
      REQUIRE(told[node].node == node);
      REQUIRE(told[node].kind == kind(node));
    }
  }
  CHECK(Violations().empty());
  CHECK_FALSE(descending.empty());
}

TEST_CASE("the sums of a run end before the step of its violation", "[unit]") {
  const Machine machine(Topology::parse("8"));
  const Placement blocks = Placement::replicated(machine.topology, {0}, 64);
  const auto sends = [](bool twice) {
    return [twice](Node& self) -> Program {
      if (self.rank() == 0) self.send({{0, 2}}, self.blocks());
      co_await self.step();
      if (self.rank() == 2) {
        self.send({{0, 2}}, self.blocks());
        if (twice) self.send({{0, 1}}, self.blocks());
      }
      co_await self.step();
    };
  };
  const RunResult wrong = Engine(machine, blocks, {}).run(sends(true));
  REQUIRE(wrong.violations.size() == 1);
  CHECK(wrong.violations_found == 1);
  CHECK(wrong.violations.front().step == 1);
  CHECK(wrong.messages == 1);
  CHECK(wrong.hops == 2);
  CHECK(wrong.blocks_delivered == 1);
  CHECK(wrong.bytes_delivered == 64);
  CHECK(wrong.bytes_hops == 128);
  const RunResult first = Engine(machine, blocks, {}).run([](Node& self) -> Program {
    if (self.rank() == 0) self.send({{0, 2}}, self.blocks());
    co_await self.step();
  });
  CHECK(wrong.trace_digest == first.trace_digest);
  CHECK(Engine(machine, blocks, {}).run(sends(false)).trace_digest != first.trace_digest);
}

TEST_CASE("what one rule forbids another machine allows", "[unit]") {
  const auto quiet = [](Machine machine, void (*sends)(Node&)) {
    const auto program = [&](Node& self) -> Program {
      sends(self);
      co_await self.step();
    };
    const RunResult result = support::emulate(machine, Placement::resident(machine.topology, 1, 64), program).result;
    return result.violations.empty() ? std::string() : result.violations.front().text;
  };
  CHECK(quiet(square("4x4", Switching::wormhole), none).empty());
  CHECK(quiet(square("4x4", Switching::wormhole), one_by<Leg{0, 1}, Leg{1, 1}>).empty());
  CHECK(quiet(square("4x4", Switching::wormhole), one_by<Leg{0, 0}, Leg{1, 1}>).empty());
  CHECK(quiet(square("4x4", Switching::wormhole, 0, {1, 0}), one_by<Leg{1, 1}, Leg{0, 1}>).empty());
  CHECK(quiet(square("4x4", Switching::circuit), one_by<Leg{1, 1}, Leg{0, 1}>).empty());
  CHECK(quiet(square("4x4", Switching::circuit), one_by<Leg{1, 1}, Leg{0, 1}, Leg{1, 1}>).empty());
  CHECK(quiet(square("4x4", Switching::wormhole), one_by<Leg{1, 4}>).empty());
  CHECK(quiet(square("4x4", Switching::wormhole), one_by<Leg{1, -3}>).empty());
  CHECK(quiet(square("4x4", Switching::wormhole, 2), two_sends).empty());
  CHECK(quiet(square("4x8", Switching::wormhole, 2), two_receives).empty());
  CHECK(quiet(shared("4x4", Switching::wormhole), same_channel).empty());
  CHECK(quiet(shared("4x8", Switching::wormhole), two_worms).empty());
  CHECK(quiet(shared("2^10", Switching::wormhole), eight_times).empty());
  CHECK(quiet(shared("2^10", Switching::packet), eight_times).empty());
}

TEST_CASE("the two links between the nodes of a ring of two are two channels each way", "[unit]") {
  const Machine machine(Topology::parse("2"), 0, Switching::packet);
  const auto program = [](Node& self) -> Program {
    self.send({{0, +1}}, self.blocks(), {1U});
    self.send({{0, -1}}, self.blocks(), {2U});
    co_await self.step();
  };
  const RunResult result = support::emulate(machine, Placement::resident(machine.topology, 1, 8), program).result;
  CHECK(result.violations.empty());
  CHECK(result.messages == 4);
}

TEST_CASE("a shared channel charges the model time for all that it carries", "[unit]") {
  const Machine machine(Topology::parse("4"), 0, Switching::wormhole, Contention::share, {}, {.start_up_s = 1, .byte_s = 1});
  const auto program = [](Node& self) -> Program {
    if (self.rank() == 0) self.send({{0, +2}}, self.blocks());
    if (self.rank() == 1) self.send({{0, +1}}, self.blocks());
    co_await self.step();
  };
  const RunResult result = support::emulate(machine, Placement::resident(machine.topology, 1, 50), program, {}, {.verify = false}).result;
  CHECK(result.violations.empty());
  CHECK(result.max_channel_load == 2);
  CHECK(result.channel_bytes_sum == 100);
  CHECK(result.model_time_s == Approx(1 + 100));
}

TEST_CASE("too many receives are named although the receiver throws when it sees them", "[unit]") {
  const Machine machine = square("1x4", Switching::packet, 1);
  const auto program = [](Node& self) -> Program {
    if (self.rank() == 0) self.send({{1, +1}}, no_blocks);
    if (self.rank() == 2) self.send({{1, -1}}, no_blocks);
    if (self.rank() != 1) co_return;
    const Arrivals arrived = co_await self.arrival();
    if (arrived.size() > 1) throw std::runtime_error("two at once");
  };
  const RunResult result = Engine(machine, Placement::resident(machine.topology, 1, 8), {}).run(program);
  REQUIRE(result.violations.size() == 1);
  CHECK(result.violations.front().kind == ViolationKind::too_many_receives);
  CHECK(result.violations.front().step == 0);
}

TEST_CASE("where channels are shared, ports and routes are still what they are", "[unit]") {
  const auto first = [](const Machine& machine, const std::function<Program(Node&)>& program) {
    RunOptions options;
    options.executor = ExecutorKind::serial;
    const RunResult result = Engine(machine, Placement::resident(machine.topology, 1, 8), options).run(program);
    REQUIRE(!result.violations.empty());
    return result.violations.front().kind;
  };
  const auto into_one = [](Node& self) -> Program {
    if (self.rank() != 1) self.send(NodeId{1}, self.blocks());
    co_await self.step();
    co_await self.step();
  };
  CHECK(first(Machine(Topology::parse("3"), 1, Switching::packet, Contention::share), into_one) == ViolationKind::too_many_receives);
  CHECK(first(Machine(Topology::parse("5"), 2, Switching::wormhole, Contention::share), into_one) == ViolationKind::too_many_receives);
  const auto twice_round = [](Node& self) -> Program {
    if (self.rank() == 0) self.send({{0, 3}, {0, 3}}, self.blocks());
    co_await self.step();
  };
  CHECK(first(Machine(Topology::parse("4"), 2, Switching::circuit, Contention::share), twice_round) ==
        ViolationKind::channel_crossed_twice);
  CHECK(first(Machine(Topology::parse("4"), 2, Switching::circuit), twice_round) == ViolationKind::channel_crossed_twice);
}

TEST_CASE("a route that crosses its channels thousands of times is one violation, in a line that can be read", "[unit]") {
  const Machine ring(Topology::parse("4"), 2, Switching::circuit);
  RunOptions options;
  options.executor = ExecutorKind::serial;
  const auto program = [](Node& self) -> Program {
    if (self.rank() == 0) self.send(std::vector<Leg>(50'000, Leg{0, 1}), self.blocks());
    co_await self.step();
  };
  const RunResult result = Engine(ring, Placement::resident(ring.topology, 1, 8), options).run(program);
  CHECK(result.violations_found == 1);
  REQUIRE(result.violations.size() == 1);
  CHECK(result.violations[0].kind == ViolationKind::channel_crossed_twice);
  CHECK(result.violations[0].text.size() < 300);
}
