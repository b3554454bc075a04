// Dead links, dead nodes and slow links: what the topology says of them, and who finds a route over one.
#include <queue>
#include <random>
#include <string>
#include <vector>

#include <torus/engine.hpp>
#include <torus/error.hpp>
#include <torus/judge.hpp>
#include <torus/trace_reader.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

Topology faulty(const char* shape, Faults faults) { return Topology(shape).with_faults(std::move(faults)); }

std::string refusal(const char* shape, Faults faults) {
  try {
    static_cast<void>(faulty(shape, std::move(faults)));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a dead link is dead both ways, and nothing else is", "[unit]") {
  const Topology t = faulty("4x4", {.dead_links = {{5, 1, -1}}});
  CHECK_FALSE(t.whole());
  CHECK(t.channels() == 64 - 2);
  CHECK_FALSE(t.passes(5, 1, -1));
  CHECK_FALSE(t.passes(4, 1, +1));
  CHECK(t.passes(5, 1, +1));
  CHECK(t.passes(4, 1, -1));
  CHECK(t.living_nodes() == 16);
  CHECK(t == faulty("4x4", {.dead_links = {{5, 1, -1}, {5, 1, -1}}}));
  CHECK_FALSE(t == Topology("4x4"));
  // The two links of a ring of 2 are two.
  CHECK(faulty("2x3", {.dead_links = {{0, 0, 1}}}).passes(0, 0, -1));
  CHECK_FALSE(faulty("4c", {.dead_links = {{1, 0, 3}}}).passes(0, 0, 1));
}

TEST_CASE("a dead node takes its links with it", "[unit]") {
  const Topology t = faulty("4x4m", {.dead_nodes = {0}});
  CHECK_FALSE(t.living(0));
  CHECK(t.living_nodes() == 15);
  CHECK(t.channels() == Topology("4x4m").channels() - 6);
  CHECK_FALSE(t.passes(1, 1, -1));
  CHECK_FALSE(t.passes(4, 0, -1));
  int links = 0;
  t.each_link(1, [&](Dimension, std::int32_t, NodeId) { ++links; });
  CHECK(links == 3);
}

TEST_CASE("a slow link slows both of its channels", "[unit]") {
  const Machine machine = Machine::make({.topology = faulty("4x4", {.slow_links = {{{5, 1, -1}, 3}}}), .cost = {.byte_s = 2}});
  CHECK(machine.topology.whole());
  CHECK(machine.byte_s(5, 1, -1) == 6);
  CHECK(machine.byte_s(4, 1, +1) == 6);
  CHECK(machine.byte_s(4, 1, -1) == 2);
  CHECK_FALSE(machine.cost.one_speed());
  CHECK(machine.cost.byte_s == 6);
}

TEST_CASE("faults that cannot be are refused, and a machine cut apart names its parts", "[unit]") {
  CHECK(refusal("4x4", {.dead_nodes = {16}}).find("0 to 15") != std::string::npos);
  CHECK(refusal("4x4", {.dead_links = {{0, 2, 1}}}).find("0 to 1") != std::string::npos);
  CHECK(refusal("4x4", {.dead_links = {{0, 0, 2}}}).find("+1 or -1") != std::string::npos);
  CHECK(refusal("4m", {.dead_links = {{0, 0, -1}}}).find("no such link") != std::string::npos);
  CHECK(refusal("4x4", {.slow_links = {{{0, 0, 1}, 0.5}}}).find("it must be 1 to") != std::string::npos);
  CHECK(refusal("4x4", {.slow_links = {{{0, 0, 1}, 1e308}}}).find("with a factor of 1e+308: it must be 1 to 1000000") != std::string::npos);
  CHECK(refusal("2m", {.dead_nodes = {0, 1}}).find("leave one alive") != std::string::npos);
  CHECK(refusal("6", {.dead_links = {{0, 0, 1}, {2, 0, 1}}}) ==
        "dead links and nodes cut 6 apart: 4 nodes (0), (3), (4), .. cannot reach 2 nodes (1), (2); leave one of the links between them "
        "alive");
  CHECK(refusal("mesh:1x5", {.dead_nodes = {2}}).find("2 nodes (0,0), (0,1) cannot reach 2 nodes (0,3), (0,4)") != std::string::npos);
}

TEST_CASE("the eccentricity counts living links", "[unit]") {
  CHECK(faulty("8", {.dead_links = {{0, 0, 1}}}).eccentricity(0) == 7);
  CHECK(faulty("8", {.dead_links = {{0, 0, 1}}}).eccentricity(4) == 4);
  CHECK(faulty("mesh:5", {.dead_nodes = {4}}).eccentricity(0) == 3);
  for (const Topology& shape : support::telling_shapes()) {
    if (shape.nodes() < 2) continue;
    CAPTURE(shape.text());
    // A factor of 1 is a fault that changes nothing.
    Link any;
    shape.each_link(0, [&](Dimension d, std::int32_t hop, NodeId) { any = {0, d, hop}; });
    CHECK(shape.with_faults({.slow_links = {{any, 1}}}).eccentricity(0) == shape.eccentricity(0));
    CHECK(shape.diameter() >= shape.eccentricity(shape.nodes() / 2));
  }
}

TEST_CASE("a send over a dead channel ends the run, whatever the machine", "[unit]") {
  for (const Switching switching : {Switching::packet, Switching::wormhole, Switching::circuit}) {
    for (const Contention contention : {Contention::forbid, Contention::share}) {
      for (const ExecutorKind executor : {ExecutorKind::serial, ExecutorKind::threads}) {
        for (const bool several : {false, true}) {
          CAPTURE(name(switching), name(contention), name(executor), several);
          const Machine machine(faulty("5x5", {.dead_nodes = {24}, .dead_links = {{1, 1, 1}}}), all_ports, switching, contention);
          RunOptions options;
          options.executor = executor;
          options.threads = 2;
          options.verify = false;
          Engine engine(machine, Placement::replicated(machine.topology, {1}, 8, 2), options);
          const RunResult result = engine.run([several](Node& self) -> Program {
            if (self.rank() == 1) self.send({{1, 1}}, self.blocks().first(several ? 2 : 1));
            co_return;
          });
          REQUIRE(result.violations.size() == 1);
          CHECK(result.violations[0].kind == ViolationKind::dead_channel);
          CHECK(result.violations[0].node == 1);
          CHECK(result.violations[0].text.find("crosses a dead channel") != std::string::npos);
          const RunResult far = engine.run([](Node& self) -> Program {
            if (self.rank() == 4) self.send({{0, -1}}, {}, {7});
            co_return;
          });
          REQUIRE(far.violations.size() == 1);
          CHECK(far.violations[0].kind == ViolationKind::dead_channel);
        }
      }
    }
  }
}

TEST_CASE("a whole route is looked at, and the living channels still carry", "[unit]") {
  const Machine machine(faulty("6x6", {.dead_links = {{2, 1, 1}}}), all_ports, Switching::wormhole);
  for (const ExecutorKind executor : {ExecutorKind::serial, ExecutorKind::threads}) {
    RunOptions options;
    options.executor = executor;
    options.threads = 3;
    options.verify = false;
    Engine engine(machine, Placement::replicated(machine.topology, {0}, 8), options);
    const auto route = [&](std::int32_t hops) {
      return engine
          .run([hops](Node& self) -> Program {
            if (self.rank() == 0) self.send({{1, hops}}, self.blocks());
            co_await self.step();
          })
          .violations.size();
    };
    CHECK(route(2) == 0);
    CHECK(route(3) == 1);
    CHECK(route(-3) == 0);
    CHECK(route(-4) == 1);
  }
}

TEST_CASE("dead nodes run no program and want nothing", "[unit]") {
  const Machine machine(faulty("2x2m", {.dead_nodes = {3}}), all_ports, Switching::packet);
  Engine engine(machine, Placement::replicated(machine.topology, {0}, 8));
  const RunResult result = engine.run([](Node& self) -> Program {
    if (self.rank() == 0) {
      self.send({{0, 1}}, self.blocks());
      self.send({{1, 1}}, self.blocks());
      co_return;
    }
    if (self.rank() == 3) throw RunError("a dead node runs");
    co_await self.arrival();
  });
  CHECK(result.good());
  CHECK(result.verified);
  CHECK_THROWS_AS(Placement::replicated(machine.topology, {3}, 8), InputError);
}

TEST_CASE("a trace says what is broken, and the judge holds routes against it", "[unit]") {
  const support::Folder folder;
  const Faults faults{.dead_nodes = {3}, .dead_links = {{0, 0, 1}}, .slow_links = {{{0, 1, -1}, 2.5}}};
  const Machine machine(faulty("4x4", faults), all_ports, Switching::packet);
  TraceHeader header{machine, "broadcast", {0}, 1, 8, "", 0};
  CHECK(to_json_line(header).ends_with(
      ",\"tc_s\":[1e-10,1e-10],\"th_s\":0,\"dead_nodes\":[3],\"dead_links\":[[0,0,1]],\"slow_links\":[[0,1,-1,2.5]]}"));
  TraceWriter(folder.file("trace"), header).commit();
  const TraceReader reader(folder.file("trace"));
  CHECK(reader.header().machine.topology == machine.topology);
  Judge judge(reader.header());
  judge.message({0, 0, 4, {{0, 1}}, 8, {0}});
  judge.message({1, 4, 7, {{1, -1}}, 8, {0}});
  judge.message({2, 7, 3, {{0, -1}}, 8, {0}});
  const Verdict verdict = judge.finish();
  REQUIRE(verdict.violations.size() == 3);
  CHECK(verdict.violations[0] ==
        "step 0: message from node (0,0) to (1,0) by [[0,1]] crosses channel (0,0) dimension 0 direction +1, which is dead");
  CHECK(verdict.violations[1].find("which is dead") != std::string::npos);
  CHECK(verdict.missing_blocks == 15 - 3);  // node 3 wants none, though it was sent one
}
