/// The memory of a run: estimated, limited, refused beforehand, and running out.
#include <algorithm>
#include <string>
#include <vector>

#include <torus/engine.hpp>
#include <torus/error.hpp>

#include "runtime/base/host.hpp"
#include "runtime/base/region.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/run.hpp"

using namespace torus;
using support::emulate;
using support::from_zero;
using support::no_blocks;

namespace {}  // namespace

TEST_CASE("the sums of a long run cover every step, and its memory does not grow with them", "[unit]") {
  const Machine machine =
      Machine::make({.topology = "2m", .switching = Switching::packet, .cost = {.start_up_s = 1, .byte_s = 0, .hop_s = 0}});
  constexpr Step rounds = 100'000;  // of two steps
  static_assert(2 * rounds > RunResult::max_step_records);
  const auto program = [](Node& self) -> Program {
    for (Step round = 0; round < rounds; ++round) {
      self.phase("there");
      if (self.rank() == 0) self.send({{0, +1}}, no_blocks, {1U});
      co_await self.step();
      self.phase("and back");
      if (self.rank() == 1) self.send({{0, -1}}, self.blocks());
      co_await self.step();
    }
  };
  Engine engine(machine, Placement::resident(machine.topology, 1, 8),
                {.executor = ExecutorKind::serial, .memory_limit = Bytes{1} << 20U, .verify = false});
  const Bytes before = peak_memory().value_or(0);
  const RunResult result = engine.run(program);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // whose own records grow with a run
  CHECK(peak_memory().value_or(0) - before < Bytes{16} << 20U);
#else
  static_cast<void>(before);
#endif
  CHECK(result.violations.empty());
  CHECK(result.steps == 2 * rounds);
  CHECK(result.busy_steps == 2 * rounds);
  CHECK(result.control_steps == rounds);
  CHECK(result.messages == 2 * rounds);
  CHECK(result.hops == 2 * rounds);
  CHECK(result.route_hops_sum == 2 * rounds);
  CHECK(result.bytes_delivered == Bytes{8} * rounds);
  CHECK(result.control_bytes == Bytes{4} * rounds);
  CHECK(result.channel_bytes_sum == Bytes{12} * rounds);
  CHECK(result.model_time_s == Approx(2.0 * rounds));
  CHECK(result.step_records.size() == RunResult::max_step_records);
  REQUIRE(result.phases.size() == 2);
  CHECK(std::string(result.phases[0].phase) == "there");
  CHECK(std::string(result.phases[1].phase) == "and back");
  CHECK(result.phases[0].steps == rounds);
  CHECK(result.phases[0].control_steps == rounds);
  CHECK(result.phases[1].channel_bytes == Bytes{8} * rounds);
}

TEST_CASE("a run that cannot fit is refused with what it needs and what there is", "[unit]") {
  const Machine machine(Topology::parse("64x64"));
  const Placement placement = from_zero(machine, Bytes{1} << 40U);
  std::string line;
  try {
    Engine engine(machine, placement, {});
  } catch (const InputError& error) {
    line = error.what();
  }
  CAPTURE(line);
  CHECK(line.find("4,096 nodes") != std::string::npos);
  CHECK(line.find("MiB") != std::string::npos);
  CHECK(line.find("would fit") != std::string::npos);
  CHECK(line.find('\n') == std::string::npos);
  CHECK_THROWS_AS(Engine(machine, from_zero(machine), {.memory_limit = 1000}), InputError);
  CHECK_NOTHROW(
      Engine(machine, from_zero(machine), {.threads = 2, .memory_limit = estimate_memory(machine, from_zero(machine), {}, 2).total()}));
}

TEST_CASE("a step whose messages need more memory than a run may use is refused", "[unit]") {
  const Machine machine(Topology::parse("2"));
  const auto program = [](Node& self) -> Program {
    const std::vector<Word> header(Bytes{8} << 20U);
    if (self.rank() == 0) self.send({{0, 1}}, no_blocks, header);
    co_return;
  };
  const auto run = [&](Bytes limit) {
    return Engine(machine, from_zero(machine), {.executor = ExecutorKind::serial, .memory_limit = limit}).run(program);
  };
  std::string line;
  try {
    run(Bytes{8} << 20U);
  } catch (const RunError& error) {
    line = error.what();
  }
  CAPTURE(line);
  CHECK(line.find("33554") != std::string::npos);
  CHECK(line.find("RunOptions::memory_limit") != std::string::npos);
  CHECK(run(Bytes{1} << 30U).violations.empty());
}

