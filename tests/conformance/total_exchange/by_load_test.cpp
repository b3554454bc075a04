// The list by load: legal and complete for any sizes and around any holes, as predicted, and near the bounds.
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "algorithms/common/living_channels.hpp"
#include "algorithms/total_exchange/next_hops.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/judged.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

const Algorithm& by_load(Collective collective = Collective::total_exchange) { return *find_algorithm(collective, "by-load"); }

/// sizes: a rule; null: all blocks have the bytes.
Request request_for(Collective collective, NodeId root, const char* sizes, Bytes bytes) {
  Request request;
  request.collective = collective;
  if (facts_of(collective).rooted()) request.sources = {root};
  request.bytes = bytes;
  if (sizes == nullptr) return request;
  request.sizes = SizeRule::parse(sizes);
  request.sizes->seed = support::seed();
  if (request.sizes->fixed()) request.bytes = request.sizes->mean();
  return request;
}

Request exchange(const char* sizes, Bytes mean = 4096) { return request_for(Collective::total_exchange, 0, sizes, mean); }

/// Bytes of the fullest channels, as planned and in the bound, where bytes are all that counts; in blocks.
struct Blocks {
  double planned, bound;
};
Blocks blocks_of(const Topology& topology, int ports, const Request& request) {
  const Machine machine(topology, std::min(ports, static_cast<int>(topology.max_ports())), Switching::packet);
  const auto bytes = static_cast<double>(request.bytes);
  return {make_plan(by_load(request.collective), machine, request).channel_bytes / bytes,
          lower_bounds(machine, request).channel_bytes / bytes};
}

/// The shape with so many dead links and dead nodes, in one piece.
Topology with_holes(std::mt19937_64& random, const char* shape, std::uint32_t links, std::uint32_t nodes) {
  while (true) {
    const Topology whole(shape);
    Faults faults;
    for (std::uint32_t i = 0; i < links; ++i) {
      const auto d = static_cast<Dimension>(support::random_below(random, static_cast<std::uint64_t>(whole.dimensions())));
      faults.dead_links.push_back({support::random_below(random, whole.nodes()), d, 1});
    }
    for (std::uint32_t i = 0; i < nodes; ++i) faults.dead_nodes.push_back(support::random_below(random, whole.nodes()));
    try {
      return whole.with_faults(faults);
    } catch (const InputError&) {  // cut apart, or twice the same
    }
  }
}

/// by-load as it plans more than 512 nodes, on any machine.
Algorithm by_next_hops() {
  Algorithm algorithm = by_load();
  algorithm.also_requires = nullptr;
  algorithm.plan = total_exchange::plan_by_next_hops;
  return algorithm;
}

}  // namespace

TEST_CASE("by-load sends no block of no bytes", "[conformance]") {
  const Run run = torus::run(by_load(), Machine(Topology::parse("4x4")), exchange("zeros:1"));
  CHECK(run.check.good());
  CHECK(run.result.messages == 0);
}

TEST_CASE("long blocks come within a tenth of the bound around holes, or a block", "[conformance]") {
  std::mt19937_64 random(support::seed());
  for (const char* shape : {"4x4", "6x6", "8x8", "4x4x4"}) {
    for (std::uint32_t dead = 0; dead <= 3; ++dead) {
      const Topology topology = with_holes(random, shape, dead, dead == 0 ? 1 : 0);
      const NodeId root = support::living_from(topology, support::random_below(random, topology.nodes()));
      for (const Collective collective : {Collective::total_exchange, Collective::scatter, Collective::gather}) {
        const Blocks blocks = blocks_of(topology, topology.max_ports(), request_for(collective, root, nullptr, 1 << 24));
        CAPTURE(shape, dead, name(collective), root, support::seed(), blocks.planned, blocks.bound);
        CHECK(blocks.planned >= blocks.bound);
        CHECK(blocks.planned <= std::max(1.1 * blocks.bound, std::ceil(blocks.bound) + 1));
      }
    }
  }
}

