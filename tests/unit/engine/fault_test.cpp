/// Injected faults: what each does to a run, and that it does the same on every executor.
#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <torus/engine.hpp>
#include <torus/error.hpp>
#include <torus/report.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/run.hpp"

using namespace torus;
using support::emulate;

namespace {

const Machine line_of_5(Topology::parse("5m"), 0, Switching::packet);
const Placement from_first = Placement::replicated(line_of_5.topology, {0}, 100, 2);

/// Passes what arrives along a line, one hop a step.
Program pass_along(Node& self) {
  if (self.blocks().empty()) co_await self.arrival();
  if (self.rank() + 1 < self.topology().nodes()) self.send({{0, +1}}, self.blocks());
}

/// Passes every block on that it did not have, and stays until nothing more can come.
Program gossip(Node& self) {
  std::vector<BlockId> seen(self.blocks().begin(), self.blocks().end());
  std::vector<BlockId> fresh = seen;
  for (Step step = 0; step < 12; ++step) {
    for (Dimension d = 0; d < self.dimensions(); ++d) {
      for (const std::int32_t hop : {1, -1}) {
        const bool backwards_of_complete = hop < 0 && self.topology().wiring(d) == Wiring::complete;  // no such channel
        if (!fresh.empty() && !backwards_of_complete && self.neighbour({d, hop})) self.send({{d, hop}}, fresh);
      }
    }
    fresh.clear();
    for (const Message& m : co_await self.step()) {
      for (const BlockId id : m.blocks()) {
        if (std::find(seen.begin(), seen.end(), id) != seen.end()) continue;
        seen.push_back(id);
        fresh.push_back(id);
      }
    }
  }
}

RunResult struck(const Machine& machine, const Placement& placement, const std::function<Program(Node&)>& program, const Fault& fault,
                 support::Workers workers = {}) {
  RunOptions options;
  options.fault = fault;
  return emulate(machine, placement, program, workers, options).result;
}

/// What such a fault does to a message that is passed along a line.
RunResult passed_on(const Fault& fault) { return struck(line_of_5, from_first, pass_along, fault); }

std::string refusal(const RunResult& result) { return failure_of(line_of_5, result).value_or(""); }

}  // namespace

TEST_CASE("what a fault breaks is refused, with the node that it shows at", "[unit]") {
  const RunResult dropped = passed_on({FaultKind::drop, 1, 1});
  CHECK(dropped.fault->text == "step 1: the message from (1) to (2) is dropped");
  CHECK(dropped.hang->nodes == 3);
  CHECK(dropped.hang->first.front().node == 2);
  CHECK(dropped.hang->last_traffic == Step{1});

  const RunResult corrupted = passed_on({FaultKind::corrupt, 1, 1});
  CHECK(corrupted.wrong->kind == WrongDelivery::Kind::damaged);
  CHECK(corrupted.wrong->node == 2);
  CHECK(corrupted.fault->text.find("offset " + std::to_string(corrupted.wrong->offset)) != std::string::npos);

  const RunResult truncated = passed_on({FaultKind::truncate, 2, 2});
  CHECK(truncated.wrong->node == 3);
  CHECK(truncated.wrong->block == 1);
  CHECK(truncated.wrong->offset >= 25);
  CHECK(truncated.wrong->got == 0);

  const RunResult swapped = passed_on({FaultKind::swap, 2, 2});
  CHECK(swapped.wrong->node == 3);
  CHECK(swapped.wrong->block == 0);

  const RunResult misled = passed_on({FaultKind::wrong_neighbour, 1, 1});
  CHECK(misled.fault->text == "step 1: the message from (1) to (2) goes to (0)");
  CHECK(misled.hang->first.front().node == 2);
  for (const RunResult* result : {&dropped, &corrupted, &truncated, &swapped, &misled}) {
    CAPTURE(result->fault->text, refusal(*result));
    CHECK(!result->verified);
    CHECK(refusal(*result).find("step ") != std::string::npos);
    CHECK(refusal(*result).find('(') != std::string::npos);
  }
}

