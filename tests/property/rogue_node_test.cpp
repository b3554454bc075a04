/// A node of which each message is one that the others do not expect: they may refuse it, or wait for ever, but read, wait or allocate
/// nothing by its word alone.
#include <array>
#include <atomic>
#include <exception>
#include <random>
#include <string>
#include <vector>

#include <torus/catalogue.hpp>
#include <torus/engine.hpp>
#include <torus/error.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/collect.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;
using support::random_below;

namespace {

Leg any_leg(const Node& self, std::mt19937_64& random) {
  std::vector<Leg> legs;
  self.topology().each_link(self.rank(), [&](Dimension d, std::int32_t direction, NodeId) { legs.push_back({d, direction}); });
  Leg leg = legs[random_below(random, legs.size())];
  const bool far = self.machine().switching != Switching::packet && self.topology().wiring(leg.dimension) == Wiring::ring;
  if (far) leg.hops *= static_cast<std::int32_t>(1 + random_below(random, static_cast<std::uint64_t>(self.extent(leg.dimension)) - 1));
  return leg;
}

/// One message over one leg: any control words, and any of the blocks that the node holds.
void send_anything(Node& self, std::mt19937_64& random) {
  constexpr std::array<Word, 8> words{0, 1, 2, 3, 7, 0x7fffffff, 0x80000000, 0xffffffff};
  std::vector<Word> header(random_below(random, 4));
  for (Word& word : header) word = words[random_below(random, words.size())];
  std::vector<BlockId> blocks(self.blocks().begin(), self.blocks().end());
  blocks.resize(random_below(random, std::min<std::size_t>(blocks.size(), 5) + 1));
  self.send({any_leg(self, random)}, blocks, header);
}

Program rogue(Node& self, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::uint32_t quiet = random_below(random, 8); quiet > 0; --quiet) co_await self.step();
  for (std::uint32_t messages = 1 + random_below(random, 6); messages > 0; --messages) {
    send_anything(self, random);
    co_await self.step();
  }
}

Request any_request(const Algorithm& algorithm, const Machine& machine, std::mt19937_64& random) {
  Request request;
  request.collective = algorithm.collective;
  request.bytes = 64;
  const NodeId nodes = machine.topology.nodes();
  request.sources = facts_of(algorithm.collective).rooted() ? std::vector<NodeId>{random_below(random, nodes)} : support::all_nodes(nodes);
  for (const Parameter& parameter : algorithm.parameters) {
    const std::vector<std::uint32_t> values = parameter.values != nullptr ? parameter.values(machine) : std::vector<std::uint32_t>{1, 2, 3};
    if (random_below(random, 2) == 0) continue;
    if (!parameter.words.empty())
      request.parameters.set(parameter.name, parameter.words[random_below(random, parameter.words.size())]);
    else if (!values.empty())
      request.parameters.set(parameter.name, std::uint64_t{values[random_below(random, values.size())]});
  }
  return request;
}

/// Runs the programs with a rogue among them. Whether one of them refused a message.
bool refused(const Machine& machine, const Placement& placement, const Plan& plan, std::mt19937_64& random) {
  constexpr Step too_many = 20'000;
  const NodeId who = random_below(random, machine.topology.nodes());
  const std::uint64_t seed = random();
  std::atomic<bool> stop = false;
  RunOptions options;
  options.executor = ExecutorKind::serial;
  options.verify = false;
  options.memory_limit = Bytes{1} << 28U;
  options.stop = &stop;
  options.on_step = [&](Step step) { stop = step >= too_many; };
  bool refusal = false;
  try {
    Engine engine(machine, placement, options);
    engine.run([&](Node& self) { return self.rank() == who ? rogue(self, seed) : plan.start(self); });
  } catch (const RunError& error) {  // what else a program throws comes nested in one
    refusal = true;
    CAPTURE(error.what());
    CHECK(std::string(error.what()).starts_with("step "));
    try {
      std::rethrow_if_nested(error);
    } catch (const RunError&) {
    } catch (const std::exception& other) {
      CAPTURE(other.what());
      CHECK(false);
    }
  }
  CHECK_FALSE(stop);
  return refusal;
}

}  // namespace

TEST_CASE("no program believes what an unexpected message says", "[property]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  unsigned runs = 0, refusals = 0;
  for (const Algorithm* algorithm : catalogue()) {
    for (const char* shape : {"4", "7", "4x4", "3x5", "5x5", "4x8", "mesh:3x4", "3cx4", "2x3x3", "2^4"}) {
      const Topology topology = Topology::parse(shape);
      const int ports = algorithm->native.ports;
      if (ports > topology.max_ports()) continue;
      const Machine machine(topology, ports, algorithm->native.switching, algorithm->native.contention);
      const Request request = any_request(*algorithm, machine, random);
      if (refuses(*algorithm, machine, request)) continue;
      CAPTURE(std::string(name(algorithm->collective)), std::string(algorithm->name), std::string(shape));
      const Plan plan = algorithm->plan(machine, request);
      const Placement placement = placement_of(machine, request, plan);
      for (int round = 0; round < 4; ++round, ++runs) refusals += refused(machine, placement, plan, random) ? 1U : 0U;
    }
  }
  CHECK(runs > 1000);
  CHECK(refusals > 20);
}
