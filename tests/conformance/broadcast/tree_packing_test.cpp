// Collectives over trees that are packed around the holes of a machine.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <torus/bounds.hpp>
#include <torus/catalogue.hpp>

#include "algorithms/trees/arc_trees.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/judged.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

Machine packets(const Topology& topology, std::vector<double> speeds = {}, double start_up_s = 1e-6) {
  CostModel cost;
  cost.start_up_s = start_up_s;
  cost.dimension_byte_s = std::move(speeds);
  return Machine(topology, all_ports, Switching::packet, Contention::forbid, {}, cost);
}

Request request_on(const Topology& topology, Collective collective, Bytes bytes) {
  return support::request_of_living(topology, collective, bytes, {Operator::sum, ElementType::u16});
}

/// The fewest arcs that enter a set of living nodes without the root, of all sets.
std::uint32_t least_cut(const Topology& topology, NodeId root) {
  std::uint32_t least = topology.living_nodes() == 1 ? 0 : std::numeric_limits<std::uint32_t>::max();
  for (std::uint32_t set = 1; set < 1U << topology.nodes(); ++set) {
    std::uint32_t entering = 0;
    bool counts = (set >> root & 1U) == 0;
    for (NodeId node = 0; node < topology.nodes() && counts; ++node) {
      if ((set >> node & 1U) == 0) continue;
      counts = topology.living(node);
      topology.each_link(node, [&](Dimension, std::int32_t, NodeId to) { entering += (set >> to & 1U) == 0 ? 1U : 0U; });
    }
    if (counts) least = std::min(least, entering);
  }
  return least;
}

}  // namespace

TEST_CASE("long messages come near the bounds where dimensions differ in speed", "[conformance]") {
  struct Wanted {
    const char* shape;
    std::vector<double> per_s;  // bytes
    double start_up_s;
    Bytes block;
  };
  constexpr double gib = 1U << 30U;
  const Wanted all_wanted[]{{"mesh:5x5", {75, 50}, 0.5e-6, 42949673},
                            {"mesh:5x8", {35, 80}, 1e-6, 26843546},
                            {"mesh:10x7", {73, 16}, 1.5e-6, 61356676},
                            {"8x8", {2, 1}, 1e-6, 1U << 20U}};
  for (const auto& [shape, per_s, start_up_s, block] : all_wanted) {
    std::vector<double> speeds;
    for (const double rate : per_s) speeds.push_back(1 / (rate * gib));
    const Machine machine = packets(Topology(shape), speeds, start_up_s);
    CAPTURE(shape);
    for (const Collective collective :
         {Collective::multinode_broadcast, Collective::reduce_scatter, Collective::broadcast, Collective::reduce}) {
      const bool rooted = facts_of(collective).rooted();
      const Request request = request_on(machine.topology, collective, (rooted ? machine.topology.nodes() : 1) * block);
      const double time_s = find_algorithm(collective, "tree-packing")->plan(machine, request).model_time_s(machine.cost);
      const double bound_s = lower_bounds(machine, request).model_time_s(machine.cost);
      CAPTURE(name(collective), time_s, bound_s);
      CHECK(time_s < (rooted ? 1.2 : 1.05) * bound_s);
    }
  }
}

TEST_CASE("blocks are split where a node cannot share whole ones evenly among its channels", "[conformance]") {
  // 23 blocks over 5 and 3 channels of a node, and 6.
  for (const auto& [shape, steps] : {std::pair("3x2mx4", 23 / 5.0), std::pair("mesh:3x2x4", 23 / 3.0), std::pair("3x2x4", 23 / 6.0)}) {
    const Machine machine = packets(Topology(shape));
    const Request request = request_on(machine.topology, Collective::multinode_broadcast, 5 * 3 * 6 * (1U << 20U));
    CAPTURE(shape);
    CHECK(find_algorithm(Collective::multinode_broadcast, "tree-packing")->plan(machine, request).channel_bytes ==
          Approx(steps * static_cast<double>(request.bytes)).epsilon(1e-6));
  }
}

TEST_CASE("long messages come near the bounds of the cuts around a dead link", "[conformance]") {
  constexpr Bytes bytes = 1U << 24U;
  for (const char* shape : {"8x8", "4x4x4", "6x6", "5x7"}) {
    const Topology topology = Topology(shape).with_faults({.dead_links = {{1, 0, 1}}});
    const Machine machine = packets(topology);
    const double others = topology.living_nodes() - 1.0, fewest = topology.max_ports() - 1.0;  // channels, beside the dead link
    const auto bytes_of = [&](Collective collective) {
      const Request request = request_on(topology, collective, bytes);
      return find_algorithm(collective, "tree-packing")->plan(machine, request).channel_bytes / static_cast<double>(bytes);
    };
    CAPTURE(shape);
    CHECK(bytes_of(Collective::broadcast) < 1.2 / fewest);
    CHECK(bytes_of(Collective::reduce) < 1.2 / fewest);
    CHECK(bytes_of(Collective::allreduce) < 1.1 * 2 * others / (others + 1) / fewest);
    CHECK(bytes_of(Collective::reduce_scatter) <= std::ceil(others / fewest));
    CHECK(bytes_of(Collective::multinode_broadcast) <= std::ceil(others / fewest));
    // Against all that is proven, the bytes of all over all channels included.
    const Request request = request_on(topology, Collective::allreduce, bytes);
    const double bound = lower_bounds(machine, request).model_time_s(machine.cost);
    CHECK(find_algorithm(Collective::allreduce, "tree-packing")->plan(machine, request).model_time_s(machine.cost) < 1.3 * bound);
  }
}

TEST_CASE("there are as many trees as the least cut has channels", "[conformance]") {
  const auto trees = [](const Topology& topology) {
    PlanCache cache;
    return packed_trees(packets(topology), support::living_from(topology, topology.nodes() / 3), 1, cache)->trees();
  };
  CHECK(trees(Topology("8x8")) == 4);
  CHECK(trees(Topology("4x4x4")) == 6);
  CHECK(trees(Topology("mesh:5x7")) == 2);
  CHECK(trees(Topology("2x2")) == 4);
  CHECK(trees(Topology("7c")) == 6);
  CHECK(trees(Topology("1")) == 0);
  CHECK(trees(Topology("8x8").with_faults({.dead_links = {{9, 0, 1}}})) == 3);
  CHECK(trees(Topology("6x6").with_faults({.dead_nodes = {9}})) == 3);
  CHECK(trees(Topology("9").with_faults({.dead_links = {{0, 0, 1}}})) == 1);
}

TEST_CASE("there are as many trees as the least of all cuts has channels on small machines", "[conformance]") {
  std::mt19937_64 random(support::seed());
  int machines = 0;
  for (int i = 0; i < 300 && machines < 100; ++i) {
    const Topology whole = support::random_topology(random, 12);
    if (whole.nodes() < 4 || whole.nodes() > 12) continue;
    try {
      const Topology topology = whole.with_faults(support::random_faults(random, whole, 3, 3, 0));
      const NodeId root = support::living_from(topology, topology.nodes() / 3);
      CAPTURE(support::seed(), i, topology.text());
      PlanCache cache;
      CHECK(packed_trees(packets(topology), root, 1, cache)->trees() == std::min(ArcTrees::max_trees, least_cut(topology, root)));
      ++machines;
    } catch (const InputError&) {  // cut apart
    }
  }
  CHECK(machines > 40);
}
