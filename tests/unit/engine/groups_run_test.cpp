// What a run in groups shows of them: a node sees its group alone, and all that is wrong is named by machine's node and group.
#include <optional>
#include <string>
#include <vector>

#include <torus/engine.hpp>
#include <torus/report.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/run.hpp"

using namespace torus;

namespace {

const Machine& square() {
  static const Machine machine(Topology::parse("4x4"), 0, Switching::packet);
  return machine;
}
const Groups& rows() {
  static const Groups groups = Groups::parse("rows", square().topology);
  return groups;
}

/// Runs a program in the rows of a 4 x 4 torus; node 0 of each row has a block for all.
support::Outcome in_rows(const std::function<Program(Node&)>& program, RunOptions options = {}) {
  return support::emulate(square(), Placement::replicated(rows().topology(), {0}, 100), program, {}, options, &rows());
}

/// The violation of a program that sends one message from node 1 of row 2.
Violation violation_of(const Groups& groups, std::vector<Leg> route, Switching switching = Switching::circuit) {
  const Machine machine(Topology::parse("4x4"), 0, switching);
  const auto program = [&](Node& self) -> Program {
    if (self.rank() == 1) self.send(route, support::no_blocks);
    co_await self.step();
  };
  const RunResult result = support::emulate(machine, Placement::replicated(groups.topology(), {0}, 0), program, {}, {}, &groups).result;
  REQUIRE_FALSE(result.violations.empty());
  return result.violations.front();
}

}  // namespace

TEST_CASE("a node of a group sees the group as its machine", "[unit]") {
  const Groups groups = Groups::parse("axis:0,2", Topology::parse("2x3x4"));
  const Machine machine(Topology::parse("2x3x4"), 6, Switching::wormhole, Contention::forbid, {2, 1, 0});
  unsigned seen = 0;
  const auto program = [&](Node& self) -> Program {
    ++seen;
    CHECK(self.topology().text() == "2x4");
    CHECK(self.machine().ports == 4);
    CHECK(self.machine().routing == std::vector<Dimension>{1, 0});
    CHECK(self.rank() < 8);
    self.send(NodeId{(self.rank() + 5) % 8}, support::no_blocks, {self.rank()});
    for (const Message& m : co_await self.step()) {
      CHECK(m.source() == m.header()[0]);
      CHECK((m.source() + 5) % 8 == self.rank());
      CHECK(m.destination() == self.rank());
      NodeId at = m.source();
      for (const Leg& leg : m.route()) at = *self.topology().neighbour(at, leg.dimension, leg.hops);
      CHECK(at == self.rank());
      self.blocks();  // stores what has arrived: what it is must not depend on that
      CHECK(m.source() == m.header()[0]);
    }
  };
  const support::Outcome run =
      support::emulate(machine, Placement::replicated(groups.topology(), {3}, 0), program, {}, {.verify = false}, &groups);
  CHECK(seen == 24);
  CHECK(run.result.messages == 24);
  // Observers see the machine's terms.
  CHECK(run.trace[5].starts_with("0: 5 "));
  for (const std::string& line : run.trace) CHECK(line.find("[1,") == std::string::npos);
}

TEST_CASE("each group has bytes of its own, and the first those of a run alone", "[unit]") {
  Engine alone(Machine(rows().topology(), 0, Switching::packet), Placement::replicated(rows().topology(), {0}, 100));
  alone.run(support::pass_on);
  Engine engine(square(), rows(), Placement::replicated(rows().topology(), {0}, 100));
  REQUIRE(engine.run(support::pass_on).verified);
  const auto bytes = [](std::span<const std::byte> held) { return std::vector<std::byte>(held.begin(), held.end()); };
  CHECK(bytes(engine.bytes(3, 0)) == bytes(alone.bytes(3, 0)));
  for (NodeId row = 1; row < 4; ++row) {
    CHECK(bytes(engine.bytes(4 * row, 0)) == bytes(engine.bytes(4 * row + 3, 0)));
    for (NodeId other = 0; other < row; ++other) CHECK(bytes(engine.bytes(4 * row, 0)) != bytes(engine.bytes(4 * other, 0)));
  }
}

