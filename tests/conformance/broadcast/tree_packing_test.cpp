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

constexpr Collective all[]{Collective::broadcast, Collective::reduce, Collective::allreduce, Collective::reduce_scatter,
                           Collective::multinode_broadcast};

Machine packets(const Topology& topology) { return Machine(topology, all_ports, Switching::packet); }

Request request_on(const Topology& topology, Collective collective, Bytes bytes) {
  Request request = support::reduction_request(collective, bytes, {Operator::sum, ElementType::u16});
  if (has_root(collective)) request.sources = {support::living_from(topology, topology.nodes() / 3)};
  if (collective == Collective::multinode_broadcast) {
    for (NodeId node = 0; node < topology.nodes(); ++node) {
      if (topology.living(node)) request.sources.push_back(node);
    }
    request.expected_sources = topology.living_nodes();
  }
  return request;
}

/// What somebody has against a run, with the bytes exactly as predicted; empty if nobody has anything.
std::string complaint(const Topology& topology, Collective collective, Bytes bytes) {
  const Algorithm& algorithm = *find_algorithm(collective, "tree-packing");
  const Machine machine = packets(topology);
  const Request request = request_on(topology, collective, bytes);
  if (const auto refusal = refuses(algorithm, machine, request)) return text(*refusal);
  const support::Judged judged = support::judged(algorithm, machine, request);
  if (!judged.complaint.empty()) return std::string(name(collective)) + ": " + judged.complaint;
  const Plan& plan = judged.run.plan;
  if (plan.bytes_exact && static_cast<double>(judged.run.result.channel_bytes_sum) != plan.channel_bytes)
    return std::string(name(collective)) + ": other bytes than predicted";
  return "";
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

TEST_CASE("every dead link and every dead node is lived with", "[conformance]") {
  support::Share share(4);
  for (const char* shape : {"8x8", "4x4x4"}) {
    const Topology whole(shape);
    for (NodeId node = 0; node < whole.nodes(); ++node) {
      if (!share.takes_turn()) continue;
      whole.each_link(node, [&](Dimension d, std::int32_t hop, NodeId) {
        if (hop < 0) return;
        CAPTURE(shape, node, d);
        for (const Collective collective :
             {Collective::broadcast, Collective::reduce, Collective::allreduce, Collective::multinode_broadcast})
          REQUIRE(complaint(whole.with_faults({.dead_links = {{node, d, hop}}}), collective, 22) == "");
      });
    }
  }
  const Topology whole("6x6");
  for (NodeId node = 0; node < whole.nodes(); ++node) {
    CAPTURE(node);
    for (const Collective collective : all) REQUIRE(complaint(whole.with_faults({.dead_nodes = {node}}), collective, 22) == "");
  }
}

TEST_CASE("whole machines of any shape and random holes are lived with", "[conformance]") {
  for (const Topology& topology : support::telling_shapes()) {
    CAPTURE(topology.text());
    for (const Collective collective : all) REQUIRE(complaint(topology, collective, 130) == "");
  }
  std::mt19937_64 random(support::seed());
  int machines = 0;
  for (int i = 0; i < 100; ++i) {
    const Topology whole = support::random_topology(random, 80);
    if (whole.nodes() < 2) continue;
    const Faults faults = support::random_faults(random, whole, 3, 3, 0);
    try {
      const Topology topology = whole.with_faults(faults);
      CAPTURE(support::seed(), i, topology.text());
      for (const Collective collective : all) REQUIRE(complaint(topology, collective, 130) == "");
      ++machines;
    } catch (const InputError&) {  // cut apart
    }
  }
  CHECK(machines > 40);
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
    CHECK(bytes_of(Collective::reduce_scatter) == std::ceil(others / fewest));
    CHECK(bytes_of(Collective::multinode_broadcast) == std::ceil(others / fewest));
    // Against all that is proven, the bytes of all over all channels included.
    const Request request = request_on(topology, Collective::allreduce, bytes);
    const double bound = lower_bounds(machine, request).model_time_s(machine.cost);
    CHECK(find_algorithm(Collective::allreduce, "tree-packing")->plan(machine, request).model_time_s(machine.cost) < 1.3 * bound);
  }
}

TEST_CASE("trees that are packed leave one trace on every executor", "[conformance]") {
  const Topology topology = Topology("5x7").with_faults({.dead_nodes = {9}});
  for (const Collective collective : all)
    support::check_same_on_every_executor(*find_algorithm(collective, "tree-packing"), packets(topology),
                                          request_on(topology, collective, 1000));
}

TEST_CASE("a machine too large to search and parameters that exclude each other are refused in one line", "[conformance]") {
  Request request = request_on(Topology("32x33"), Collective::allreduce, 8);
  const Algorithm& algorithm = *find_algorithm(Collective::allreduce, "tree-packing");
  CHECK(why_not(algorithm, packets(Topology("32x33")), request) ==
        "shape 32x33: tree-packing searches machines of up to 1024 nodes and 8192 channels; 32x16 would do");
  request.parameters.set("chunk", 2);
  request.parameters.set("segments", 3);
  CHECK(why_not(algorithm, packets(Topology("4x4")), request) ==
        "chunk 2: tree-packing goes over a root in segments, or between all nodes in chunks; leave it out");
}

TEST_CASE("there are as many trees as the least cut has channels", "[conformance]") {
  const auto trees = [](const Topology& topology) {
    PlanCache cache;
    return packed_trees(topology, support::living_from(topology, topology.nodes() / 3), cache)->trees();
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
      CHECK(packed_trees(topology, root, cache)->trees() == std::min(ArcTrees::max_trees, least_cut(topology, root)));
      ++machines;
    } catch (const InputError&) {  // cut apart
    }
  }
  CHECK(machines > 40);
}
