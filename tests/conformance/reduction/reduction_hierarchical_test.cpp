// The multi-node broadcast over DDNs and DCNs, backwards, and there and back.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <torus/bounds.hpp>
#include <torus/catalogue.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/judged.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

Request with_partition(const Algorithm& algorithm, std::string_view dcn, Bytes bytes, std::uint32_t h) {
  Request request = support::reduction_request(algorithm.collective, bytes, {Operator::sum, ElementType::u16});
  request.parameters.set("h", h);
  request.parameters.set("dcn", dcn);
  return request;
}

}  // namespace

TEST_CASE("an all-reduce there and back takes the steps and bytes that were worked out for it", "[conformance]") {
  struct Known {
    const char* shape;
    std::uint32_t h;
    bool log;
    std::uint64_t steps;
    double times_bound;
  };
  for (const Known& known : {Known{"15x15", 5, false, 16, 1.30}, Known{"15x15", 5, true, 12, 1.79}, Known{"15x15", 3, false, 14, 1.44},
                             Known{"15x15", 3, true, 12, 1.66}, Known{"16x16", 4, false, 20, 1.43}, Known{"16x16", 4, true, 16, 1.99},
                             Known{"16x16", 8, false, 24, 1.21}, Known{"16x16", 8, true, 16, 1.48}, Known{"25x25", 5, false, 20, 1.31},
                             Known{"8x8", 4, false, 16, 1.40}, Known{"8x8", 4, true, 12, 1.97}, Known{"12x40", 4, false, 32, 1.61},
                             Known{"8x8x8", 4, false, 26, 1.52}}) {
    CAPTURE(std::string(known.shape), known.h, known.log);
    const Machine machine(Topology::parse(known.shape));
    const Algorithm& algorithm = *find_algorithm(Collective::allreduce, "hierarchical");
    // Without counting what a rest of elements costs.
    const Bytes bytes = Bytes{48} * machine.topology.nodes();
    const Request request = with_partition(algorithm, known.log ? "broadcast" : "scatter", bytes, known.h);
    const Plan plan = algorithm.plan(machine, request);
    CHECK(plan.steps == known.steps);
    CHECK(plan.channel_bytes / lower_bounds(machine, request).channel_bytes == Approx(known.times_bound).margin(0.006));
  }
}
