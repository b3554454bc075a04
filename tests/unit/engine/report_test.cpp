// What a report says of runs that end well and of runs that do not.
#include <algorithm>
#include <string>

#include <torus/report.hpp>

#include "tests/support/catch.hpp"

using namespace torus;

namespace {

const Machine ring(Topology::parse("5"), 0, Switching::packet, Contention::forbid, {}, {.start_up_s = 1e-6, .byte_s = 1e-9});

RunOptions serial() {
  RunOptions options;
  options.executor = ExecutorKind::serial;
  options.seed = 7;
  return options;
}

RunResult run(const std::function<Program(Node&)>& program) {
  return Engine(ring, Placement::replicated(ring.topology, {0}, 100), serial()).run(program);
}

Program once_round(Node& self) {
  if (self.rank() != 0) co_await self.arrival();
  if (self.rank() != 4) self.send({{0, +1}}, self.blocks());
}

std::string row_named(const Rows& rows, std::string_view name) {
  const auto at = std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.first == name; });
  return at == rows.end() ? "no row " + std::string(name) : at->second;
}

}  // namespace

TEST_CASE("a report gives machine, steps, traffic, times and verdict, a row each", "[unit]") {
  const RunResult result = run(once_round);
  const Rows rows = report(ring, result, serial());
  CHECK(row_named(rows, "machine") == "5: 5 nodes, packet, all (2)-port, contention forbidden");
  CHECK(row_named(rows, "steps") == "4 (4 with traffic)");
  CHECK(row_named(rows, "messages") == "4 over 4 hops; 0 of control alone, in 0 steps of their own");
  CHECK(row_named(rows, "bytes") == "400 delivered (400 B), 0 of control; bytes x hops 400");
  // 4 of 10 channels carried 100 bytes each.
  CHECK(row_named(rows, "channels") == "busiest 100, mean 40 bytes, idle 60.0 %; at most 1 message at a time");
  CHECK(row_named(rows, "model time") == "4.4 us  (T_s 1 us, T_c 1 ns a byte)");
  CHECK(row_named(rows, "wall time").find("1 thread, executor serial") != std::string::npos);
  CHECK(row_named(rows, "host speed").find("/s copied, ") != std::string::npos);
  CHECK(row_named(rows, "memory").find("peak ") == 0);
  CHECK(row_named(rows, "seed, digest") == "7, " + digest_text(result.trace_digest));
  CHECK(row_named(rows, "verdict") == "verified: every byte at every node");
  CHECK(rows.size() == 11);
}

TEST_CASE("a report counts deliveries of what the receiver had", "[unit]") {
  const auto to_the_source_too = [](Node& self) -> Program {
    if (self.rank() != 0) co_await self.arrival();
    self.send({{0, +1}}, self.blocks());
  };
  CHECK(row_named(report(ring, run(to_the_source_too), serial()), "duplicates") == "1 of 5 blocks reached a node that had them already");
}

TEST_CASE("what was expected stands beside what happened", "[unit]") {
  ReportContext context;
  context.expected = {5, false, "n", 2, 5.5e-6, 2.2e-6};
  context.run_s = 2;
  context.failure = "another digest";
  const Rows rows = report(ring, run(once_round), serial(), context);
  CHECK(row_named(rows, "steps") == "4 (4 with traffic); formula at most 5; lower bound 2");
  CHECK(row_named(rows, "formula") == "n");
  CHECK(row_named(rows, "model time") == "4.4 us; formula 5.5 us; lower bound 2.2 us  (T_s 1 us, T_c 1 ns a byte)");
  CHECK(row_named(rows, "host speed") == "200 B/s copied, 2 hops/s");
  CHECK(row_named(rows, "verdict") == "FAILED: another digest");
}

TEST_CASE("a run without verification is reported as that, not as failed and not as verified", "[unit]") {
  RunOptions options = serial();
  options.verify = false;
  const RunResult result = Engine(ring, Placement::replicated(ring.topology, {0}, 100), options).run(once_round);
  CHECK(result.good());
  CHECK_FALSE(result.verified);
  CHECK_FALSE(failure_of(ring, result));
  CHECK(row_named(report(ring, result, options), "verdict") == "not verified (verification was turned off)");
}

TEST_CASE("a failure is one line that names what went wrong first", "[unit]") {
  CHECK_FALSE(failure_of(ring, run(once_round)));
  const auto failure = [](const std::function<Program(Node&)>& program) { return failure_of(ring, run(program)).value_or("none"); };

  const auto too_far = [](Node& self) -> Program {
    if (self.rank() == 0) self.send({{0, +2}}, self.blocks());
    co_await self.step();
  };
  CHECK(failure(too_far).substr(0, 36) == "violation, more than one hop: step 0");

  const auto silent = [](Node& self) -> Program {
    if (self.rank() != 0) co_await self.arrival();
  };
  CHECK(failure(silent) ==
        "hang: 4 nodes wait for ever: (1) for a message, nothing ever arrived; (2) for a message, nothing ever arrived; (3) for a message, "
        "nothing "
        "ever arrived; there was no traffic at all");

  const auto lazy = [](Node& self) -> Program {
    if (self.rank() == 0) self.send({{0, +1}}, self.blocks());
    co_await self.step();
  };
  CHECK(failure(lazy) == "wrong delivery after step 1: node (2) lacks block 0");

  const auto careless = [](Node& self) -> Program {
    if (self.rank() != 0) co_await self.arrival();
    if (self.rank() != 4) self.send({{0, +1}}, self.blocks());
    if (self.rank() == 3) self.bytes(0)[12] ^= std::byte{1};
  };
  CHECK(failure(careless).find(": node (3), block 0, offset 12: got ") != std::string::npos);
}

TEST_CASE("the texts of rows stand below each other", "[unit]") {
  CHECK(aligned({{"a", "1"}, {"long", "2"}, {"", "3"}}) == "a     1\nlong  2\n      3\n");
}