TEST_CASE("what comes late or twice is harmless to a program that waits for it", "[unit]") {
  const std::uint64_t steps = emulate(line_of_5, from_first, pass_along).result.steps;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    const RunResult late = passed_on({FaultKind::late, 1, 1, {}, true, seed});
    CHECK(late.fault->text == "step 1: the message from (1) to (2) is late");
    CHECK(late.verified);
    CHECK((late.steps > steps && late.steps <= steps + 3));
    const RunResult twice = passed_on({FaultKind::twice, 1, 1, {}, true, seed});
    CHECK(twice.verified);
    CHECK(twice.duplicates == 2);
  }
  const RunResult stalled = passed_on({FaultKind::stall, 2, 2});
  CHECK(stalled.fault->text == "step 2: node (2) does not run");
  CHECK(stalled.verified);
  CHECK(stalled.steps == steps + 1);
}

TEST_CASE("the seed decides which bit is wrong, and how much later a message comes", "[unit]") {
  std::set<std::string> bits;
  std::set<std::uint64_t> steps;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const RunResult wrong = passed_on({FaultKind::corrupt, 1, 1, {}, true, seed});
    bits.insert(wrong.fault->text);
    CHECK(passed_on({FaultKind::corrupt, 1, 1, {}, true, seed}).fault->text == wrong.fault->text);
    steps.insert(passed_on({FaultKind::late, 1, 1, {}, true, seed}).steps);
  }
  CHECK(bits.size() > 15);
  CHECK(steps.size() == 3);
}

TEST_CASE("a message that is late waits until its receiver has a port free, so that no rule of arrivals is broken", "[unit]") {
  const Machine one_port(Topology::parse("3m"), 1, Switching::packet);
  const Placement placement = Placement::replicated(one_port.topology, {0}, 8, 1);
  // Node 1 hears node 2 in each of ten steps; what node 0 sends in the first one comes after them, if it is late.
  const auto program = [](Node& self) -> Program {
    if (self.rank() == 0) self.send({{0, +1}}, self.blocks());
    for (int step = 0; step < 10; ++step) {
      if (self.rank() == 2 && step > 0) self.send({{0, -1}}, {});
      co_await self.step();
    }
    if (self.rank() == 2) co_await self.arrival();
    if (self.rank() != 1) co_return;
    if (self.blocks().empty()) co_await self.arrival();
    self.send({{0, +1}}, self.blocks());
  };
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const RunResult result = struck(one_port, placement, program, {FaultKind::late, 0, 0, {}, true, seed});
    CAPTURE(seed, failure_of(one_port, result).value_or(""));
    REQUIRE(result.fault);
    CHECK(result.violations.empty());
    CHECK(result.verified);
  }
}

TEST_CASE("a partial that arrives twice is counted twice, also where the bytes hide it", "[unit]") {
  Contributions what;
  what.reduction = {Operator::max, ElementType::u8};
  what.wanted = Contributions::Wanted::at_root;
  what.root = 4;
  what.bytes = 8;
  const auto program = [](Node& self) -> Program {
    if (self.rank() > 0) co_await self.arrival();
    if (self.rank() == 1) {
      for (int step = 0; step < 6; ++step) co_await self.step();  // both copies are here by then
    }
    if (!self.neighbour({0, +1})) co_return;
    self.send(combine, {{0, +1}}, {{0}});
    co_await self.step();  // kept until then: the copy does not take its place, with its contributors
    self.release(0);
  };
  const RunResult result = struck(line_of_5, Placement::contributed(line_of_5.topology, what), program, {FaultKind::twice, 0, 0});
  CAPTURE(refusal(result));
  CHECK(result.fault->text == "step 0: the message from (0) to (1) arrives twice");
  REQUIRE(result.wrong);
  CHECK(result.wrong->kind == WrongDelivery::Kind::contributor_twice);
  CHECK(result.wrong->node == 4);
  CHECK(result.wrong->contributor == 0);
}