TEST_CASE("equal blocks on meshes take at most twice the bound, whatever their size", "[conformance]") {
  for (const char* shape : {"mesh:8x8", "mesh:5x9"}) {
    const Topology topology{shape};
    for (const int ports : {1, 2, 3, static_cast<int>(topology.max_ports())}) {
      const Machine machine(topology, ports, Switching::packet);
      PlanCache cache;
      for (const Bytes bytes : {Bytes{4}, Bytes{1024}, Bytes{1} << 16U, Bytes{1} << 20U}) {
        const Request request = exchange(nullptr, bytes);
        const Plan plan = by_load().plan(machine, request, cache);
        CAPTURE(shape, ports, bytes);
        CHECK(plan.model_time_s(machine.cost) <= 2 * lower_bounds(machine, request).model_time_s(machine.cost));
        CHECK(plan.model_time_s(machine.cost) == make_plan(by_load(), machine, request).model_time_s(machine.cost));
      }
    }
  }
  CHECK(torus::run(by_load(), Machine(Topology("mesh:4x5"), 2, Switching::packet), exchange(nullptr, 64)).check.good());
}

TEST_CASE("few ports and sizes that differ come near the bound", "[conformance]") {
  for (const char* sizes : {"zipf:1", "zeros:0.7"}) {
    for (const auto& [shape, ports, most] : {std::tuple("8x8", 4, 1.4), {"8x8", 2, 1.25}, {"8x8", 1, 1.25}, {"4x4x4", 6, 1.6}}) {
      CAPTURE(shape, ports, sizes, support::seed());
      const Blocks blocks = blocks_of(Topology(shape), ports, exchange(sizes, 1 << 24));
      CHECK(blocks.planned <= most * blocks.bound);
    }
  }
}

TEST_CASE("next hops lead every block over a shortest way, as predicted, on any machine", "[conformance]") {
  const Algorithm algorithm = by_next_hops();
  std::mt19937_64 random(support::seed());
  std::vector<Topology> shapes{Topology{"1"}, Topology{"2"}, Topology{"2m"}, Topology{"2x4t"}, Topology{"4x8t"}, Topology{"3cx4m"}};
  for (int turn = 0; turn < 12; ++turn) shapes.push_back(support::random_topology(random, 60));
  for (const Topology& whole : shapes) {
    Topology topology = whole;
    try {
      topology = whole.with_faults(support::random_faults(random, whole, 3, 2, 1));
    } catch (const InputError&) {  // cut apart, or twice the same
    }
    const int most = std::max(1, static_cast<int>(topology.max_ports()));
    for (const int ports : {1, std::min(2, most), most}) {
      const auto switching = static_cast<Switching>(support::random_below(random, 3));
      const Machine machine(topology, ports, switching);
      for (const char* sizes : {static_cast<const char*>(nullptr), "zipf:1", "zeros:0.7"}) {
        CAPTURE(topology.text(), topology.faults().dead_links.size(), topology.faults().dead_nodes.size(), ports, name(switching),
                sizes == nullptr ? "equal" : sizes, support::seed());
        const Request request = exchange(sizes, support::random_below(random, 2) == 0 ? 24 : 4096);
        const support::Judged judged = support::judged(algorithm, machine, request);
        CHECK(judged.complaint == "");
        if (sizes != nullptr) continue;
        std::uint64_t farthest = 0, hops = 0;
        for (NodeId node = 0; node < topology.nodes(); ++node) {
          if (!topology.living(node)) continue;
          for (const std::int32_t far : living_hops(topology, node)) {
            farthest = std::max(farthest, static_cast<std::uint64_t>(std::max(0, far)));
            hops += static_cast<std::uint64_t>(std::max(0, far));
          }
        }
        CHECK(judged.run.result.bytes_delivered == hops * request.bytes);
        if (ports == most && request.bytes == 24) CHECK(judged.run.result.steps == farthest);
      }
    }
  }
  CHECK(torus::run(algorithm, Machine(Topology("4x4")), exchange("zeros:1")).result.messages == 0);
}

TEST_CASE("next hops spread the blocks over channels and steps", "[conformance]") {
  for (const auto& [shape, ports, most] :
       {std::tuple("16x16", 1, 1.3), {"16x16", 4, 1.45}, {"6x6x6", 2, 1.3}, {"6x6x6", 6, 1.75}, {"mesh:16x16", 1, 1.8}}) {
    const Machine machine(Topology(shape), ports, Switching::packet);
    const Request request = exchange(nullptr, 1 << 20);
    CAPTURE(shape, ports);
    CHECK(make_plan(by_next_hops(), machine, request).channel_bytes <= most * lower_bounds(machine, request).channel_bytes);
  }
}
