// Where a plan predicts the hops of the longest routes, a run takes as many; no run takes fewer than the bound.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <torus/catalogue.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/collect.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

std::uint64_t hops_of(const RunResult& result) {
  std::uint64_t hops = 0;
  for (const StepRecord& step : result.step_records) hops += step.longest_route;
  return hops;
}

std::vector<Topology> shapes() {
  std::vector<Topology> shapes = support::telling_shapes();
  for (const char* text :
       {"64", "8x4", "10x10", "12x12", "25x25", "7x7x7", "4x4x6", "6mx9", "3mx4m", "5mx7m", "27", "5x6x7", "2x2x5", "16m", "8mx4m"}) {
    shapes.push_back(Topology::parse(text));
  }
  return shapes;
}

/// The machine that an algorithm was made for and the one that forbids the least; hops cost something.
std::vector<Machine> machines(const Algorithm& algorithm, const Topology& topology) {
  const CostModel cost{1e-6, 1e-10, 1e-7};
  const NativeMachine& native = algorithm.native;
  const int ports = Machine(topology).ports;
  std::vector<Dimension> descending;
  for (Dimension d = topology.dimensions(); d-- > 0;) descending.push_back(d);
  return {Machine(topology, std::min(native.ports, ports), native.switching, native.contention, {}, cost),
          Machine(topology, std::min(native.ports, ports), native.switching, native.contention, descending, cost),
          Machine(topology, 0, Switching::circuit, Contention::share, {}, cost)};
}

std::vector<Request> requests(Collective collective, NodeId nodes) {
  Request request;
  request.collective = collective;
  request.bytes = 240;
  std::vector<Request> requests;
  if (collective == Collective::total_exchange) return {request};
  if (collective == Collective::multinode_broadcast) {
    request.expected_sources = nodes;
    request.sources = support::all_nodes(nodes);
    for (const std::uint32_t h : {0U, 1U, 2U, 3U, 4U, 5U, 6U}) {
      request.parameters.set("h", h);
      requests.push_back(request);
    }
    request.parameters.set("h", 0);
    request.sources = {nodes / 2};
    requests.push_back(request);
    return requests;
  }
  const bool rooted = collective == Collective::broadcast || facts_of(collective).rooted();
  for (const NodeId source : rooted ? std::set<NodeId>{0, nodes / 3, nodes - 1} : std::set<NodeId>{0}) {
    request.sources = {source};
    for (const std::uint32_t segments : {0U, 1U, 2U, 5U, 64U}) {
      request.parameters.set("segments", segments);
      requests.push_back(request);
    }
  }
  return requests;
}

}  // namespace

TEST_CASE("the hops of the longest routes are as predicted", "[conformance]") {
  support::Share share(8, 4);
  unsigned runs = 0;
  for (const Algorithm* algorithm : catalogue()) {
    for (const Topology& topology : shapes()) {
      const bool wide = algorithm->collective == Collective::allreduce || algorithm->collective == Collective::reduce_scatter;
      if (algorithm->collective != Collective::broadcast && topology.nodes() > (wide ? 40 : 130)) continue;
      if (!share.takes_turn()) continue;  // not every algorithm in turn, as one takes longer than most together
      for (const Machine& machine : machines(*algorithm, topology)) {
        for (const Request& any : requests(algorithm->collective, topology.nodes())) {
          const Request request = support::suited(*algorithm, machine, any);
          if (refuses(*algorithm, machine, request)) continue;
          const support::Emulation run = support::emulate(*algorithm, machine, request);
          const std::uint64_t hops = hops_of(run.result);
          CAPTURE(std::string(algorithm->name), topology.text(), machine.routing, name(machine.switching), request.sources,
                  request.parameters.whole("segments"), request.parameters.whole("h"));
          REQUIRE(run.result.good());
          CHECK(hops >= run.bounds.route_hops);
          CHECK(run.result.model_time_s >= Approx(run.bounds.model_time_s(machine.cost)));
          ++runs;
          if (!run.plan.route_hops || !run.plan.steps_exact) continue;  // as many hops as steps, which are not known
          if (request.collective == Collective::multinode_broadcast && request.sources.size() < topology.nodes()) {
            CHECK(hops <= *run.plan.route_hops);
          } else {
            CHECK(hops == *run.plan.route_hops);
          }
        }
      }
    }
  }
  CHECK(runs > 1000 / share.one_in());
}

TEST_CASE("a machine that charges for hops is predicted the model time that it takes", "[conformance]") {
  const Machine machine(Topology::parse("16x16"), 0, Switching::wormhole, Contention::forbid, {}, {1e-6, 1e-10, 1e-6});
  for (const std::uint32_t segments : {1U, 5U}) {
    CAPTURE(segments);
    Request request = support::broadcast_request(17, 64);
    request.parameters.set("segments", segments);
    const support::Emulation run = support::emulate(*find_algorithm(Collective::broadcast, "flood"), machine, request);
    CHECK(run.plan.model_time_s(machine.cost) == Approx(run.result.model_time_s));
  }
}