TEST_CASE("a block of another group is found, also in a reduction", "[unit]") {
  // Node (1,0)'s message in row 1 goes to node (2,0), or (0,0).
  RunOptions options;
  options.fault = Fault{.kind = FaultKind::wrong_neighbour, .step = 0, .node = 4};
  const auto wrong = in_rows(support::pass_on, options).result;
  REQUIRE(wrong.fault);
  CHECK_FALSE(wrong.verified);
  const Machine machine(square().topology, 0, Switching::wormhole, Contention::share);
  const Placement sums = Placement::contributed(rows().topology(), {.wanted = Contributions::Wanted::everywhere, .bytes = 64});
  const auto exchange = [](Node& self) -> Program {  // recursive doubling
    for (const std::int32_t hops : {1, 2}) {
      self.send(combine, {{0, self.rank() % (2U * static_cast<unsigned>(hops)) < static_cast<unsigned>(hops) ? hops : -hops}},
                self.blocks());
      co_await self.step();
    }
  };
  const RunResult right = support::emulate(machine, sums, exchange, {}, {}, &rows()).result;
  CHECK(right.verified);
  options.fault->node = 5;
  const RunResult mixed = support::emulate(machine, sums, exchange, {}, options, &rows()).result;
  REQUIRE(mixed.fault);
  REQUIRE(mixed.wrong);
  CHECK(mixed.wrong->group == rows().group_of(mixed.wrong->node));
}

TEST_CASE("a contributor that lacks in any group is named, also where the bytes do not tell", "[unit]") {
  // The greatest of four bytes is the same without one that is less.
  const Machine machine(square().topology, 0, Switching::circuit, Contention::share);
  const Placement most = Placement::contributed(
      rows().topology(),
      {.reduction = {.op = Operator::max, .type = ElementType::u8}, .wanted = Contributions::Wanted::at_root, .bytes = 1});
  for (NodeId lacking = 0; lacking < 16; ++lacking) {
    if (lacking % 4 == 0) continue;
    CAPTURE(lacking);
    const auto to_root = [&](Node& self) -> Program {
      const auto hops = -static_cast<std::int32_t>(self.rank());
      for (NodeId others = 1; others < self.rank(); ++others) co_await self.step();
      if (self.rank() > 0) self.forward(combine, {{0, hops}}, self.blocks());
    };
    RunOptions options;
    options.fault = Fault{.kind = FaultKind::drop, .step = lacking % 4 - 1, .node = lacking};
    const RunResult result = support::emulate(machine, most, to_root, {}, options, &rows()).result;
    REQUIRE(result.fault);
    CHECK(result.violations.empty());
    REQUIRE(result.wrong);
    CHECK(result.wrong->kind == WrongDelivery::Kind::lacks_contributor);
    CHECK(result.wrong->node == lacking / 4 * 4);
    CHECK(result.wrong->group == lacking / 4);
    CHECK(result.wrong->contributor == lacking);
  }
}

TEST_CASE("a block may meet one of its number from another group", "[unit]") {
  // Each block goes to the right neighbour and back. That of (1,0) goes to (2,0) instead, which then gets its own back.
  RunOptions options;
  options.fault = Fault{.kind = FaultKind::wrong_neighbour, .step = 0, .node = 4};
  const auto there_and_back = [](Node& self) -> Program {
    self.forward({{0, +1}}, std::vector<BlockId>{self.rank()});
    for (const Message& m : co_await self.step()) {
      if (m.blocks()[0] != self.rank()) self.forward({{0, -1}}, m.blocks());
    }
    co_await self.step();
  };
  const Placement placement = Placement::resident(rows().topology(), 1, 16);
  CHECK(support::emulate(square(), placement, there_and_back, {}, {}, &rows()).result.verified);
  const RunResult result = support::emulate(square(), placement, there_and_back, {}, options, &rows()).result;
  REQUIRE(result.fault);
  CHECK(result.wrong);
}

TEST_CASE("what is missing or damaged is named with its group", "[unit]") {
  const auto spoil = [](Node& self) -> Program {
    co_await support::pass_on(self);
    co_await self.step();
    co_await self.step();
    co_await self.step();
    if (self.rank() == 2) self.release(0);
  };
  const support::Outcome run = in_rows(spoil);
  REQUIRE(run.result.wrong);
  CHECK(run.result.wrong->node == 2);
  CHECK(run.result.wrong->group == 0);
  CHECK(failure_of(square(), run.result)->find("node (0,2), group 0 lacks block 0") != std::string::npos);
}

TEST_CASE("a message that leaves its group is a violation of its own name", "[unit]") {
  const Groups slices = Groups::parse("slice:2x4", square().topology), row = rows();
  const Violation outside = violation_of(slices, {{0, -1}});
  CHECK(outside.kind == ViolationKind::leaves_the_group);
  CHECK(std::string(name(outside.kind)) == "message leaves its group");
  CHECK(outside.node == 1);
  CHECK(outside.text == "step 0: the route from (0,1), group 0 by [[0,-1]] leaves the group");
  CHECK(violation_of(slices, {{1, +1}, {0, +2}, {0, -2}}).kind == ViolationKind::leaves_the_group);
  const Violation unknown = violation_of(row, {{1, +1}});
  CHECK(unknown.kind == ViolationKind::unknown_dimension);
  CHECK(unknown.text == "step 0: the route from (0,1), group 0 by [[1,1]] names a dimension that the group does not have");
  CHECK(violation_of(row, {{0, 0}}).kind == ViolationKind::empty_route);
  CHECK(violation_of(row, {{0, +5}}).kind == ViolationKind::channel_crossed_twice);
  CHECK(violation_of(row, {{0, +2}}, Switching::packet).kind == ViolationKind::more_than_one_hop);
}

