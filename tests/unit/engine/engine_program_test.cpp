/// Programs on the engine: how they begin, wait, call each other, fail and end; phases; an engine used again.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <torus/engine.hpp>
#include <torus/error.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/run.hpp"

using namespace torus;
using support::emulate;
using support::from_zero;
using support::pass_on;

TEST_CASE("steps are the barriers crossed until all programs have ended", "[unit]") {
  const Machine machine(Topology::parse("4"));
  const auto waits = [](NodeId who, int steps) {
    return [=](Node& self) -> Program {
      if (self.rank() == who) {
        for (int i = 0; i < steps; ++i) co_await self.step();
      }
    };
  };
  const Placement nothing = Placement::resident(machine.topology, 1, 8);
  CHECK(emulate(machine, nothing, waits(2, 0)).result.steps == 0);
  const RunResult idle = emulate(machine, nothing, waits(2, 5)).result;
  CHECK(idle.steps == 5);
  CHECK(idle.busy_steps == 0);
  CHECK(idle.verified);
}

TEST_CASE("a program is made of programs that return values", "[unit]") {
  struct Sub {
    static ProgramOf<int> leaf(Node& self, int steps) {
      for (int i = 0; i < steps; ++i) co_await self.step();
      co_return steps;
    }
    static ProgramOf<int> sum(Node& self, int upto) {
      int total = 0;
      for (int i = 0; i <= upto; ++i) {
        const int part = co_await leaf(self, i);
        total += part;
      }
      co_return total;
    }
    static Program nothing(Node&) { co_return; }
  };
  const Machine machine(Topology::parse("3"));
  std::vector<int> totals(3);
  const auto program = [&](Node& self) -> Program {
    co_await Sub::nothing(self);
    const int total = co_await Sub::sum(self, 4);
    totals[self.rank()] = total;
    co_await Sub::nothing(self);
  };
  const RunResult result = emulate(machine, Placement::resident(machine.topology, 1, 8), program).result;
  CHECK(totals == std::vector<int>{10, 10, 10});
  CHECK(result.steps == 10);
}

TEST_CASE("an exception passes through sub-programs, and may be caught on its way", "[unit]") {
  struct Sub {
    static Program fails(Node& self) {
      co_await self.step();
      throw std::runtime_error("no");
    }
    static Program between(Node& self) { co_await fails(self); }
  };
  const Machine machine(Topology::parse("3"));
  const Placement nothing = Placement::resident(machine.topology, 1, 8);
  std::vector<int> caught(3);
  const auto catches = [&](Node& self) -> Program {
    try {
      co_await Sub::between(self);
    } catch (const std::runtime_error&) {
      caught[self.rank()] = 1;
    }
    co_await self.step();
  };
  CHECK(emulate(machine, nothing, catches).result.steps == 2);
  CHECK(caught == std::vector<int>{1, 1, 1});
  CHECK_THROWS_WITH(emulate(machine, nothing, [](Node& self) { return Sub::between(self); }), "step 1, node (0): no");
}

