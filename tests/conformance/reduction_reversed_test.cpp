// Broadcasts turned round: reduce, all-reduce, scatter and gather along their trees, on every machine that the broadcast takes.
#include <random>
#include <set>
#include <string>
#include <vector>

#include <torus/catalogue.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/judged.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

Request request_of(Collective collective, NodeId root, Bytes bytes) {
  Request request = support::reduction_request(collective, bytes, {Operator::sum, ElementType::u16});
  if (has_root(collective)) request.sources = {root};
  return request;
}

/// tree-packing finds trees of its own.
bool is_reversed(const Algorithm& algorithm) { return algorithm.name.starts_with("tree-") && algorithm.name != "tree-packing"; }

/// Runs what applies, on all machines of a shape that differ to it. Returns the runs.
unsigned check(const Topology& topology, Bytes bytes) {
  unsigned runs = 0;
  std::vector<Dimension> descending;
  for (Dimension d = topology.dimensions(); d-- > 0;) descending.push_back(d);
  for (const Switching switching : {Switching::packet, Switching::wormhole, Switching::circuit}) {
    for (const int ports : std::set<int>{1, topology.max_ports()}) {
      for (const bool turned : {false, true}) {
        if (turned && (topology.dimensions() == 1 || switching != Switching::wormhole)) continue;
        const Machine machine(topology, ports, switching, Contention::forbid, turned ? descending : std::vector<Dimension>{});
        for (const Algorithm* algorithm : catalogue()) {
          if (!is_reversed(*algorithm)) continue;
          const Request request = request_of(algorithm->collective, topology.nodes() * 2 / 3, bytes);
          if (refuses(*algorithm, machine, request)) continue;
          CAPTURE(topology.text(), std::string(name(switching)), ports, turned, std::string(name(algorithm->collective)),
                  std::string(algorithm->name), bytes);
          const auto [run, complaint] = support::judged(*algorithm, machine, request);
          REQUIRE(complaint == "");
          REQUIRE(run.result.route_hops_sum == run.plan.route_hops);
          ++runs;
        }
      }
    }
  }
  return runs;
}

}  // namespace

TEST_CASE("reversed broadcasts reduce, gather and scatter on every machine that they take, as predicted", "[conformance]") {
  unsigned runs = 0;
  for (const Topology& topology : support::telling_shapes()) {
    if (topology.nodes() <= 64) runs += check(topology, topology.nodes() % 3 == 0 ? 0 : 38);
  }
  for (const char* shape : {"2x2x3", "8x8x2", "16x16", "10x10", "5x5x5", "mesh:4x4x4", "mesh:9"}) runs += check(Topology::parse(shape), 2);
  CHECK(runs > 900);
}

TEST_CASE("a reduce along a broadcast's tree takes the steps of the broadcast, from any root", "[conformance]") {
  std::mt19937_64 random(support::seed());
  unsigned compared = 0;
  for (const Algorithm* broadcast : catalogue()) {
    if (broadcast->collective != Collective::broadcast) continue;
    const Algorithm* reduce = find_algorithm(Collective::reduce, "tree-" + std::string(broadcast->name));
    if (reduce == nullptr) continue;
    for (const char* shape : {"8x8", "5x5", "25x25", "16x16", "9x9x9", "mesh:8x8", "4x4x4", "31", "6x9"}) {
      const Machine machine(Topology::parse(shape), broadcast->native.ports, broadcast->native.switching);
      const NodeId root = support::random_below(random, machine.topology.nodes());
      const Request request = request_of(Collective::reduce, root, 64);
      if (refuses(*reduce, machine, request)) continue;
      CAPTURE(support::seed(), std::string(broadcast->name), std::string(shape), root);
      const Run forth = support::emulate(*broadcast, machine, support::broadcast_request(root, 64));
      const Run back = support::emulate(*reduce, machine, request);
      REQUIRE(support::complaint(back) == "");
      CHECK(back.result.steps == forth.result.steps);
      ++compared;
    }
  }
  CHECK(compared > 40);
}

TEST_CASE("a broadcast whose worms take two dimensions is planned for the opposite order to run backwards", "[conformance]") {
  // On a plane of 2^p x 2^p the third dimension, routed last, comes first: backwards it must be routed first.
  const auto tsai = [](Collective collective, std::vector<Dimension> routing) {
    const Machine machine(Topology::parse("4x4x3"), 0, Switching::wormhole, Contention::forbid, std::move(routing));
    return !refuses(*find_algorithm(collective, "tree-tsai-mckinley"), machine, request_of(collective, 0, 2));
  };
  CHECK(tsai(Collective::scatter, {0, 1, 2}));
  CHECK_FALSE(tsai(Collective::reduce, {0, 1, 2}));
  CHECK(tsai(Collective::reduce, {2, 1, 0}));
  CHECK(tsai(Collective::gather, {2, 0, 1}));
  CHECK_FALSE(tsai(Collective::allreduce, {0, 1, 2}));
  CHECK_FALSE(tsai(Collective::allreduce, {2, 1, 0}));
}

TEST_CASE("reversed broadcasts leave one trace and one result on every executor", "[conformance]") {
  for (const Collective collective : {Collective::reduce, Collective::allreduce, Collective::scatter, Collective::gather}) {
    const Algorithm& algorithm = *find_algorithm(collective, "tree-wang-tseng-trimmed");
    support::check_same_on_every_executor(algorithm, Machine(Topology::parse("7x7")), request_of(collective, 17, 100));
  }
}
