// One run on several processes is the run of one: the report's figures, the digest, every message. Processes are threads here.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <torus/catalogue.hpp>
#include <torus/error.hpp>
#include <torus/run.hpp>

#include "runtime/engine/processes/thread_processes.hpp"
#include "tests/support/alike.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/wrong_programs.hpp"

using namespace torus;
using support::check_alike;
using support::request_on;

TEST_CASE("every algorithm gives one result and one trace on any number of processes", "[conformance]") {
  unsigned turn = static_cast<unsigned>(support::seed() % 20);  // settings take turns: all of them on all numbers of processes take minutes
  support::Share share(8, 3);
  for (const Algorithm* algorithm : catalogue()) {
    if (!share.takes_turn()) continue;
    int shapes = 0;
    for (auto shape : {"8x8", "5x7", "4x4x4", "8mx3", "4cx4c", "hypercube:5", "4x8t", "16", "16m", "25x25", "27", "1x9", "2x2", "2m"}) {
      const Topology topology = Topology::parse(shape);
      const NativeMachine& native = algorithm->native;
      const std::vector<Machine> machines{
          Machine(topology, std::min(native.ports, topology.max_ports()), native.switching, native.contention),
          Machine(topology, 0, Switching::circuit, Contention::share), Machine(topology, 0, Switching::packet, Contention::share)};
      bool ran = false;
      for (const Machine& machine : machines) {
        const Bytes bytes = turn % 3 == 0 ? 1000 : 96;
        const Request request = support::suited(*algorithm, machine, request_on(machine, algorithm->collective, bytes));
        if ((ran && turn % 2 == 0) || refuses(*algorithm, machine, request)) continue;
        CAPTURE(algorithm->name, shape, name(machine.switching), name(machine.contention), bytes);
        const Plan plan = algorithm->plan(machine, request);
        const unsigned count = std::min(std::array{2U, 3U, 4U, 7U}[turn++ % 4], topology.nodes());
        check_alike(machine, placement_of(machine, request, plan), plan.start, {}, {count}, turn % 5 == 0 ? 2 : 1);
        ran = true;
      }
      if (ran && ++shapes == 2) break;
    }
    CAPTURE(algorithm->name);
    CHECK(shapes > 0);
  }
}

TEST_CASE("every algorithm that each process plans by itself runs as on one process", "[conformance]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  support::Share share(4, 3);
  for (const Algorithm* algorithm : catalogue()) {
    if (!share.takes_turn()) continue;
    for (unsigned shapes = 0, tries = 0; shapes < 2 && tries < 40; ++tries) {
      const Topology topology = tries == 0 ? Topology("10x10") : tries == 1 ? Topology("12x12") : support::random_topology(random, 120);
      const NativeMachine& native = algorithm->native;
      const Machine machine(topology, std::min(native.ports, topology.max_ports()), native.switching, native.contention);
      Request request = request_on(machine, algorithm->collective, algorithm->collective == Collective::barrier ? 0 : 768);
      if (algorithm->collective == Collective::multinode_broadcast) {
        for (NodeId node = 0; request.sources.size() < topology.nodes(); ++node) {
          if (node % 3 != 0) request.sources.push_back(node);
        }
        std::sort(request.sources.begin(), request.sources.end());
      }
      if (topology.nodes() < 2 || refuses(*algorithm, machine, request)) continue;
      ++shapes;
      const unsigned count = std::min<unsigned>(2 + tries % 3, topology.nodes());
      CAPTURE(algorithm->name, topology.text(), count);
      const Run alone = run(*algorithm, machine, request, {.executor = ExecutorKind::serial});
      REQUIRE(support::complaint(alone) == "");
      std::vector<std::string> wrong(count);
      detail::run_as_processes(count, [&](Processes& processes) {
        std::string& text = wrong[processes.self()];
        try {
          const Run one = run(*algorithm, machine, request, {.executor = ExecutorKind::serial, .processes = &processes});
          text = support::complaint(one);
          if (text.empty() && support::text_of(machine, one.result) != support::text_of(machine, alone.result)) text = "another result";
        } catch (const std::exception& error) {
          text = error.what();
        }
      });
      CHECK(wrong == std::vector<std::string>(count));
    }
  }
}

