// One program gives one trace and one result, whatever the executor, the number of threads or the order of the nodes. The machines are
// large enough for the engine to spread the steps over its workers (it runs small steps on one).
#include <random>
#include <string>
#include <vector>

#include <torus/catalogue.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/cell.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/run.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

/// Of 1000 bytes, from the node a third of the way through the ranks; a multinode broadcast from a random tenth of them.
Request request_on(const Machine& machine, Collective collective) {
  Request request;
  request.collective = collective;
  request.bytes = 1000;
  request.sources = {machine.topology.nodes() / 3};
  if (collective != Collective::multinode_broadcast) return request;
  std::mt19937_64 random(support::seed());
  request.sources.clear();
  for (NodeId node = 0; node < machine.topology.nodes(); ++node) {
    if (support::random_below(random, 10) == 0) request.sources.push_back(node);
  }
  return request;
}

void check_all_alike(const Machine& machine, const Placement& placement, const std::function<Program(Node&)>& program) {
  const support::Outcome serial = support::emulate(machine, placement, program);
  for (const support::Workers& workers : support::every_executor()) {
    CAPTURE(workers.text());
    const support::Outcome other = support::emulate(machine, placement, program, workers);
    CHECK(support::text_of(machine, other.result) == support::text_of(machine, serial.result));
    CHECK(other.trace == serial.trace);
  }
}

}  // namespace

TEST_CASE("every algorithm leaves one trace, whatever runs it", "[conformance]") {
  std::mt19937_64 random(support::seed());
  support::Share share(8, 4);
  for (const Algorithm* algorithm : catalogue()) {
    if (!share.takes_turn()) continue;
    // As many blocks as pairs of nodes, or more.
    const bool exchange = algorithm->collective == Collective::total_exchange || algorithm->collective == Collective::allreduce ||
                          algorithm->collective == Collective::reduce_scatter;
    int shapes = 0;
    for (const char* shape :
         {"8x8", "64m", "8cx8c", "5x5", "3x3x3", "16x16", "25x25", "9x9x9", "mesh:20x20", "16x12m", "hypercube:9", "100"}) {
      const Topology topology = Topology::parse(shape);
      if (exchange != (topology.nodes() <= 64)) continue;
      const NativeMachine& native = algorithm->native;
      const Machine machine(topology, std::min(native.ports, topology.max_ports()), native.switching, native.contention);
      Request request = support::suited(*algorithm, machine, request_on(machine, algorithm->collective));
      if (refuses(*algorithm, machine, request)) continue;
      Request drawn = request;
      std::string options;
      support::drawing::draw_parameters(random, *algorithm, machine, drawn, options);
      if (!refuses(*algorithm, machine, drawn)) request = drawn;
      CAPTURE(algorithm->name, shape, options);
      const Plan plan = algorithm->plan(machine, request);
      check_all_alike(machine, placement_of(machine, request, plan), plan.start);
      if (++shapes == (exchange ? 1 : 2)) break;
    }
    CAPTURE(algorithm->name);
    CHECK(shapes > 0);
  }
}

TEST_CASE("random traffic leaves one trace, whatever runs it", "[conformance]") {
  // Each node draws its own messages from its rank and the step: to any node, none or more blocks, some header words. Shared channels.
  const Machine machine(Topology::parse("20x20"), 0, Switching::circuit, Contention::share);
  const std::uint64_t seed = support::seed();
  CAPTURE(seed);
  const auto program = [seed](Node& self) -> Program {
    for (int step = 0; step < 6; ++step) {
      std::mt19937_64 random(seed + 1000 * self.rank() + self.now());
      if (random() % 3 == 0) {
        const Word words[2] = {static_cast<Word>(random()), static_cast<Word>(random())};
        const NodeId to = support::random_below(random, self.topology().nodes());
        const std::span<const BlockId> blocks = self.blocks();
        if (to != self.rank()) self.send(to, blocks.first(random() % (blocks.size() + 1)), std::span(words, random() % 3));
      }
      co_await self.step();
    }
  };
  check_all_alike(machine, Placement::resident(machine.topology, 3, 48), program);
}

TEST_CASE("a wrong program breaks the same rules first, whatever runs it", "[conformance]") {
  // Every node of the square sends along its row as far as its rank says: many messages meet on many channels.
  const Machine machine(Topology::parse("20x20"));
  const auto program = [](Node& self) -> Program {
    co_await self.step();
    self.send({{1, 1 + static_cast<std::int32_t>(self.rank() % 7)}}, self.blocks());
    if (self.rank() % 11 == 0) self.send({{0, -3}, {1, 1}}, self.blocks());
    co_await self.step();
  };
  const support::Outcome serial = support::emulate(machine, Placement::resident(machine.topology, 1, 64), program);
  CHECK(serial.result.violations.size() > 100);
  for (const support::Workers& workers : support::every_executor()) {
    CAPTURE(workers.text());
    const support::Outcome other = support::emulate(machine, Placement::resident(machine.topology, 1, 64), program, workers);
    REQUIRE(other.result.violations.size() == serial.result.violations.size());
    for (std::size_t i = 0; i < serial.result.violations.size(); ++i) {
      REQUIRE(other.result.violations[i].text == serial.result.violations[i].text);
    }
  }
}
