// With one port the yardstick is to go once round all nodes.
#include <cstdint>

#include "tests/support/halves.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;
using namespace torus::support;

TEST_CASE("round all nodes by rank, a half takes N-1 steps of a segment each, on any shape and routing", "[conformance]") {
  for (const Topology& topology : telling_shapes()) {
    CAPTURE(topology.text());
    const HalfFigures half = halves_on("ring", topology);
    const std::uint64_t others = topology.nodes() - 1;
    CHECK(half.segments == topology.nodes());
    CHECK(half.steps == others);
    CHECK(half.channel == others);
    CHECK(half.combined == others);
    std::vector<Dimension> descending;
    for (Dimension d = topology.dimensions(); d-- > 0;) descending.push_back(d);
    Request request;
    request.collective = Collective::allreduce;
    request.bytes = 40;
    const Run run = emulate(*find_algorithm(Collective::allreduce, "ring"),
                            Machine(topology, 1, Switching::wormhole, Contention::forbid, descending), request);
    CHECK(complaint(run) == "");
  }
}