TEST_CASE("nodes are held to the ports of their group", "[unit]") {
  const Machine machine(square().topology, 0, Switching::packet, Contention::share);
  const auto program = [](Node& self) -> Program {
    for (unsigned i = 0; i < 3; ++i) self.send({{0, +1}}, support::no_blocks, {i});
    co_await self.step();
  };
  const RunResult result = support::emulate(machine, Placement::replicated(rows().topology(), {0}, 0), program, {}, {}, &rows()).result;
  REQUIRE_FALSE(result.violations.empty());
  CHECK(result.violations.front().kind == ViolationKind::too_many_sends);
  CHECK(result.violations.front().text.find(" sends 3 messages on 2 ports: to (") != std::string::npos);
}

TEST_CASE("a receive too many is named in the machine's terms, whatever the program has seen of it", "[unit]") {
  const Machine machine(square().topology, 1, Switching::packet);
  const auto program = [](Node& self) -> Program {
    if (self.rank() == 0) self.send({{0, +1}}, support::no_blocks);
    if (self.rank() == 2) self.send({{0, -1}}, support::no_blocks);
    for (const Message& m : co_await self.step()) CHECK(m.source() < 4);
  };
  const RunResult result = support::emulate(machine, Placement::replicated(rows().topology(), {0}, 0), program, {}, {}, &rows()).result;
  REQUIRE(result.violations.size() == 4);
  CHECK(result.violations[3].text ==
        "step 0: node (3,1) receives 2 messages on 1 port: from (3,0), group 3 by [[1,1]], control only; from (3,2), group 3 by "
        "[[1,-1]], control only");
}

TEST_CASE("arrivals in a group of any nodes are in the order of the group's own channels", "[unit]") {
  const support::Folder folder;
  const Machine machine(Topology::parse("5"), 0, Switching::wormhole, Contention::share);
  const Groups groups = Groups::parse("file:" + folder.write("groups", "3 0 4 2 1\n"), machine.topology);
  const auto program = [](Node& self) -> Program {
    if (self.rank() != 2) self.send(NodeId{2}, support::no_blocks);
    std::vector<std::int32_t> offsets;
    for (const Message& m : co_await self.step()) {
      CHECK((m.source() + static_cast<unsigned>(m.direction())) % 5 == self.rank());
      offsets.push_back(m.direction());
    }
    if (self.rank() == 2) CHECK(offsets == std::vector<std::int32_t>{1, 2, 3, 4});
  };
  const RunResult result =
      support::emulate(machine, Placement::replicated(groups.topology(), {0}, 0), program, {}, {.verify = false}, &groups).result;
  CHECK(result.messages == 4);
}

TEST_CASE("a block that a node does not hold is named with its group, and an exception with the machine's node", "[unit]") {
  const auto sends = [](Node& self) -> Program {
    if (self.rank() == 3) self.send({{0, +1}}, std::vector<BlockId>{0});
    co_await self.step();
  };
  const RunResult result = in_rows(sends).result;
  REQUIRE(result.violations.size() == 4);
  CHECK(result.violations[2].text == "step 0: node (2,3), group 2 sends block 0, which it does not hold");
  const auto throws = [](Node& self) -> Program {
    co_await self.step();
    if (self.rank() == 2) throw RunError("enough");
  };
  CHECK_THROWS_WITH(in_rows(throws), "step 1, node (0,2): enough");
}

TEST_CASE("a placement for groups is one of a group's nodes, and the tables of groups are in the estimate", "[unit]") {
  const Placement of_all = Placement::replicated(square().topology, {0}, 100);
  CHECK_THROWS_WITH(Engine(square(), rows(), of_all),
                    Catch::Contains("a placement for 16 nodes on a group of 4 nodes (4): make the placement from the group's topology"));
  const auto memory = [](const Machine& machine, const Groups* groups, const Placement& placement) {
    return support::emulate(machine, placement, support::pass_on, {}, {}, groups).result.memory_bytes;
  };
  const Machine line(Topology::parse("16"), 0, Switching::packet);
  const Groups whole = Groups::parse("rows", line.topology);
  const Placement placement = Placement::replicated(line.topology, {0}, 100);
  CHECK(memory(line, &whole, placement) == memory(line, nullptr, placement) + whole.table_bytes());
}
