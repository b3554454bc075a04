// A rehearsal sends what a run sends.
#include <algorithm>
#include <string>
#include <vector>

#include <torus/catalogue.hpp>
#include <torus/error.hpp>
#include <torus/rehearsal.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/collect.hpp"
#include "tests/support/run.hpp"

using namespace torus;

namespace {

/// "3: 7 [[0,2]] -> 12, 0 bytes, blocks 0 1" of what a rehearsal has sent: as text_of(), but for the header.
std::vector<std::string> lines_of(const Rehearsal& rehearsal) {
  std::vector<std::string> out;
  for (const Rehearsal::Sent& sent : rehearsal.sent()) {
    std::string line = std::to_string(sent.step) + ": " + std::to_string(sent.from) + " [";
    for (const Leg& leg : rehearsal.route(sent)) line += "[" + std::to_string(leg.dimension) + "," + std::to_string(leg.hops) + "]";
    line += "] -> " + std::to_string(sent.to) + ", blocks";
    for (const BlockId id : rehearsal.blocks(sent)) line += " " + std::to_string(id);
    out.push_back(line);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> lines_of(const support::Outcome& run) {
  std::vector<std::string> out;
  for (const std::string& line : run.trace) {
    const std::size_t size = line.find(", "), blocks = line.find(", blocks"), header = line.find(", header");
    out.push_back(line.substr(0, size) + line.substr(blocks, header - blocks));
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

TEST_CASE("a rehearsal sends what a run sends, for every broadcast and every multi-node broadcast", "[unit]") {
  unsigned compared = 0;
  for (const Algorithm* algorithm : catalogue()) {
    const bool several = algorithm->collective == Collective::multinode_broadcast;
    if (!several && algorithm->collective != Collective::broadcast) continue;
    for (const char* shape : {"1", "2", "7", "4x4", "3x5", "mesh:3x4", "3cx3", "3x3x3", "2^4"}) {
      const Topology topology = Topology::parse(shape);
      const int ports = algorithm->native.ports;
      if (ports > topology.max_ports()) continue;
      const Machine machine(topology, ports, algorithm->native.switching, algorithm->native.contention);
      Request request;
      request.collective = algorithm->collective;
      request.sources = several ? support::all_nodes(topology.nodes()) : std::vector<NodeId>{topology.nodes() / 2};
      request.bytes = 40;
      if (refuses(*algorithm, machine, request)) continue;
      CAPTURE(std::string(algorithm->name), std::string(shape));
      const Plan plan = algorithm->plan(machine, request);
      const Placement placement = placement_of(machine, request, plan);
      const std::vector<std::string> run = lines_of(support::emulate(machine, placement, plan.start));
      REQUIRE(lines_of(Rehearsal(machine, placement, plan.start)) == run);
      ++compared;
    }
  }
  CHECK(compared > 100);
}

TEST_CASE("a rehearsal passes on what a program throws, and says if a message is missing", "[unit]") {
  const Machine machine(Topology::parse("4"), 0, Switching::packet);
  const Placement placement = Placement::replicated(machine.topology, {0}, 8);
  const auto rehearse = [&](Program (*program)(Node&)) { return Rehearsal(machine, placement, program).sent().size(); };
  CHECK_THROWS_AS(rehearse([](Node& self) -> Program {
                    co_await self.step();
                    throw InputError("wrong");
                  }),
                  InputError);
  CHECK_THROWS_AS(rehearse([](Node& self) -> Program { co_await self.arrival(); }), RunError);
  CHECK_THROWS_AS(rehearse([](Node& self) -> Program {
                    self.send(combine, {{0, 1}}, {{0}});
                    co_return;
                  }),
                  RunError);
  CHECK(rehearse([](Node& self) -> Program {
          if (self.rank() != 0) co_await self.arrival();
          if (self.rank() != 3) self.forward({{0, 1}}, {{0}});
        }) == 3);
}

TEST_CASE("a dead node rehearses nothing", "[unit]") {
  const Machine machine(Topology("4").with_faults({.dead_nodes = {2}}));
  Request request;
  request.sources = {0};
  request.bytes = 8;
  const Algorithm& flood = *find_algorithm(Collective::broadcast, "flood");
  const Plan plan = flood.plan(machine, request);
  const auto start = [](Node& self) -> Program {
    if (self.rank() == 2) self.send({{0, 1}}, {});
    co_return;
  };
  CHECK(Rehearsal(machine, placement_of(machine, request, plan), start).sent().empty());
}
