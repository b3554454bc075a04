// The whole catalogue on the smallest machines: one node without any channel, dimensions of extent 1, rings of two, lines.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <torus/catalogue.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

/// From one node, from some, from all: what a collective may be asked for.
std::vector<std::vector<NodeId>> source_sets(Collective collective, NodeId nodes) {
  std::vector<NodeId> all(nodes);
  std::iota(all.begin(), all.end(), 0);
  if (facts_of(collective).rooted()) return {{0}, {nodes - 1}};
  if (collective == Collective::multinode_broadcast) return {{}, {nodes / 2}, all};
  return {{}};
}

/// The machine that an algorithm was made for, as far as the shape has ports, and the one that forbids the least.
std::vector<Machine> native_and_free(const Algorithm& algorithm, const Topology& topology) {
  const NativeMachine& native = algorithm.native;
  const Machine free(topology, 0, Switching::circuit, Contention::share);
  return {Machine(topology, std::min(native.ports, free.ports), native.switching, native.contention), free};
}

/// How many runs of an algorithm were not refused; each of them did what it should.
unsigned runs_on(const Algorithm& algorithm, const Topology& topology) {
  unsigned runs = 0;
  for (const Machine& machine : native_and_free(algorithm, topology)) {
    for (const std::vector<NodeId>& sources : source_sets(algorithm.collective, topology.nodes())) {
      for (const Bytes bytes : {0U, 1U, 96U}) {
        Request request;
        request.collective = algorithm.collective;
        request.sources = sources;
        request.bytes = bytes;
        request.reduction.type = ElementType::u8;
        if (refuses(algorithm, machine, request)) continue;
        CAPTURE(std::string(algorithm.name), topology.text(), name(machine.switching), sources.size(), bytes);
        const support::Emulation run = support::emulate(algorithm, machine, request);
        CHECK(run.result.good());
        CHECK(run.result.verified);
        CHECK(run.plan.agrees(run.result.steps, run.plan.steps));
        CHECK(run.result.steps >= run.bounds.steps);
        ++runs;
      }
    }
  }
  return runs;
}

}  // namespace

TEST_CASE("every algorithm that does not refuse a machine of one node ends on it at once", "[conformance]") {
  for (const char* shape : {"1", "1x1", "1x1x1", "1m", "1c"}) {
    const Topology topology = Topology::parse(shape);
    CAPTURE(shape);
    unsigned runs = 0;
    for (const Algorithm* algorithm : catalogue()) runs += runs_on(*algorithm, topology);
    CHECK(runs > 0);
  }
  for (const Collective collective : {Collective::broadcast, Collective::multinode_broadcast, Collective::total_exchange}) {
    unsigned runs = 0;
    for (const Algorithm* algorithm : catalogue()) {
      if (algorithm->collective == collective) runs += runs_on(*algorithm, Topology::parse("1"));
    }
    CHECK(runs > 0);  // each collective has something to run there
  }
}

TEST_CASE("the shape that a refusal of others suggests is accepted", "[conformance]") {
  struct Case {
    const char* algorithm;
    const char* shape;
    std::vector<Dimension> routing;
    const char* suggested;
  };
  for (const Case& c : {Case{"mst", "6x11m", {}, "4x8m"}, Case{"mst-naive", "6x11m", {}, "4x8m"}, Case{"mst", "3mx5x1", {}, "2mx4x1"},
                        Case{"tsai-mckinley", "6x3x8", {0, 2, 1}, "4x3x4"}, Case{"tsai-mckinley", "6x5x8", {1, 2, 0}, "6x4x4"},
                        Case{"tsai-mckinley", "6x3x8", {}, "4x4x8"}, Case{"tsai-mckinley", "5x7", {}, "4x4"}}) {
    const Algorithm& algorithm = *find_algorithm(Collective::broadcast, c.algorithm);
    const Request request = support::broadcast_request(0, 8);
    const auto machine = [&](const char* shape) {
      return Machine(Topology::parse(shape), algorithm.native.ports, algorithm.native.switching, algorithm.native.contention, c.routing);
    };
    const std::string why = why_not(algorithm, machine(c.shape), request);
    CAPTURE(c.algorithm, c.shape, why);
    CHECK(why.find(std::string(" ") + c.suggested) != std::string::npos);
    CHECK_FALSE(refuses(algorithm, machine(c.suggested), request).has_value());
  }
}

TEST_CASE("every algorithm that does not refuse them runs on dimensions of one node and on pairs", "[conformance]") {
  support::Share share(1);
  for (const char* shape : {"2", "2m", "1x5", "5x1", "2x1m", "1x2m", "2x2", "2mx2m", "1x3x1", "2c", "1cx4"}) {
    if (!share.takes_turn()) continue;
    const Topology topology = Topology::parse(shape);
    CAPTURE(shape);
    unsigned runs = 0;
    for (const Algorithm* algorithm : catalogue()) runs += runs_on(*algorithm, topology);
    CHECK(runs > 0);
  }
}
