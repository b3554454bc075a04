// Dimensions that differ in speed: what a machine makes of them, what a step costs, and how a trace says so.
#include <cmath>
#include <string>

#include <torus/bounds.hpp>
#include <torus/engine.hpp>
#include <torus/error.hpp>
#include <torus/judge.hpp>
#include <torus/trace_reader.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/folder.hpp"

using namespace torus;

namespace {

CostModel speeds(std::vector<double> byte_s) { return {.start_up_s = 1, .dimension_byte_s = std::move(byte_s)}; }

Machine machine_of(const char* shape, std::vector<double> byte_s, Contention contention = Contention::forbid) {
  return Machine::make({.topology = shape, .contention = contention, .cost = speeds(std::move(byte_s))});
}

}  // namespace

TEST_CASE("equal speeds are one speed, and links that are not there have none", "[unit]") {
  CHECK(machine_of("4x4", {3, 3}).cost.one_speed());
  CHECK(machine_of("4x4", {3, 3}).cost.byte_s == 3);
  CHECK(machine_of("4x1x4", {3, 9, 3}).cost.one_speed());
  const Machine two = machine_of("4x4", {3, 5});
  CHECK_FALSE(two.cost.one_speed());
  CHECK(two.cost.byte_s == 5);
  CHECK(two.cost.byte_s_of(0) == 3);
  CHECK_THROWS_AS(machine_of("4x4", {3}), InputError);
  CHECK_THROWS_AS(machine_of("4x4", {3, -1}), InputError);
  CHECK_THROWS_AS(machine_of("4x4", {3, std::nan("")}), InputError);
}

TEST_CASE("messages that share a channel take their bytes together, at its own speed", "[unit]") {
  // Of 4 x 4, nodes 0 and 4 send 10 bytes over two hops down the fast dimension 0: together over the channel from node 4. Node 1 sends 8
  // bytes of header down the slow one.
  const auto program = [](Node& self) -> Program {
    if (self.rank() == 0 || self.rank() == 4) self.send({{0, self.rank() == 0 ? 2 : 1}}, self.blocks());
    if (self.rank() == 1) self.send({{1, 1}}, {}, {7, 7});
    co_await self.step();
  };
  const Machine machine = machine_of("4x4", {3, 5}, Contention::share);
  RunOptions options;
  options.verify = false;
  const RunResult result = Engine(machine, Placement::replicated(machine.topology, {0, 4}, 10), options).run(program);
  CHECK(result.channel_bytes_sum == 20);
  CHECK(result.channel_time_s == 20 * 3);  // more than 10 * 3, and than 8 * 5
  CHECK(result.model_time_s == 1 + 60);
}

TEST_CASE("a step takes as long as its slowest channel, not its fullest", "[unit]") {
  // Node 0 sends a block of 10 bytes down the fast dimension and, a step later, 8 bytes of header alone down the slow one.
  const auto program = [](Node& self) -> Program {
    if (self.rank() == 0) {
      self.send({{0, 1}}, self.blocks());
      self.send({{1, 1}}, {}, {7});
    }
    co_await self.step();
    if (self.rank() == 0) self.send({{1, 1}}, {}, {7, 7});
    co_await self.step();
  };
  for (const Contention contention : {Contention::forbid, Contention::share}) {
    const Machine machine = machine_of("3x3", {2, 6}, contention);
    RunOptions options;
    options.verify = false;
    const RunResult result = Engine(machine, Placement::replicated(machine.topology, {0}, 10), options).run(program);
    CHECK(result.channel_bytes_sum == 10 + 8);
    CHECK(result.channel_time_s == 4 * 6 + 8 * 6);  // 10 * 2 < 4 * 6
    CHECK(result.model_time_s == 2 + 24 + 48);
  }
}

TEST_CASE("messages that share a channel share its time", "[unit]") {
  const auto program = [](Node& self) -> Program {
    if (self.rank() == 0) {
      self.send({{1, 1}}, {}, {7});
      self.send({{1, 2}}, {}, {7, 7});
    }
    co_await self.step();
  };
  const Machine machine = machine_of("5x5", {1, 10}, Contention::share);
  RunOptions options;
  options.verify = false;
  const RunResult result = Engine(machine, Placement::replicated(machine.topology, {0}, 10), options).run(program);
  CHECK(result.channel_time_s == (4 + 8) * 10);
}

TEST_CASE("a header says speeds only where they differ, and reads them back", "[unit]") {
  const support::Folder folder;
  TraceHeader header{machine_of("4x3", {1e-10, 2.5e-10}), "broadcast", {0}, 1, 16, "flood", 1};
  CHECK(to_json_line(header).find(",\"tc_s\":[1e-10,2.5e-10],\"th_s\":") != std::string::npos);
  TraceWriter(folder.file("trace"), header).commit();
  const TraceReader reader(folder.file("trace"));
  CHECK(reader.header().machine.cost.dimension_byte_s == header.machine.cost.dimension_byte_s);
  header.machine = machine_of("4x3", {1e-9, 1e-9});
  CHECK(to_json_line(header).ends_with(",\"tc_s\":1e-09,\"th_s\":0}"));
}

TEST_CASE("the judge finds the byte term of a trace by itself", "[unit]") {
  TraceHeader header{machine_of("4x4", {1, 10}), "broadcast", {0}, 1, 6, "", 0};
  Judge judge(header);
  judge.message({0, 0, 4, {{0, 1}}, 100, {0}});
  judge.message({0, 0, 1, {{1, 1}}, 11, {0}});
  judge.message({3, 0, 12, {{0, -1}}, 6, {0}});
  const Verdict verdict = judge.finish();
  CHECK(verdict.channel_bytes == 106);
  CHECK(verdict.channel_time_s == 110 + 6);
}

TEST_CASE("a bound in seconds comes from the fastest channels that a node may use", "[unit]") {
  Request request = support::broadcast_request(0, 1200);
  Machine machine = Machine::make({.topology = "4x4", .ports = 4, .contention = Contention::share, .cost = speeds({1, 2})});
  CHECK(lower_bounds(machine, request).channel_time_s == Approx(1200 / (1.0 + 1 + 0.5 + 0.5)));
  machine = Machine::make({.topology = "4x4", .ports = 1, .contention = Contention::share, .cost = speeds({1, 2})});
  CHECK(lower_bounds(machine, request).channel_time_s == Approx(1200));
  request.collective = Collective::total_exchange;
  // The middle cut of the slow dimension: 8 x 8 blocks over 4 rows of 2 links.
  machine = Machine::make({.topology = "4x4", .cost = speeds({1, 5})});
  CHECK(lower_bounds(machine, request).channel_time_s == Approx(1200 * 64.0 / 8 * 5));
  CHECK_FALSE(lower_bounds(machine_of("4x4", {2, 2}), request).channel_time_s);
}
