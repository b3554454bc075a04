// An injected fault does the same to a run of several processes as to that of one.
#include <random>
#include <string>
#include <vector>

#include <torus/catalogue.hpp>
#include <torus/injection.hpp>

#include "tests/support/alike.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

/// Sends some blocks to some neighbours in each of ten steps, and waits in between, whatever arrives.
Program wander(Node& self, std::uint64_t seed) {
  for (int step = 0; step < 10; ++step) {
    std::mt19937_64 random(seed + 1000 * self.rank() + self.now());
    const std::span<const BlockId> held = self.blocks();
    const auto d = static_cast<Dimension>(random() % static_cast<unsigned>(self.dimensions()));
    const std::int32_t hop = self.topology().wiring(d) == Wiring::complete || random() % 2 == 0 ? 1 : -1;
    if (!held.empty() && random() % 3 != 0 && self.neighbour({d, hop})) {
      const std::vector<BlockId> some(held.begin(), held.begin() + static_cast<std::ptrdiff_t>(1 + random() % held.size()));
      if (random() % 2 == 0)
        self.forward({{d, hop}}, some);
      else
        self.send({{d, hop}}, some);
    }
    co_await self.step();
  }
}

Fault drawn(FaultKind kind, const Topology& topology, std::mt19937_64& random) {
  Fault fault;
  fault.kind = kind;
  fault.step = static_cast<Step>(random() % 6);
  fault.node = static_cast<NodeId>(random() % topology.nodes());
  fault.exact = random() % 3 == 0;
  if (random() % 4 == 0) fault.channel = static_cast<std::uint32_t>(random() % static_cast<unsigned>(topology.channel_slots()));
  fault.seed = random();
  return fault;
}

}  // namespace

TEST_CASE("a fault strikes blocks that wander alike on any number of processes", "[conformance]") {
  const std::uint64_t seed = support::seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  support::Share share(2);
  for (const FaultKind kind : all_fault_kinds) {
    if (!share.takes_turn()) continue;
    for (const Machine& machine :
         {Machine(Topology("6x5"), 0, Switching::packet), Machine(Topology("7x4m")), Machine(Topology("3x4cx2"), 0, Switching::circuit),
          Machine(Topology("9x3"), 0, Switching::packet, Contention::share)}) {
      for (int turn = 0; turn < 4; ++turn) {
        const Fault fault = drawn(kind, machine.topology, random);
        CAPTURE(name(kind), machine.topology.text(), fault.step, fault.node, fault.exact, fault.channel.has_value(), fault.seed);
        RunOptions options;
        options.fault = fault;
        const auto program = [from = seed + static_cast<std::uint64_t>(turn)](Node& self) { return wander(self, from); };
        support::check_alike(machine, Placement::resident(machine.topology, 2, turn == 0 ? 0 : 40), program, options, {2, 3, 5}, 1);
      }
    }
  }
}

TEST_CASE("a fault strikes collectives alike on any number of processes", "[conformance]") {
  const std::uint64_t seed = support::seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (const Algorithm* algorithm : catalogue()) {
    for (const std::string shape : {"5x5", "4x4", "6x3m"}) {
      for (const Switching switching : {Switching::wormhole, Switching::packet}) {
        const Machine machine(Topology(shape), 0, switching);
        const Request request = support::request_on(machine, algorithm->collective, 200);
        if (random() % 3 > 0 || refuses(*algorithm, machine, request)) continue;
        const Plan plan = algorithm->plan(machine, request);
        RunOptions options;
        options.fault = drawn(all_fault_kinds[random() % all_fault_kinds.size()], machine.topology, random);
        CAPTURE(algorithm->name, shape, name(switching), name(options.fault->kind), options.fault->step, options.fault->node,
                options.fault->exact, options.fault->seed);
        support::check_alike(machine, placement_of(machine, request, plan), plan.start, options, {static_cast<unsigned>(2 + random() % 3)},
                             1);
      }
    }
  }
}

TEST_CASE("a message that goes to a wrong neighbour changes its process, and two blocks change their bytes over a border",
          "[conformance]") {
  // The slabs of three processes are two rows each.
  const Machine machine(Topology("6x2"), 0, Switching::packet);
  for (const FaultKind kind : {FaultKind::wrong_neighbour, FaultKind::swap}) {
    for (NodeId node = 0; node < machine.topology.nodes(); ++node) {
      RunOptions options;
      options.fault = Fault{.kind = kind, .step = 0, .node = node};
      CAPTURE(name(kind), node);
      const auto program = [](Node& self) -> Program {
        self.send({{0, +1}}, self.blocks().first(1));
        for (const Message& m : co_await self.step()) {
          if (m.destination() == self.rank()) continue;
          unsigned sum = 0;
          for (const std::byte b : self.bytes(m.blocks().front())) sum += std::to_integer<unsigned>(b);
          throw RunError("what is not its own has bytes of sum " + std::to_string(sum));
        }
      };
      support::check_alike(machine, Placement::resident(machine.topology, 1, 64), program, options, {3}, 1);
    }
  }
}
