/// How runs end that do not end well: what programs leave behind, and what is said of them.
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include <torus/engine.hpp>
#include <torus/error.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/run.hpp"

using namespace torus;
using support::emulate;

namespace {

const Machine machine(Topology::parse("4x5"));
const Placement resident = Placement::resident(machine.topology, 1, 8);

/// What a run of this program says; empty if it throws nothing.
std::string thrown_by(const std::function<Program(Node&)>& program, support::Workers workers = {}) {
  try {
    emulate(machine, resident, program, workers);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

/// Calls its node when it goes.
struct Farewell {
  Node& self;
  ~Farewell() {
    const BlockId own = self.rank();
    self.phase("farewell");
    self.send({{0, 1}}, std::span(&own, 1));
    self.forward({{1, 1}}, std::span(&own, 1), {7U});
    self.send({{0, 1}, {1, 1}}, self.blocks(), {1U, 2U});
    if (self.holds(own)) self.bytes(own)[0] = std::byte{0};
    self.release(own);
  }
};

}  // namespace

TEST_CASE("what programs send while they are destroyed goes nowhere", "[unit]") {
  const auto waits = [](Node& self) -> Program {
    const Farewell farewell{self};
    co_await self.arrival();
  };
  const auto breaks_a_rule = [](Node& self) -> Program {
    const Farewell farewell{self};
    co_await self.step();
    if (self.rank() == 3) self.send({{5, 1}}, self.blocks());
    co_await self.step();
  };
  const auto is_made_with_one = [](Node&, std::shared_ptr<const Farewell>) -> Program { co_return; };
  for (const support::Workers& workers : support::every_executor()) {
    CAPTURE(workers.text());
    Engine engine(machine, resident, {.executor = workers.executor, .threads = workers.threads});
    for (int round = 0; round < 3; ++round) {
      CHECK(engine.run(waits).hang->nodes == 20);
      CHECK(engine.run(breaks_a_rule).violations_found == 1);
      const auto throws = [&](Node& self) -> Program {
        if (self.rank() == 19) throw std::runtime_error("no");
        return is_made_with_one(self, std::shared_ptr<const Farewell>(new Farewell{self}));
      };
      CHECK_THROWS_AS(engine.run(throws), RunError);
    }
  }
}

TEST_CASE("programs that call one another a million deep are destroyed one after the other", "[unit]") {
  struct Sub {
    static ProgramOf<int> deeper(Node& self, int levels, int& alive) {
      struct Counted {
        int& count;
        explicit Counted(int& all) : count{all} { ++count; }
        Counted(const Counted&) = delete;
        ~Counted() { --count; }
      };
      const Counted counted(alive);
      if (levels == 0)
        co_await self.arrival();
      else
        co_return 1 + co_await deeper(self, levels - 1, alive);
      co_return 0;
    }
  };
  const Machine one(Topology::parse("1"));
  int alive = 0;
  const auto program = [&](Node& self) -> Program { co_await Sub::deeper(self, 1'000'000, alive); };
  Engine engine(one, Placement::resident(one.topology, 1, 8), {.executor = ExecutorKind::serial});
  for (int round = 0; round < 2; ++round) {
    CHECK(engine.run(program).hang);
    CHECK(alive == 0);
  }
}

TEST_CASE("what a program throws is told with its node and step, and kept as it was thrown", "[unit]") {
  struct Own {};
  const auto throwing = [](auto what) {
    return [what](Node& self) -> Program {
      co_await self.step();
      co_await self.step();
      if (self.rank() == 7) throw what;
    };
  };
  CHECK(thrown_by(throwing(std::runtime_error("no"))) == "step 2, node (1,2): no");
  CHECK(thrown_by(throwing(Own{})) == "step 2, node (1,2): its program threw what is no std::exception");
  CHECK_THROWS_AS(emulate(machine, resident, throwing(InputError("no"))), RunError);  // a program's mistake, not its user's
  CHECK_THROWS_AS(emulate(machine, resident, throwing(std::bad_alloc())), std::bad_alloc);
  try {
    emulate(machine, resident, throwing(std::out_of_range("no")));
    FAIL("nothing was thrown");
  } catch (const RunError& error) {
    CHECK_THROWS_AS(std::rethrow_if_nested(error), std::out_of_range);
  }
  const auto cannot_be_made = [](Node& self) -> Program {
    if (self.rank() == 7) throw std::runtime_error("no");
    struct Sub {
      static Program nothing(Node&) { co_return; }
    };
    return Sub::nothing(self);
  };
  CHECK(thrown_by(cannot_be_made) == "before step 0, node (1,2): no");
}

TEST_CASE("a node that asks for what there is not is told so, in every build", "[unit]") {
  const auto asking = [](auto ask) {
    return [ask](Node& self) -> Program {
      const Arrivals arrivals = co_await self.step();
      if (self.rank() == 7) ask(self, arrivals);
    };
  };
  const std::string where = "step 1, node (1,2): ";
  CHECK(thrown_by(asking([](Node&, const Arrivals& a) { static_cast<void>(a.front().bytes()); })) ==
        where + "arrival 0 of 0: nothing has arrived; ask empty() first");
  CHECK(thrown_by(asking([](Node&, const Arrivals& a) { static_cast<void>(a[3].bytes()); })) ==
        where + "arrival 3 of 0: nothing has arrived; ask empty() first");
  const std::string dimensions = "the dimensions of 4x5 are 0 to 1";
  CHECK(thrown_by(asking([](Node& n, const Arrivals&) { static_cast<void>(n.coordinate(2)); })) == where + "dimension 2: " + dimensions);
  CHECK(thrown_by(asking([](Node& n, const Arrivals&) { static_cast<void>(n.extent(-1)); })) == where + "dimension -1: " + dimensions);
  CHECK(thrown_by(asking([](Node& n, const Arrivals&) {
          static_cast<void>(n.neighbour({9, 1}));
        })) == where + "dimension 9: " + dimensions);
  CHECK(thrown_by(asking([](Node& n, const Arrivals&) { n.send(NodeId{20}, n.blocks()); })).find(where) == 0);
}