TEST_CASE("programs that wait for ever are destroyed, with those that they wait for", "[unit]") {
  struct Counted {
    std::atomic<int>& alive;
    explicit Counted(std::atomic<int>& count) : alive{count} { ++alive; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    ~Counted() { --alive; }
  };
  struct Sub {
    static ProgramOf<int> waits(Node& self, std::atomic<int>& alive) {
      const Counted counted(alive);
      co_await self.arrival();
      co_return 1;
    }
    static Program between(Node& self, std::atomic<int>& alive) {
      const Counted counted(alive);
      co_await waits(self, alive);
    }
  };
  const Machine machine(Topology::parse("5"));
  std::atomic<int> alive = 0;
  int most = 0;
  const auto program = [&](Node& self) -> Program {
    const Counted counted(alive);
    co_await self.step();
    most = alive;
    if (self.rank() != 3) co_await Sub::between(self, alive);
  };
  Engine engine(machine, Placement::resident(machine.topology, 1, 8), {.executor = ExecutorKind::serial});
  const RunResult result = engine.run(program);
  REQUIRE(result.hang);
  CHECK(result.hang->nodes == 4);
  CHECK(most > 5);
  CHECK(alive == 0);
}

TEST_CASE("a program may run an engine of its own", "[unit]") {
  const Machine ring(Topology::parse("6"), 1, Switching::packet);
  const auto program = [&](Node& self) -> Program {
    const Arrivals none = co_await self.step();
    if (!none.empty()) throw std::runtime_error("nobody has sent");
    const RunResult inner = Engine(ring, from_zero(ring), {.executor = ExecutorKind::serial}).run(pass_on);
    if (!inner.verified) throw std::runtime_error("the inner run went wrong");
    self.forward({{0, +1}}, self.blocks());
    const NodeId from = (co_await self.arrival()).front().source();
    if (self.neighbour({0, -1}) != from) throw std::runtime_error("somebody else's message");
    self.forward({{0, -1}}, self.blocks());
    co_await self.step();
  };
  for (const support::Workers& workers : support::every_executor()) {
    CAPTURE(workers.text());
    CHECK(Engine(ring, Placement::resident(ring.topology, 1, 8), {.executor = workers.executor, .threads = workers.threads})
              .run(program)
              .verified);
  }
}

TEST_CASE("of the exceptions of a step the lowest node's is rethrown, whatever the executor", "[unit]") {
  // Large enough that several workers meet failing programs in the same step.
  const Machine machine(Topology::parse("64x64"));
  const Placement nothing = Placement::resident(machine.topology, 1, 8);
  const auto program = [](Node& self) -> Program {
    co_await self.step();
    if (self.rank() % 50 == 49) throw std::runtime_error("node " + std::to_string(self.rank()));
    co_await self.step();
    throw std::runtime_error("too late");
  };
  for (const support::Workers& workers : support::every_executor()) {
    CAPTURE(workers.text());
    CHECK_THROWS_WITH(emulate(machine, nothing, program, workers), "step 1, node (0,49): node 49");
  }
}

TEST_CASE("of the exceptions of several workers the lowest node's is rethrown", "[unit]") {
  const Machine machine(Topology::parse("64x64"));
  const Placement nothing = Placement::resident(machine.topology, 1, 8);
  for (const support::Workers& workers : support::every_executor()) {
    if (workers.threads == 1) continue;
    CAPTURE(workers.text());
    for (int repetition = 0; repetition < 10; ++repetition) {
      // The first worker that fails waits until another does, unless the system gives it no other thread.
      std::mutex mutex;
      std::condition_variable another;
      std::set<std::thread::id> failed;
      const auto program = [&](Node& self) -> Program {
        co_await self.step();
        if (self.rank() % 50 != 49) co_return;
        {
          std::unique_lock lock(mutex);
          failed.insert(std::this_thread::get_id());
          another.notify_all();
          another.wait_for(lock, std::chrono::milliseconds(100), [&] { return failed.size() > 1; });
        }
        throw std::runtime_error("node " + std::to_string(self.rank()));
      };
      CHECK_THROWS_WITH(emulate(machine, nothing, program, workers), "step 1, node (0,49): node 49");
    }
  }
}

TEST_CASE("an engine runs again and again from fresh blocks, also after a run that failed", "[unit]") {
  const Machine machine(Topology::parse("2m"));
  Engine engine(machine, from_zero(machine), {.executor = ExecutorKind::serial});
  const auto sends = [](Node& self) -> Program {
    if (self.rank() == 0) self.send({{0, +1}}, self.blocks());
    co_return;
  };
  const auto damages = [](Node& self) -> Program {
    if (self.rank() == 0) self.bytes(0)[0] ^= std::byte{1};
    co_return;
  };
  const auto throws = [](Node& self) -> Program {
    if (self.rank() == 0) self.send({{0, +1}}, self.blocks());
    if (self.rank() == 1) throw std::runtime_error("no");
    co_return;
  };
  const std::uint64_t digest = engine.run(sends).trace_digest;
  CHECK(engine.run(damages).wrong);
  CHECK_THROWS_WITH(engine.run(throws), "step 0, node (1): no");
  const RunResult again = engine.run(sends);
  CHECK(again.verified);
  CHECK(again.messages == 1);
  CHECK(again.duplicates == 0);
  CHECK(again.trace_digest == digest);
  CHECK(engine.bytes(1, 0).size() == 100);
}

TEST_CASE("phases name their steps", "[unit]") {
  const Machine machine(Topology::parse("4"));
  const auto program = [](Node& self) -> Program {
    self.phase("first");
    co_await self.step();
    co_await self.step();
    self.phase(self.rank() == 0 ? "last" : "not the lowest rank's word");
    co_await self.step();
  };
  for (const support::Workers& workers : support::every_executor()) {
    const RunResult result = emulate(machine, Placement::resident(machine.topology, 1, 8), program, workers).result;
    REQUIRE(result.step_records.size() == 3);
    CHECK(std::string(result.step_records[0].phase) == "first");
    CHECK(result.step_records[1].phase == nullptr);
    CHECK(std::string(result.step_records[2].phase) == "last");
  }
}

TEST_CASE("phases past the last one that is told apart count as steps without a name", "[unit]") {
  const Machine machine("2m");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < RunResult::max_phases + 10; ++i) names.push_back("phase " + std::to_string(i));
  const auto program = [&](Node& self) -> Program {
    for (const std::string& name : names) {
      self.phase(name.c_str());
      co_await self.step();
    }
  };
  const RunResult result = emulate(machine, Placement::resident(machine.topology, 1, 8), program, {}, {.idle_steps = 1000}).result;
  CHECK(result.steps == names.size());
  REQUIRE(result.phases.size() == RunResult::max_phases);
  CHECK(result.phases.back().phase == nullptr);
  CHECK(result.phases.back().steps == 11);
}