TEST_CASE("a record says what was struck, as soon as it was", "[unit]") {
  RunOptions options;
  std::vector<FaultRecord> told;
  options.on_fault = [&](const FaultRecord& record) { told.push_back(record); };
  options.fault = Fault{FaultKind::corrupt, 1, 1};
  const auto throws = [](Node& self) -> Program {  // before there is a result
    if (self.blocks().empty()) co_await self.arrival();
    if (self.rank() == 2) throw std::runtime_error("no");
    self.send({{0, +1}}, self.blocks());
  };
  CHECK_THROWS(emulate(line_of_5, from_first, throws, {}, options));
  REQUIRE(told.size() == 1);
  CHECK(told.front().step == 1);
  CHECK(told.front().node == 1);
  CHECK(told.front().to == 2);
  CHECK(told.front().carried == 2);
  CHECK(told.front().changed.size() == 1);
  const RunResult stalled = passed_on({FaultKind::stall, 2, 2});
  CHECK(stalled.fault->to == 2);
  CHECK(stalled.fault->carried == 0);
  CHECK(passed_on({FaultKind::drop, 1, 1}).fault->changed.empty());
  // A half that is lost changes nothing where it was zeros: of blocks of one byte, one in 256.
  const Placement bytes = Placement::replicated(line_of_5.topology, {0}, 1, 1);
  int same = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    RunOptions one;
    one.seed = seed;
    one.fault = Fault{FaultKind::truncate, 1, 1};
    const RunResult result = emulate(line_of_5, bytes, pass_along, {}, one).result;
    CHECK(result.verified == result.fault->changed.empty());
    same += result.verified ? 1 : 0;
  }
  CHECK(same > 0);
}

TEST_CASE("a fault at a node without a message, or on another channel, strikes nothing", "[unit]") {
  for (const Fault& fault : {Fault{FaultKind::drop, 1, 3}, Fault{FaultKind::drop, 9, 1}, Fault{FaultKind::drop, 1, 1, 1U},
                             Fault{FaultKind::stall, 1, 4}, Fault{FaultKind::stall, 0, 0}}) {
    const RunResult result = passed_on(fault);
    CHECK(!result.fault);
    CHECK(result.verified);
  }
  CHECK(passed_on({FaultKind::drop, 1, 1, 0U}).fault);
  Fault anywhere{FaultKind::drop, 2, 0};
  anywhere.exact = false;
  CHECK(passed_on(anywhere).fault->text == "step 2: the message from (2) to (3) is dropped");
  CHECK_THROWS_AS(passed_on({FaultKind::drop, 0, 5}), InputError);
}

TEST_CASE("a fault does the same on every executor, whatever the machine", "[unit]") {
  const std::vector<Machine> machines{Machine(Topology::parse("4x5"), 0, Switching::packet),
                                      Machine(Topology::parse("3x4m"), 0, Switching::circuit, Contention::share),
                                      Machine(Topology::parse("3x4c"), 0, Switching::wormhole)};
  for (const Machine& machine : machines) {
    const Placement placement = Placement::replicated(machine.topology, {0, 7}, 90, 3);
    for (const FaultKind kind : all_fault_kinds) {
      Fault fault{kind, 2, 3};
      fault.exact = false;
      const RunResult first = struck(machine, placement, gossip, fault);
      CAPTURE(machine.topology.text(), name(kind));
      if (!first.fault) {  // where every node sends to all its neighbours, no other one has a channel free
        CHECK(kind == FaultKind::wrong_neighbour);
        continue;
      }
      for (const support::Workers& workers : support::every_executor()) {
        CAPTURE(workers.text());
        const RunResult other = struck(machine, placement, gossip, fault, workers);
        CHECK(other.fault->text == first.fault->text);
        CHECK(failure_of(machine, other) == failure_of(machine, first));
        CHECK(other.trace_digest == first.trace_digest);
        CHECK(other.duplicates == first.duplicates);
        CHECK(other.steps == first.steps);
      }
    }
  }
}

TEST_CASE("an engine that was struck runs the next time as if nothing had been", "[unit]") {
  for (const FaultKind kind : all_fault_kinds) {
    CAPTURE(name(kind));
    RunOptions options;
    options.executor = ExecutorKind::serial;
    options.fault = Fault{kind, 1, 1};
    Engine engine(line_of_5, from_first, options);
    const std::optional<std::string> first = failure_of(line_of_5, engine.run(pass_along));
    for (int round = 0; round < 3; ++round) CHECK(failure_of(line_of_5, engine.run(pass_along)) == first);
  }
}