TEST_CASE("a run ends in an error where its messages find no room, whoever notices, and the engine can be used again", "[unit]") {
  // Step 0: all pass their blocks on. Step 1: one node sends a long header, and all pass on what has come. With the shortest header that is
  // too long it is one of the others' messages that finds no room.
  const Machine machine(Topology::parse("32x32"), 0, Switching::packet);
  constexpr Bytes limit = Bytes{4} << 20U;
  const auto crowded = [](Node& self, NodeId talker, std::size_t words) -> Program {
    self.forward({{1, +1}}, self.blocks());
    const Arrivals& arrivals = co_await self.step();
    if (self.rank() == talker) self.send({{0, -1}}, no_blocks, std::vector<Word>(words));
    for (const Message& m : arrivals) self.forward({{1, -1}}, m.blocks());
    co_await self.step();
  };
  const auto quiet = [](Node& self) -> Program {
    self.forward({{1, +1}}, self.blocks());
    for (const Message& m : co_await self.step()) self.forward({{1, -1}}, m.blocks());
    co_await self.step();
  };
  for (const support::Workers& workers : support::every_executor()) {
    for (const NodeId talker : {0U, 1000U}) {
      CAPTURE(workers.text(), talker);
      const Placement placement = Placement::resident(machine.topology, 1, 64);
      Engine engine(machine, placement, {.executor = workers.executor, .threads = workers.threads, .memory_limit = limit});
      std::size_t fits = 0, too_long = std::size_t{8} << 20U;
      while (too_long - fits > 16) {
        const std::size_t words = (fits + too_long) / 2;
        try {
          const RunResult result = engine.run([&](Node& self) { return crowded(self, talker, words); });
          CHECK(result.verified);
          fits = words;
        } catch (const RunError&) {
          too_long = words;
          const RunResult after = engine.run(quiet);
          CHECK(after.verified);
          CHECK(after.messages == 2048);
        }
      }
      CHECK(fits > 0);
      CHECK(too_long < std::size_t{8} << 20U);
    }
  }
}

TEST_CASE("a program that catches the error of a send does not make its run a good one", "[unit]") {
  const Machine machine(Topology::parse("4"));
  const std::vector<Word> header(Bytes{8} << 20U);
  const auto program = [&](Node& self) -> Program {
    try {
      self.send({{0, 1}}, no_blocks, header);
    } catch (const RunError&) {
    }
    self.send({{0, 1}}, self.blocks());
    co_await self.step();
  };
  for (const support::Workers& workers : support::every_executor()) {
    CAPTURE(workers.text());
    Engine engine(machine, Placement::resident(machine.topology, 1, 8),
                  {.executor = workers.executor, .threads = workers.threads, .memory_limit = Bytes{8} << 20U});
    std::string line;
    try {
      engine.run(program);
    } catch (const RunError& error) {
      line = error.what();
    }
    CAPTURE(line);
    CHECK(line.find("raise the memory limit") != std::string::npos);
  }
}

TEST_CASE("copies that their receivers drop take no more memory the longer a run lasts", "[unit]") {
  const Machine machine(Topology::parse("64c"), 0, Switching::packet);
  const Placement placement = Placement::replicated(machine.topology, {0}, Bytes{1} << 18U);
  const auto program = [](Node& self) -> Program {
    for (int step = 0; step < 63; ++step) {
      if (static_cast<int>(self.rank()) == step) self.send({{0, 1}}, self.blocks());
      co_await self.step();
    }
    for (int step = 0; step < 200; ++step) {  // the lower half sends to the upper one what it has
      if (self.rank() < 32) self.send({{0, 32}}, self.blocks());
      co_await self.step();
    }
  };
  for (const support::Workers& workers : support::every_executor()) {
    CAPTURE(workers.text());
    const Bytes limit = estimate_memory(machine, placement, {}, std::max(1U, workers.threads)).total() + (Bytes{128} << 20U);
    Engine engine(machine, placement, {.executor = workers.executor, .threads = workers.threads, .memory_limit = limit});
    const RunResult result = engine.run(program);
    CHECK(result.verified);
    CHECK(result.duplicates == 200 * 32);
  }
}