TEST_CASE("an engine runs a program with its arguments", "[unit]") {
  struct Table {
    std::vector<NodeId> next;
  };
  const auto program = [](Node& self, NodeId root, const Table& table) -> Program {
    if (self.rank() != root) co_await self.arrival();
    if (table.next[self.rank()] != root) self.send(table.next[self.rank()], self.blocks());
  };
  const Machine machine = Machine::make({.topology = "5", .ports = 1, .switching = Switching::packet});
  const NodeId root = 2;
  Engine engine(machine, Placement::replicated(machine.topology, {root}, 64));
  const RunResult result = engine.run(program, root, Table{{1, 2, 3, 4, 0}});
  CHECK(result.verified);
  CHECK(result.steps == 4);
}

TEST_CASE("a program that is called outside a run says so", "[unit]") {
  struct Sub {
    static Program nothing(Node&) { co_return; }
  };
  Node nowhere;
  CHECK_THROWS_AS(Sub::nothing(nowhere), RunError);
}

TEST_CASE("a placement that was made for another machine is refused", "[unit]") {
  const Machine machine(Topology::parse("16"));
  for (const char* shape : {"8", "17", "4x5"}) {
    CAPTURE(shape);
    std::string line;
    try {
      Engine engine(machine, Placement::replicated(Topology::parse(shape), {3}, 64), {});
    } catch (const InputError& error) {
      line = error.what();
    }
    CAPTURE(line);
    CHECK(line.find("on a machine of 16 nodes (16): make the placement from the machine's topology") != std::string::npos);
  }
}

TEST_CASE("what starts a node can make its program and call nothing else", "[unit]") {
  const Machine machine(Topology::parse("4"), 0, Switching::packet);
  const auto round = [](Node& self) -> Program {
    self.forward({{0, 1}}, self.blocks());
    for (const Message& m : co_await self.step()) self.forward({{0, -1}}, m.blocks());
    co_await self.step();
  };
  const BlockId own = 2;
  const std::vector<std::function<void(Node&)>> calls{
      [own](Node& self) {
        self.send({{0, 1}}, {&own, 1});
      },
      [own](Node& self) {
        self.send({{0, 1}}, {&own, 1}, {7U});
      },
      [own](Node& self) {
        self.forward({{0, 1}}, {&own, 1});
      },
      [own](Node& self) {
        self.forward(3, {&own, 1});
      },
      [](Node& self) { self.release(own); },
      [](Node& self) { self.bytes(own); },
      [](Node& self) { self.holds(own); },
      [](Node& self) { self.blocks(); },
      [](Node& self) { self.phase("early"); },
  };
  for (const support::Workers& workers : support::every_executor()) {
    CAPTURE(workers.text());
    Engine engine(machine, Placement::resident(machine.topology, 1, 64), {.executor = workers.executor, .threads = workers.threads});
    for (std::size_t i = 0; i < calls.size(); ++i) {
      CAPTURE(i);
      const auto early = [&](Node& self) {
        if (self.rank() == 2) calls[i](self);
        return round(self);
      };
      std::string line;
      try {
        engine.run(early);
      } catch (const RunError& error) {
        line = error.what();
      }
      CAPTURE(line);
      CHECK(line.find("before step 0, node (2): ") == 0);
      CHECK(engine.run(round).verified);  // and the next run goes on as if nothing had been
    }
  }
}