TEST_CASE("random traffic, lawful or not, gives one result on any number of processes", "[conformance]") {
  // Nodes send blocks that they hold, or do not, by random routes, and now and then throw.
  struct Setting {
    const char* shape;
    Switching switching;
    Contention contention;
    unsigned wild;  // one message of so many breaks a rule
  };
  const std::uint64_t seed = support::seed();
  CAPTURE(seed);
  for (const Setting& setting :
       {Setting{"9x6", Switching::packet, Contention::forbid, 400}, Setting{"9x6", Switching::packet, Contention::share, 400},
        Setting{"12x4m", Switching::wormhole, Contention::forbid, 200}, Setting{"5x3x4c", Switching::circuit, Contention::forbid, 100},
        Setting{"7x8", Switching::circuit, Contention::share, 300}, Setting{"2x2x3x5", Switching::circuit, Contention::share, 300}}) {
    const Machine machine(Topology::parse(setting.shape), 0, setting.switching, setting.contention);
    const Topology& topology = machine.topology;
    for (std::uint64_t round = 0; round < 6; ++round) {
      CAPTURE(setting.shape, name(setting.switching), name(setting.contention), round);
      const auto program = [&, seed = seed + 7919 * round](Node& self) -> Program {
        for (int step = 0; step < 5; ++step) {
          std::mt19937_64 random(seed + 1000 * self.rank() + self.now());
          if (random() % 9 == 0) self.phase(random() % 2 == 0 ? "one" : "two");
          if (random() % (setting.wild * 40) == 0) throw RunError("a bad day");
          const bool lawful = random() % setting.wild != 0;
          const std::span<const BlockId> held = self.blocks();
          std::vector<BlockId> blocks(held.begin(), held.begin() + static_cast<std::ptrdiff_t>(random() % (held.size() + 1)));
          if (!lawful && random() % 2 == 0) blocks.push_back(static_cast<BlockId>(random() % 100));
          const Word words[2] = {static_cast<Word>(random()), static_cast<Word>(random())};
          const auto d = static_cast<Dimension>(support::random_below(random, static_cast<std::uint32_t>(topology.dimensions())));
          const bool complete = topology.wiring(d) == Wiring::complete;
          Route route{{d, complete || random() % 2 == 0 ? 1 : -1}};
          if (!lawful && random() % 2 == 0) route.push_back({static_cast<Dimension>(random() % 3), 2});
          // Far routes leave from few nodes: else they meet on a channel in every step where that is forbidden.
          if (machine.switching != Switching::packet && random() % (setting.contention == Contention::share ? 2 : 30) == 0)
            route = shortest_route(topology, self.rank(), support::random_below(random, topology.nodes()), machine.routing);
          const bool moves = !route.empty() && (!lawful || topology.neighbour(self.rank(), d, route[0].hops));
          if (moves && random() % 3 != 0) {
            if (random() % 2 == 0)
              self.forward(route, blocks, std::span(words, random() % 3));
            else
              self.send(route, blocks, std::span(words, random() % 3));
          }
          if (random() % 4 == 0 && lawful)
            co_await self.arrival();
          else
            co_await self.step();
        }
      };
      check_alike(machine, Placement::resident(topology, 3, 40), program, {}, {2, 3, 7});
    }
  }
}

TEST_CASE("every broken rule is named alike on any number of processes", "[conformance]") {
  for (const support::Wrong& wrong : support::all_wrong()) {
    CAPTURE(wrong.what);
    const auto program = [&](Node& self) { return support::break_rule(self, wrong); };
    check_alike(wrong.machine, Placement::resident(wrong.machine.topology, 1, 64), program, {}, {2, 4}, 1);
  }
}

TEST_CASE("two messages on one channel are found on any channel, also over a border", "[conformance]") {
  for (const Switching switching : {Switching::packet, Switching::wormhole}) {
    const Machine machine(Topology::parse("6x4"), 0, switching);
    for (NodeId node = 0; node < machine.topology.nodes(); ++node) {
      for (const bool released : {false, true}) {
        const auto program = [=](Node& self) -> Program {
          const std::vector<BlockId> blocks(self.blocks().begin(), self.blocks().end());
          for (std::size_t i = 0; self.rank() == node && i < 2; ++i) {
            if (released)
              self.forward({{0, +1}}, std::span(blocks).subspan(i, 1));
            else
              self.send({{0, +1}}, std::span(blocks).subspan(i, 1));
          }
          co_await self.step();
        };
        CAPTURE(name(switching), node, released);
        check_alike(machine, Placement::resident(machine.topology, 2, 8), program, {}, {2 + node % 3}, 1);
      }
    }
  }
}

TEST_CASE("very many violations are counted and the first told alike on any number of processes", "[conformance]") {
  const Machine machine(Topology::parse("40x40"));
  const auto program = [](Node& self) -> Program {
    self.send({{1, 1 + static_cast<std::int32_t>(self.rank() % 7)}}, self.blocks());
    if (self.rank() % 11 == 0) self.send({{0, -3}, {1, 1}}, self.blocks());
    co_await self.step();
  };
  check_alike(machine, Placement::resident(machine.topology, 1, 8), program, {}, {3});
}

