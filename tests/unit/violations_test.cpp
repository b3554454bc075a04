// Every rule of the machine, broken by a program that is wrong in just that way; named right, and the same by every executor.
#include "runtime/engine/violations.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include <torus/report.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/run.hpp"

using namespace torus;

namespace {

const std::vector<BlockId> no_blocks;

/// A wrong program: what its node 5 does in step 2 (other nodes may help), and what must be said about it.
struct Wrong {
  std::string what;
  Machine machine;
  ViolationKind kind;
  void (*sends)(Node&);
  NodeId named = 5;
};

void none(Node&) {}

template <Leg... legs>
void one_by(Node& self) {
  if (self.rank() == 5) self.send({legs...}, no_blocks);
}

/// Where channels are shared.
Machine shared(const char* shape, Switching switching) { return Machine(Topology::parse(shape), 0, switching, Contention::share); }

Machine square(const char* shape, Switching switching, int ports = 0, std::vector<Dimension> routing = {}) {
  return Machine(Topology::parse(shape), ports, switching, Contention::forbid, std::move(routing));
}

void same_channel(Node& self) {
  if (self.rank() != 5) return;
  self.send({{1, +1}}, no_blocks, {1U});
  self.send({{1, +1}}, no_blocks, {2U});
}

/// Nodes 5 and 6 of a row meet on the channel from 6 to 7; the later in the order of senders is named.
void two_worms(Node& self) {
  if (self.rank() == 5 || self.rank() == 6) self.send({{1, +2}}, no_blocks);
}

void two_sends(Node& self) {
  if (self.rank() != 5) return;
  self.send({{0, +1}}, no_blocks);
  self.send({{1, +1}}, no_blocks);
}

/// From left and right into node 5.
void two_receives(Node& self) {
  if (self.rank() == 4) self.send({{1, +1}}, no_blocks);
  if (self.rank() == 6) self.send({{1, -1}}, no_blocks);
}

void not_held(Node& self) {
  const std::vector<BlockId> other{7};
  if (self.rank() == 5) self.send({{1, +1}}, other);
}

/// One message more than a queue takes.
void nine_times(Node& self) {
  if (self.rank() != 5) return;
  for (Word i = 0; i < 9; ++i) self.send({{0, +1}}, no_blocks, {i});
}
void eight_times(Node& self) {
  if (self.rank() != 5) return;
  for (Word i = 0; i < 8; ++i) self.send({{0, +1}}, no_blocks, {i});
}

/// Nine nodes of the line 0, 16, 32, .., by worms that end in the channel to 160.
void nine_worms(Node& self) {
  const auto x = static_cast<std::int32_t>(self.rank() / 16);
  if (self.rank() % 16 == 0 && x >= 1 && x <= 9) self.send({{0, 10 - x}}, no_blocks);
}

/// Node 4 has the channel from 5 to 6 before node 5, which crosses it twice.
void twice_after_another(Node& self) {
  if (self.rank() == 4) self.send({{1, +2}}, no_blocks);
  if (self.rank() == 5) self.send({{1, +1}, {1, -1}, {1, +1}}, no_blocks);
}

void does_not_exist(Node& self) {
  const std::vector<BlockId> other{BlockId{1} << 31U};
  if (self.rank() == 5) self.send({{1, +1}}, other);
}

std::vector<Wrong> all_wrong() {
  const auto packet = Switching::packet;
  const auto wormhole = Switching::wormhole;
  const auto circuit = Switching::circuit;
  return {
      {"no leg", square("4x4", wormhole), ViolationKind::empty_route, one_by<>},
      {"no leg, one hop a step", square("4x4", packet), ViolationKind::empty_route, one_by<>},
      {"a leg of no hops", square("4x4", wormhole), ViolationKind::empty_route, one_by<Leg{0, 0}>},
      {"a leg of no hops, one hop a step", square("4x4", packet), ViolationKind::empty_route, one_by<Leg{0, 0}>},
      {"a third dimension", square("4x4", wormhole), ViolationKind::unknown_dimension, one_by<Leg{2, 1}>},
      {"a third dimension, one hop a step", square("4x4", packet), ViolationKind::unknown_dimension, one_by<Leg{2, 1}>},
      {"dimension -1", square("4x4", circuit), ViolationKind::unknown_dimension, one_by<Leg{0, 1}, Leg{-1, 1}>},
      {"dimension -1 for 0 hops, behind a leg that moves nothing", square("4x4", circuit), ViolationKind::unknown_dimension,
       one_by<Leg{0, 1}, Leg{1, 0}, Leg{-1, 0}, Leg{0, -1}>},
      {"a third dimension for 0 hops", square("4x4", packet), ViolationKind::unknown_dimension, one_by<Leg{2, 0}>},
      {"over the end of a line", square("4x4m", wormhole), ViolationKind::leaves_the_machine, one_by<Leg{1, 3}>},
      {"over the end of a line, one hop a step", square("2mx4", packet), ViolationKind::leaves_the_machine, one_by<Leg{0, 1}>},
      {"over the end of a line on the way", square("4x4m", circuit), ViolationKind::leaves_the_machine, one_by<Leg{1, -3}, Leg{1, 2}>},
      {"round an extent of 1", square("1x8", wormhole), ViolationKind::leaves_the_machine, one_by<Leg{0, 1}>},
      {"round an extent of 1, one hop a step", square("1x8", packet), ViolationKind::leaves_the_machine, one_by<Leg{0, 1}>},
      {"to an offset past a complete dimension", square("2x4c", wormhole), ViolationKind::leaves_the_machine, one_by<Leg{1, 4}>},
      {"to a negative offset of a complete dimension", square("2x4c", packet), ViolationKind::leaves_the_machine, one_by<Leg{1, -1}>},
      {"two hops at once", square("4x4", packet), ViolationKind::more_than_one_hop, one_by<Leg{1, 2}>},
      {"round the corner at once", square("4x4", packet), ViolationKind::more_than_one_hop, one_by<Leg{0, 1}, Leg{1, 1}>},
      {"dimensions in the wrong order", square("4x4", wormhole), ViolationKind::not_dimension_ordered, one_by<Leg{1, 1}, Leg{0, 1}>},
      {"dimensions in the machine's wrong order", square("4x4", wormhole, 0, {1, 0}), ViolationKind::not_dimension_ordered,
       one_by<Leg{0, 1}, Leg{1, 1}>},
      {"a dimension twice", square("4x4", wormhole), ViolationKind::not_dimension_ordered, one_by<Leg{0, 1}, Leg{0, 1}>},
      {"more than once round", square("4x4", wormhole), ViolationKind::channel_crossed_twice, one_by<Leg{1, 5}>},
      {"forth, back and forth", square("4x4", circuit), ViolationKind::channel_crossed_twice, one_by<Leg{1, 1}, Leg{1, -1}, Leg{1, 1}>},
      {"forth, back and forth, channels shared", shared("4x4", circuit), ViolationKind::channel_crossed_twice,
       one_by<Leg{1, 1}, Leg{1, -1}, Leg{1, 1}>},
      {"forth, back and forth on another's channel", shared("4x4", circuit), ViolationKind::channel_crossed_twice, twice_after_another},
      {"one channel, two messages", square("4x4", wormhole), ViolationKind::channel_used_twice, same_channel},
      {"one channel, two messages, one hop a step", square("4x4", packet), ViolationKind::channel_used_twice, same_channel},
      {"one channel, messages of two nodes", square("4x8", wormhole), ViolationKind::channel_used_twice, two_worms, 6},
      {"two sends by one port", square("4x4", wormhole, 1), ViolationKind::too_many_sends, two_sends},
      {"two sends by one port, one hop a step", square("4x4", packet, 1), ViolationKind::too_many_sends, two_sends},
      {"two receives by one port", square("4x8", wormhole, 1), ViolationKind::too_many_receives, two_receives},
      {"two receives by one port, one hop a step", square("4x8", packet, 1), ViolationKind::too_many_receives, two_receives},
      {"more messages by a channel than its queue takes", shared("2^10", wormhole), ViolationKind::queue_overflow, nine_times, 5 + 512},
      {"more messages by a channel than its queue takes, one hop a step", shared("2^10", packet), ViolationKind::queue_overflow, nine_times,
       5 + 512},
      {"more messages by an offset than its queue takes", shared("2cx10c", wormhole), ViolationKind::queue_overflow, nine_times, 15},
      {"more messages of several nodes by a channel than its queue takes", shared("16x2x2x2x2", wormhole), ViolationKind::queue_overflow,
       nine_worms, 160},
      {"as many and too few ports", shared("16x16", wormhole), ViolationKind::too_many_receives, nine_worms, 160},
      {"another node's block", square("4x4", wormhole), ViolationKind::block_not_held, not_held},
      {"a block that does not exist", square("4x4", wormhole), ViolationKind::block_not_held, does_not_exist},
  };
}

}  // namespace

TEST_CASE("every broken rule is named with its step and node, the same by every executor", "[unit]") {
  for (const Wrong& wrong : all_wrong()) {
    CAPTURE(wrong.what);
    const auto program = [&](Node& self) -> Program {
      co_await self.step();
      co_await self.step();
      wrong.sends(self);
      while (true) co_await self.step();  // the violation ends the run
    };
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