TEST_CASE("the estimate is enough for blocks that wander, however long they are", "[unit]") {
  const Machine machine(Topology::parse("4"), 0, Switching::packet);
  const Placement placement = Placement::resident(machine.topology, 1, Bytes{32} << 20U);
  const auto round = [](Node& self) -> Program {
    self.forward({{0, 1}}, self.blocks());
    for (int step = 1; step < 4; ++step) {
      for (const Message& m : co_await self.step()) self.forward({{0, 1}}, m.blocks());
    }
    co_await self.step();
  };
  for (const support::Workers& workers : support::every_executor()) {
    CAPTURE(workers.text());
    const Bytes limit = estimate_memory(machine, placement, {}, std::max(1U, workers.threads)).total();
    CHECK(
        Engine(machine, placement, {.executor = workers.executor, .threads = workers.threads, .memory_limit = limit}).run(round).verified);
  }
}

TEST_CASE("lengths that no host has are refused, and do not wrap round", "[unit]") {
  const Machine machine(Topology::parse("4x4"));
  for (const Bytes bytes : {Bytes{1} << 60U, (Bytes{1} << 63U) - 1, ~Bytes{0}}) {
    CAPTURE(bytes);
    CHECK_THROWS_AS(Engine(machine, from_zero(machine, bytes), {}), InputError);
    CHECK(estimate_memory(machine, from_zero(machine, bytes)).total() >= Bytes{1} << 60U);
  }
}

TEST_CASE("a scatter or gather needs memory for the blocks, not for every block at every node", "[unit]") {
  const Machine machine(Topology::parse("256x256"));
  for (const Placement& placement : {Placement::scattered(machine.topology, 3, 64), Placement::gathered(machine.topology, 3, 64)})
    CHECK(estimate_memory(machine, placement).total() < Bytes{200} << 20U);
}

TEST_CASE("the block length that a refusal names is the longest that fits", "[unit]") {
  const Machine machine(Topology::parse("64x64"));
  for (const Bytes limit : {Bytes{4} << 20U, Bytes{5} << 20U, Bytes{64} << 20U, Bytes{1} << 30U}) {
    std::string line;
    try {
      Engine engine(machine, from_zero(machine, Bytes{1} << 40U), {.threads = 2, .memory_limit = limit});
    } catch (const InputError& error) {
      line = error.what();
    }
    CAPTURE(line);
    const std::size_t at = line.find("at most ");
    REQUIRE(at != std::string::npos);
    const Bytes fitting = std::stoull(line.substr(at + 8));
    CHECK_NOTHROW(Engine(machine, from_zero(machine, fitting), {.threads = 2, .memory_limit = limit}));
    CHECK_THROWS_AS(Engine(machine, from_zero(machine, fitting + 64), {.threads = 2, .memory_limit = limit}), InputError);
  }
}

TEST_CASE("more memory allowed than there is address space does no harm", "[unit]") {
  const Machine machine(Topology::parse("4x4"));
  CHECK_NOTHROW(Engine(machine, from_zero(machine), {.memory_limit = Bytes{1000} << 40U}));
}

TEST_CASE("pages are kept only where that was asked for, and only for values that need not be zero", "[unit]") {
  using Bytes = detail::Region<std::byte>;
  constexpr std::size_t size = 1 << 17;
  constexpr std::byte written{77};
  const auto write = [&](Bytes region) { region[5] = written; };
  const auto kept = [&](const Bytes& region) { return region[5] == written; };
  write(Bytes(size, Bytes::Unzeroed{}));
  CHECK_FALSE(kept(Bytes(size, Bytes::Unzeroed{})));
  detail::KeptPages pages;
  const Bytes::Unzeroed keep{&pages};
  write(Bytes(size));
  CHECK_FALSE(kept(Bytes(size, keep)));
  write(Bytes(size, keep));
  CHECK_FALSE(kept(Bytes(size)));
  CHECK(kept(Bytes(size - 100, keep)));
  write(Bytes(size, keep));
  CHECK_FALSE(kept(Bytes(4 * size, keep)));  // too few pages: the kernel gives others
  write(Bytes(size, keep));
  {
    detail::KeptPages others;
    CHECK_FALSE(kept(Bytes(size, Bytes::Unzeroed{&others})));
  }
  CHECK(kept(Bytes(size, keep)));
}