TEST_CASE("steps of many, of few and of some nodes in turn are the same, however many workers are called for each", "[unit]") {
  const Machine machine(Topology::parse("64x64"));
  const Word word = 7;
  const auto program = [word](Node& self) -> Program {
    self.send({{1, 1}}, support::no_blocks, std::span<const Word>(&word, 1));  // all nodes
    co_await self.arrival();
    const std::int32_t row = self.coordinate(0);
    if (row == 0) {
      for (int turn = 0; turn < 6; ++turn) {  // a row
        self.send({{1, turn % 2 == 0 ? 1 : -1}}, support::no_blocks, std::span<const Word>(&word, 1));
        co_await self.step();
      }
    } else {
      co_await self.arrival();
    }
    for (int wave = 0; wave < 3; ++wave) {  // one row after the other, up to three at a time
      if (row < 63) self.send({{0, 1}}, support::no_blocks, std::span<const Word>(&word, 1));
      if (wave < 2 && row == 0) co_await self.step();
      if (wave < 2 && row > 0) co_await self.arrival();
    }
  };
  const Placement placement = Placement::resident(machine.topology, 1, 8);
  const support::Outcome alone = support::emulate(machine, placement, program, {ExecutorKind::serial, 1});
  REQUIRE(alone.result.good());
  CHECK(alone.trace.size() == 4096 + 6 * 64 + 3 * 63 * 64);
  for (const support::Workers& workers : support::every_executor()) {
    CAPTURE(workers.text());
    const support::Outcome outcome = support::emulate(machine, placement, program, workers);
    CHECK(outcome.trace == alone.trace);
    CHECK(support::text_of(machine, outcome.result) == support::text_of(machine, alone.result));
  }
}

TEST_CASE("an engine can be used again after a run that broke a rule or hung", "[unit]") {
  const Machine machine(Topology::parse("16x16"), 1, Switching::packet);
  const auto good = [](Node& self) -> Program {
    self.forward({{0, 1}}, self.blocks());
    for (const Message& m : co_await self.step()) self.forward({{0, -1}}, m.blocks());
    co_await self.step();
  };
  const auto greedy = [](Node& self) -> Program {
    self.send({{0, 1}}, self.blocks());
    self.send({{1, 1}}, self.blocks());
    co_await self.arrival();
    co_await self.arrival();
  };
  const auto waiting = [](Node& self) -> Program {
    if (self.rank() % 2 == 0) self.send({{0, 1}}, self.blocks());
    co_await self.arrival();
  };
  for (const support::Workers& workers : support::every_executor()) {
    CAPTURE(workers.text());
    Engine engine(machine, Placement::resident(machine.topology, 1, 8), {.executor = workers.executor, .threads = workers.threads});
    for (int round = 0; round < 3; ++round) {
      CHECK_FALSE(engine.run(greedy).violations.empty());
      CHECK(engine.run(good).verified);
      CHECK(engine.run(waiting).hang);
      CHECK(engine.run(good).verified);
    }
  }
}

TEST_CASE("a run that is told to stop ends at the next barrier", "[unit]") {
  const Machine machine(Topology::parse("16x16"));
  for (const support::Workers& workers : support::every_executor()) {
    CAPTURE(workers.text());
    std::atomic<bool> stop{false};
    RunOptions options;
    options.stop = &stop;
    options.on_step = [&](Step step) {
      if (step == 3) stop = true;
    };
    const auto program = [](Node& self) -> Program {
      while (true) {
        self.send({{0, +1}}, self.blocks());
        co_await self.step();
      }
    };
    const RunResult result = emulate(machine, Placement::resident(machine.topology, 1, 8), program, workers, options).result;
    CHECK(result.interrupted);
    CHECK_FALSE(result.good());
    CHECK_FALSE(result.verified);
    CHECK(result.steps >= 3);
    CHECK(result.steps <= 5);
  }
}
