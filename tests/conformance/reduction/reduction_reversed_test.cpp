// Broadcasts turned round: reduce, all-reduce, scatter and gather along their trees, on every machine that the broadcast takes.
#include <array>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <torus/catalogue.hpp>
#include <torus/schedule.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/judged.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

Request request_of(Collective collective, NodeId root, Bytes bytes, std::string_view along = {}, std::string_view variant = {}) {
  Request request = support::reduction_request(collective, bytes, {Operator::sum, ElementType::u16});
  if (facts_of(collective).rooted()) request.sources = {root};
  request.parameters.set("along", along);
  request.parameters.set("variant", variant);
  return request;
}

const Algorithm& along_tree(Collective collective) { return *find_algorithm(collective, "tree-of-broadcast"); }

/// The broadcasts that it can take, and the empty name, which leaves the choice to it.
std::vector<std::string_view> broadcasts() {
  const Parameter& along = along_tree(Collective::reduce).parameters.front();
  std::vector<std::string_view> names(along.words.begin(), along.words.end());
  names.emplace_back();
  return names;
}

}  // namespace

TEST_CASE("a reduce along a broadcast's tree takes the steps of the broadcast, from any root", "[conformance]") {
  std::mt19937_64 random(support::seed());
  unsigned compared = 0;
  const Algorithm& reduce = along_tree(Collective::reduce);
  for (const std::string_view along : broadcasts()) {
    if (along.empty()) continue;
    const Algorithm* broadcast = find_algorithm(Collective::broadcast, along);
    REQUIRE(broadcast != nullptr);
    for (const char* shape : {"8x8", "5x5", "25x25", "16x16", "9x9x9", "mesh:8x8", "4x4x4", "31", "6x9"}) {
      const Machine machine(Topology::parse(shape), broadcast->native.ports, broadcast->native.switching);
      const NodeId root = support::random_below(random, machine.topology.nodes());
      const Request request = request_of(Collective::reduce, root, 64, along);
      if (refuses(reduce, machine, request)) continue;
      CAPTURE(support::seed(), std::string(broadcast->name), std::string(shape), root);
      const Run forth = support::emulate(*broadcast, machine, support::broadcast_request(root, 64));
      const Run back = support::emulate(reduce, machine, request);
      REQUIRE(support::complaint(back) == "");
      CHECK(back.result.steps == forth.result.steps);
      ++compared;
    }
  }
  CHECK(compared > 40);
}

TEST_CASE("without a name, a reduction takes the broadcast that takes the least time", "[conformance]") {
  for (const auto& [shape, ports, switching] :
       {std::tuple{"8x8", 0, Switching::wormhole}, {"8x8", 1, Switching::wormhole}, {"25x25", 0, Switching::circuit}}) {
    const Machine machine(Topology::parse(shape), ports, switching);
    const Algorithm& reduce = along_tree(Collective::reduce);
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    for (const std::string_view along : broadcasts()) {
      const Request request = request_of(Collective::reduce, 5, 2, along);
      if (!along.empty() && !refuses(reduce, machine, request)) least = std::min(least, reduce.plan(machine, request).steps);
    }
    CAPTURE(shape, ports);
    CHECK(reduce.plan(machine, request_of(Collective::reduce, 5, 2)).steps == least);  // of 2 bytes: start-ups decide
  }
}

TEST_CASE("multi-node broadcasts backwards scatter sums in their steps and bytes, on machines of the opposite order", "[conformance]") {
  unsigned runs = 0;
  for (const char* shape : {"2x2", "3x3", "5x5", "8x8", "3x3x3", "4x4x4", "3x7", "6x4"}) {
    for (const Switching switching : {Switching::wormhole, Switching::circuit}) {
      for (const bool descending : {false, true}) {
        std::vector<Dimension> routing;
        const Topology topology = Topology::parse(shape);
        for (Dimension d = topology.dimensions(); d-- > 0 && descending;) routing.push_back(d);
        const Machine machine(topology, 0, switching, Contention::forbid, routing);
        for (const std::string_view along : {"", "hyperplane", "log"}) {
          Request request = support::reduction_request(Collective::reduce_scatter, 12, {Operator::sum, ElementType::u16});
          request.parameters.set("along", along);
          const Algorithm& reversed = *find_algorithm(Collective::reduce_scatter, "reversed");
          if (refuses(reversed, machine, request)) continue;
          CAPTURE(shape, std::string(name(switching)), descending, std::string(along));
          const auto [run, complaint] = support::judged(reversed, machine, request);
          REQUIRE(complaint == "");
          REQUIRE(run.result.route_hops_sum == run.plan.route_hops);
          ++runs;
          if (along.empty()) continue;
          const Machine mirror = Schedule::mirrored(machine);
          Request forth;
          forth.collective = Collective::multinode_broadcast;
          forth.bytes = 12;
          for (NodeId node = 0; node < topology.nodes(); ++node) forth.sources.push_back(node);
          CHECK(support::emulate(*find_algorithm(forth.collective, along), mirror, forth).result.steps == run.result.steps);
        }
      }
    }
  }
  CHECK(runs > 40);
  const auto refused = [](std::vector<Dimension> routing) {
    Request request = support::reduction_request(Collective::reduce_scatter, 12);
    request.parameters.set("along", "log");
    return refuses(*find_algorithm(Collective::reduce_scatter, "reversed"),
                   Machine(Topology::parse("6x4"), 0, Switching::wormhole, Contention::forbid, std::move(routing)), request)
        .has_value();
  };
  CHECK(refused({0, 1}));
  CHECK_FALSE(refused({1, 0}));
}

TEST_CASE("a broadcast whose worms take two dimensions is planned for the opposite order to run backwards", "[conformance]") {
  // On a plane of 2^p x 2^p the third dimension, routed last, comes first: backwards it must be routed first.
  const auto tsai = [](Collective collective, std::vector<Dimension> routing) {
    const Machine machine(Topology::parse("4x4x3"), 0, Switching::wormhole, Contention::forbid, std::move(routing));
    return !refuses(along_tree(collective), machine, request_of(collective, 0, 2, "tsai-mckinley"));
  };
  CHECK(tsai(Collective::scatter, {0, 1, 2}));
  CHECK_FALSE(tsai(Collective::reduce, {0, 1, 2}));
  CHECK(tsai(Collective::reduce, {2, 1, 0}));
  CHECK(tsai(Collective::gather, {2, 0, 1}));
  CHECK_FALSE(tsai(Collective::allreduce, {0, 1, 2}));
  CHECK_FALSE(tsai(Collective::allreduce, {2, 1, 0}));
}