TEST_CASE("hangs, exceptions and wrong bytes are told alike on any number of processes", "[conformance]") {
  const Machine machine(Topology::parse("6x4"), 0, Switching::packet);
  const Placement resident = Placement::resident(machine.topology, 2, 24);
  const auto line = [](Node& self) -> Program {
    if (self.rank() > 0) co_await self.arrival();
    if (self.rank() < 17) self.send(self.rank() + 1, self.blocks().first(1));
    if (self.rank() % 5 == 2) co_await self.arrival();
  };
  const Machine far(Topology::parse("6x4"));
  SECTION("everybody waits") {
    check_alike(machine, resident, [](Node& self) -> Program { co_await self.arrival(); });
  }
  SECTION("some wait") { check_alike(far, Placement::replicated(far.topology, {0}, 64), line); }
  SECTION("nodes pass barriers") {
    check_alike(machine, resident, [](Node& self) -> Program {
      while (true) co_await self.step();
    });
  }
  SECTION("two nodes throw") {
    check_alike(machine, resident, [](Node& self) -> Program {
      co_await self.step();
      if (self.rank() == 20) throw InputError("the higher one");
      if (self.rank() == 13) throw RunError("the lower one");
      co_await self.step();
    });
  }
  SECTION("a node throws before the first step") {
    check_alike(machine, resident, [](Node& self) -> Program {
      if (self.rank() == 19) throw InputError("no program");
      return [](Node& node) -> Program { co_await node.step(); }(self);
    });
  }
  SECTION("a byte is damaged in two slabs") {
    check_alike(machine, resident, [](Node& self) -> Program {
      if (self.rank() == 9 || self.rank() == 21) self.bytes(self.blocks()[1])[7] ^= std::byte{4};
      co_await self.step();
    });
  }
  SECTION("a block is lost over the border, another kept") {
    check_alike(machine, resident, [](Node& self) -> Program {
      if (self.rank() == 11) self.forward({{0, 1}}, self.blocks().first(1));
      if (self.rank() == 14) self.send({{0, 1}}, self.blocks());
      co_await self.step();
    });
  }
  SECTION("a node gets a second copy from another slab, and forwards the block") {
    // Only the slab of nodes 0 to 11 makes copies. Node 15 must not take what has arrived for the only one there is.
    check_alike(machine, resident, [](Node& self) -> Program {
      const BlockId block[1] = {22};  // the first of node 11
      for (int i = 0; i < 2; ++i) {
        if (self.rank() == 11) self.send({{0, +1}}, block);
        co_await self.step();
      }
      if (self.rank() == 15) self.forward({{0, +1}}, block);
      co_await self.step();
    });
  }
  SECTION("a contributor is lacking in the second slab, and a byte is wrong in the first") {
    const Machine pair(Topology::parse("2"));
    const Placement prefixes =
        Placement::contributed(pair.topology, {.wanted = Contributions::Wanted::of_prefix, .bytes = 64});  // node 0 has all that it wants
    check_alike(pair, prefixes,
                [](Node& self) -> Program {
                  if (self.rank() == 0) self.bytes(0)[3] ^= std::byte{1};
                  co_await self.step();
                },
                {}, {2});
  }
  SECTION("a message goes once round a ring, through every slab, and another takes a channel of it") {
    for (const std::int32_t hops : {6, -6}) {
      for (const NodeId other : {1U, 5U, 13U, 21U}) {
        check_alike(far, Placement::resident(far.topology, 2, 24), [=](Node& self) -> Program {
          if (self.rank() == 1) self.send({{0, hops}, {1, 1}}, self.blocks().first(1));
          if (self.rank() == other) self.send({{0, hops / 6}}, self.blocks().last(1));
          co_await self.step();
        });
      }
    }
  }
  SECTION("a partial has a contributor twice, and a byte is wrong before it") {
    const Placement sums = Placement::contributed(machine.topology, {.bytes = 64, .segments = 2, .registers = 2});
    for (const bool twice : {false, true}) {
      check_alike(machine, sums, [twice](Node& self) -> Program {
        if (self.rank() == 3) self.bytes(0)[3] ^= std::byte{1};
        const BlockId first[1] = {0};
        if (twice && self.rank() == 10) self.send(combine, {{0, 1}}, first);
        if (twice && self.rank() == 7) self.send(combine_into({0, 1}), {{0, -1}}, first);
        co_await self.step();
      });
    }
  }
}

