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

Machine packets(const Topology& topology, std::vector<double> speeds = {}, double start_up_s = 1e-6) {
  CostModel cost;
  cost.start_up_s = start_up_s;
  cost.dimension_byte_s = std::move(speeds);
  return Machine(topology, all_ports, Switching::packet, Contention::forbid, {}, cost);
}

Request request_on(const Topology& topology, Collective collective, Bytes bytes) {
  Request request = support::reduction_request(collective, bytes, {Operator::sum, ElementType::u16});
  if (facts_of(collective).rooted()) request.sources = {support::living_from(topology, topology.nodes() / 3)};
  if (collective == Collective::multinode_broadcast) {
    for (NodeId node = 0; node < topology.nodes(); ++node) {
      if (topology.living(node)) request.sources.push_back(node);
    }
    request.expected_sources = topology.living_nodes();
  }
  return request;
}

/// What somebody has against a run, with the bytes exactly as predicted; empty if nobody has anything.
std::string complaint(const Machine& machine, Collective collective, Bytes bytes) {
  const Algorithm& algorithm = *find_algorithm(collective, "tree-packing");
  const Request request = request_on(machine.topology, collective, bytes);
  if (const auto refusal = refuses(algorithm, machine, request)) return text(*refusal);
  const support::Judged judged = support::judged(algorithm, machine, request);
  if (!judged.complaint.empty()) return std::string(name(collective)) + ": " + judged.complaint;
  const Plan& plan = judged.run.plan;
  if (plan.bytes_exact && static_cast<double>(judged.run.result.channel_bytes_sum) != plan.channel_bytes)
    return std::string(name(collective)) + ": other bytes than predicted";
  if (plan.channel_time_s && !plan.byte_terms_agree(judged.run.result.channel_time_s, *plan.channel_time_s))
    return std::string(name(collective)) + ": other byte terms than predicted";
  if (plan.channel_time_s.has_value() == machine.cost.one_speed() && machine.topology.living_nodes() > 1)
    return std::string(name(collective)) + ": byte terms are predicted where channels are alike, or are not where they differ";
  return "";
}
std::string complaint(const Topology& topology, Collective collective, Bytes bytes) {
  return complaint(packets(topology), collective, bytes);
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

TEST_CASE("machines of several speeds are lived with, and take the time that is predicted", "[conformance]") {
  std::mt19937_64 random(support::seed());
  int machines = 0;
  for (int i = 0; i < 24; ++i) {
    const Topology whole = support::random_topology(random, 60);
    if (whole.nodes() < 2) continue;
    std::vector<double> speeds;
    const std::uint64_t most = std::uint64_t{1} << support::random_below(random, 6);
    for (Dimension d = 0; d < whole.dimensions(); ++d)
      speeds.push_back(1e-9 * static_cast<double>(1 + support::random_below(random, most)));
    try {
      const Faults faults = support::random_faults(random, whole, 2, 1, 2);
      const Topology topology = support::random_below(random, 2) == 0 ? whole : whole.with_faults(faults);
      const Machine machine = packets(topology, speeds, 1e-9 * static_cast<double>(1 + support::random_below(random, 1000)));
      const Bytes bytes = 2 * support::random_below(random, 3000);
      CAPTURE(support::seed(), i, topology.text(), speeds, bytes);
      for (const Collective collective : all) REQUIRE(complaint(machine, collective, bytes) == "");
      ++machines;
    } catch (const InputError&) {  // cut apart
    }
  }
  CHECK(machines > 10);
}

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
