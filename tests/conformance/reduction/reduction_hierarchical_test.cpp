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

/// The algorithms, each with every value of --dcn.
std::vector<std::pair<const Algorithm*, std::string_view>> all() {
  std::vector<std::pair<const Algorithm*, std::string_view>> out;
  for (const Collective collective : {Collective::reduce_scatter, Collective::allreduce}) {
    for (const char* dcn : {"scatter", "broadcast"}) out.emplace_back(find_algorithm(collective, "hierarchical"), dcn);
  }
  return out;
}

}  // namespace

TEST_CASE("hierarchical reduces on every torus and partition, in either order of dimensions, as predicted", "[conformance]") {
  unsigned runs = 0;
  std::vector<Topology> shapes = support::telling_shapes();
  for (const char* shape : {"6x4", "9x6", "10x10", "4x8", "4x4x6", "2x2", "7", "7x7", "1x6x4", "3x1", "5x2"})
    shapes.push_back(Topology::parse(shape));
  for (const Topology& topology : shapes) {
    std::vector<Dimension> descending;
    for (Dimension d = topology.dimensions(); d-- > 0;) descending.push_back(d);
    for (const auto& [algorithm, dcn] : all()) {
      for (std::uint32_t h = 1; h <= 15; ++h) {
        const bool turned = runs % 2 == 1;
        const Machine machine(topology, 0, Switching::wormhole, Contention::forbid, turned ? descending : std::vector<Dimension>{});
        const Bytes bytes = h % 3 == 0 ? 0 : h % 3 == 1 ? 46 : 2 * topology.nodes() * 12;
        if (algorithm->collective == Collective::reduce_scatter && bytes > 100) continue;
        const Request request = with_partition(*algorithm, dcn, bytes, h);
        if (refuses(*algorithm, machine, request)) continue;
        CAPTURE(topology.text(), std::string(name(algorithm->collective)), std::string(dcn), h, bytes, turned);
        const auto [run, complaint] = support::judged(*algorithm, machine, request);
        REQUIRE(complaint == "");
        REQUIRE(run.result.route_hops_sum == run.plan.route_hops);
        ++runs;
      }
    }
  }
  CHECK(runs > 120);
}

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

TEST_CASE("hierarchical reductions leave one trace on every executor", "[conformance]") {
  for (const auto& [algorithm, dcn] : all())
    support::check_same_on_every_executor(*algorithm, Machine(Topology::parse("6x6")), with_partition(*algorithm, dcn, 100, 3));
}