TEST_CASE("dead and slow links, and dimensions of several speeds, are charged alike on any number of processes", "[conformance]") {
  const Topology shape("8x6");
  Faults faults{.dead_nodes = {13}, .dead_links = {{6, 0, 1}, {20, 1, -1}}, .slow_links = {{{24, 0, 1}, 3.5}, {{2, 1, 1}, 2}}};
  for (const Switching switching : {Switching::packet, Switching::wormhole}) {
    for (const Contention contention : {Contention::forbid, Contention::share}) {
      const Machine machine(shape.with_faults(faults), 0, switching, contention, {}, {.dimension_byte_s = {1e-9, 3e-9}});
      CAPTURE(name(switching), name(contention));
      for (const bool over_dead : {false, true}) {
        const auto program = [over_dead](Node& self) -> Program {
          if (self.rank() == 0 && over_dead) co_await self.step();
          if (over_dead && self.now() == 1) self.send({{0, 1}, {0, 1}}, self.blocks());
          self.topology().each_link(self.rank(), [&](Dimension d, std::int32_t hop, NodeId) {
            if (self.rank() % 3 == 0) self.send({{d, hop}}, self.blocks(), {self.rank()});
          });
          co_await self.step();
          if (over_dead && self.rank() == 6) self.send({{0, 1}}, self.blocks());
          co_await self.step();
        };
        check_alike(machine, Placement::replicated(machine.topology, {0, 9}, 40), program);
      }
    }
  }
}

TEST_CASE("a process that is told to stop ends the run of all", "[conformance]") {
  const Machine machine(Topology::parse("8x8"));
  std::atomic<bool> stop = true;
  std::atomic<int> interrupted = 0;
  detail::run_as_processes(3, [&](Processes& processes) {
    RunOptions options{.executor = ExecutorKind::serial, .processes = &processes};
    if (processes.self() == 1) options.stop = &stop;
    const RunResult result = Engine(machine, Placement::resident(machine.topology, 1, 8), options).run([](Node& self) -> Program {
      while (true) co_await self.step();
    });
    if (result.interrupted && result.steps == 1) ++interrupted;
  });
  CHECK(interrupted == 3);
}

TEST_CASE("four processes do what one with the same limit refuses", "[conformance]") {
  const Machine machine(Topology::parse("32x32"));
  const Placement placement = Placement::replicated(machine.topology, {5}, 64 << 10U);
  RunOptions options{.executor = ExecutorKind::serial, .memory_limit = Bytes{40} << 20U};
  CHECK_THROWS_AS(Engine(machine, placement, options), InputError);
  std::atomic<int> verified = 0;
  detail::run_as_processes(4, [&](Processes& processes) {
    RunOptions own = options;
    own.processes = &processes;
    const RunResult result =
        Engine(machine, placement, own).run([](Node& self) -> Program {  // along the column of the source, then the rows
          const auto n = self.extent(0);
          const auto [row, column] = std::pair(self.coordinate(0), self.coordinate(1));
          if (self.rank() != 5) co_await self.arrival();
          if (column == 5 && row + 1 < n) self.send({{0, +1}}, self.blocks());
          if (column != 4) self.send({{1, +1}}, self.blocks());
        });
    if (result.verified) ++verified;
  });
  CHECK(verified == 4);
}

TEST_CASE("an engine runs again on several processes, also after a run that broke a rule", "[conformance]") {
  const Machine machine(Topology::parse("6x6"));
  std::vector<std::uint64_t> digests(3);
  detail::run_as_processes(3, [&](Processes& processes) {
    Engine engine(machine, Placement::resident(machine.topology, 2, 8), {.executor = ExecutorKind::serial, .processes = &processes});
    const auto wrong = [](Node& self) -> Program {
      self.send({{0, self.rank() == 20 ? 3 : 1}}, self.blocks());
      co_await self.step();
    };
    const auto round_trip = [](Node& self) -> Program {
      self.forward({{0, +1}}, self.blocks());
      for (const Message& m : co_await self.arrival()) self.forward({{0, -1}}, m.blocks());
      co_await self.arrival();
    };
    const RunResult first = engine.run(round_trip);
    const RunResult broken = engine.run(wrong);
    const RunResult again = engine.run(round_trip);
    if (first.verified && again.verified && broken.violations_found > 0 && first.trace_digest == again.trace_digest)
      digests[processes.self()] = again.trace_digest;
  });
  CHECK(digests[0] != 0);
  CHECK(digests == std::vector<std::uint64_t>(3, digests[0]));
}
