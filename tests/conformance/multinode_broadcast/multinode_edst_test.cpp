/// Multi-node broadcast over arc-disjoint spanning trees: pipelined near the byte bound, and in time with any chunk and any cut.
#include <algorithm>
#include <array>

#include "tests/support/multinode.hpp"
#include "tests/support/run.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;
using namespace torus::multinode_broadcast;
using namespace torus::support;

TEST_CASE("pipelined trees stay within 5 % of the byte bound on 25 x 25 from a quarter of the nodes up", "[conformance]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  const Machine machine = square(25);
  support::Share share(3, 3);
  for (const std::uint32_t one_in : {4U, 2U, 1U}) {
    if (!share.takes_turn()) continue;
    const std::vector<NodeId> sources = random_nodes(random, 625, one_in);
    Request request = multinode_request(sources, 800);
    request.parameters.set("chunk", 1);
    request.parameters.set("segments", 32);  // U = 8: the finer the cut, the cheaper the filling of the pipeline; with U = 2 some
                                             // draws of a quarter of the nodes come to 6 %
    const Emulation e = checked("edst", machine, request);
    const auto bytes = static_cast<double>(e.result.channel_bytes_sum);
    CAPTURE(sources.size(), bytes, e.bounds.channel_bytes);
    CHECK(bytes <= 1.05 * e.bounds.channel_bytes);
  }
}

TEST_CASE("pipelined trees with any chunk and any cut end by themselves, in time", "[conformance]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  for (const char* shape : {"5x5", "9x9", "8x6", "16x16", "4x4x4", "3x5x2"}) {
    const Machine machine(Topology::parse(shape));
    const auto trees = static_cast<std::uint32_t>(2 * machine.topology.dimensions());
    for (const std::uint32_t one_in : {2U, 6U, 20U}) {
      for (const std::uint32_t chunk : {1U, 2U, 5U, 1000U}) {
        for (const std::uint32_t cut : {1U, 3U}) {
          Request request = multinode_request(random_nodes(random, machine.topology.nodes(), one_in), 60);
          request.parameters.set("chunk", chunk);
          request.parameters.set("segments", cut * trees);
          request.expected_sources = static_cast<double>(request.sources.size());
          CAPTURE(shape, one_in, chunk, cut);
          checked("edst", machine, request);
        }
      }
    }
  }
}

TEST_CASE("edst chooses the variant of least model time, which is the synchronous one where nothing else is allowed", "[conformance]") {
  for (const Bytes bytes : {Bytes{8}, Bytes{1} << 20}) {
    for (const NodeId k : {1U, 5U, 50U}) {
      for (const Switching switching : {Switching::packet, Switching::wormhole}) {
        CAPTURE(bytes, k, std::string(torus::name(switching)));
        const Machine machine(Topology::parse("12x12"), 0, switching);
        Request request = multinode_request(every(144, k), bytes);
        request.expected_sources = static_cast<double>(request.sources.size());
        const auto time_of = [&](std::string_view name) {
          return multinode_algorithm(name).plan(machine, with_parameter_of(name, request)).model_time_s(machine.cost);
        };
        double least = time_of("edst --variant synchronous");
        if (switching != Switching::packet) least = std::min(least, time_of("edst --variant pipelined"));
        CHECK(time_of("edst") == least);
      }
    }
  }
}

TEST_CASE("pipelined trees end within the proven limit where they take more steps than as a rule", "[conformance]") {
  struct Case {
    const char* shape;
    NodeId sources;  ///< 0: all
    std::uint32_t chunk, segments;
  };
  for (const Case& c : {Case{"3x5x2x2x2", 0, 1, 0}, Case{"3x5x3x3", 0, 1, 8}, Case{"12x3x2x2", 0, 1, 8}, Case{"3x9x2x3", 0, 2, 8},
                        Case{"3x9x2x2x3", 0, 2, 10}, Case{"9x12x2", 109, 1, 0}, Case{"5x3x2x7", 208, 1, 24}}) {
    const Machine machine(Topology::parse(c.shape));
    std::vector<NodeId> sources = all_nodes(machine.topology.nodes());
    if (c.sources > 0) {
      std::mt19937_64 random(support::seed());
      std::shuffle(sources.begin(), sources.end(), random);
      sources.resize(c.sources);
      std::sort(sources.begin(), sources.end());
    }
    Request request = multinode_request(sources, 64);
    request.parameters.set("chunk", c.chunk);
    request.parameters.set("segments", c.segments);
    CAPTURE(c.shape, c.chunk, c.segments);
    const Emulation e = checked("edst --variant pipelined", machine, request);
    REQUIRE(e.plan.steps_estimate.has_value());
    CHECK(*e.plan.steps_estimate < e.plan.steps);
    CHECK(checked("edst", machine, request).result.trace_digest == e.result.trace_digest);
  }
}
