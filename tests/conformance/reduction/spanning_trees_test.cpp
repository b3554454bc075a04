// All-reduce over undirected spanning trees.
#include "algorithms/trees/spanning_trees.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <torus/bounds.hpp>
#include <torus/catalogue.hpp>

#include "algorithms/trees/tree_directions.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/judged.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

const Algorithm& over_spanning_trees() { return *find_algorithm(Collective::allreduce, "spanning-trees"); }

Request vector_of(Bytes bytes, std::uint32_t parts = 0, std::uint32_t segments = 0) {
  Request request = support::reduction_request(Collective::allreduce, bytes, {Operator::sum, ElementType::u16});
  request.parameters.set("parts", parts);
  request.parameters.set("segments", segments);
  return request;
}

Machine packet_machine(const Topology& topology, std::vector<double> speeds = {}, double start_up_s = 1e-6) {
  CostModel cost;
  cost.start_up_s = start_up_s;
  cost.dimension_byte_s = std::move(speeds);
  return Machine(topology, 0, Switching::packet, Contention::forbid, {}, cost);
}

std::vector<Topology> meshes_and_holes() {
  std::vector<Topology> shapes = support::telling_shapes();
  for (const char* shape : {"mesh:4x4", "mesh:5x5", "mesh:2x7", "mesh:3x8", "mesh:2x2x3", "4x8t", "3x6t", "4x4x2m"})
    shapes.push_back(Topology::parse(shape));
  std::mt19937_64 random(support::seed());
  for (const char* shape : {"6x6", "4x4x3", "mesh:5x6", "2x5", "4x8t"}) {
    const Topology whole = Topology::parse(shape);
    for (int i = 0; i < 3; ++i) {
      try {
        shapes.push_back(whole.with_faults(support::random_faults(random, whole, 3, 2, 0)));
      } catch (const InputError&) {
        --i;  // they cut it apart
      }
    }
  }
  return shapes;
}

/// The trees of a packing span the machine, and no link is in too many.
void check_packing(const LinkGraph& graph, const TreeCount& count) {
  std::vector<std::uint32_t> load(graph.links());
  const std::vector<SpanningTree> trees = pack_spanning_trees(graph, count);
  REQUIRE(trees.size() == count.trees);
  for (const SpanningTree& tree : trees) {
    REQUIRE(tree.order.size() == graph.nodes().size());
    std::vector<bool> in(graph.ranks());
    for (const NodeId node : tree.order) {
      REQUIRE_FALSE(in[node]);
      in[node] = true;
      if (node == tree.root) {
        REQUIRE(tree.link[node] == LinkGraph::none);
        continue;
      }
      REQUIRE(in[tree.parent(graph, node)]);
      ++load[tree.link[node]];
    }
  }
  for (std::uint32_t link = 0; link < graph.links(); ++link) REQUIRE(load[link] <= count.per_link * graph.capacity(link));
}

/// q/p of all p up to 64, at least.
double load_of(const char* shape) {
  const TreeCount ratio = least_ratio(LinkGraph(Topology::parse(shape)), 64);
  return records(ratio, 64).back().load();
}

}  // namespace

TEST_CASE("packed spanning trees span the machine and share its links", "[conformance]") {
  for (const Topology& topology : meshes_and_holes()) {
    if (topology.living_nodes() < 2 || topology.nodes() > 64) continue;
    CAPTURE(topology.text());
    const LinkGraph graph(topology);
    const TreeCount ratio = least_ratio(graph, 64);
    for (const std::uint32_t trees : {1U, 3U, 16U}) check_packing(graph, with_trees(ratio, trees));
  }
}

TEST_CASE("packed spanning trees give fast links more trees", "[conformance]") {
  for (const char* shape : {"mesh:5x5", "4x3", "mesh:3x3x2"}) {
    const Topology topology = Topology::parse(shape);
    std::vector<double> speeds{1, 1.5, 2};
    speeds.resize(static_cast<std::size_t>(topology.dimensions()));
    const Machine machine = packet_machine(topology, speeds);
    CAPTURE(shape);
    const LinkGraph graph(machine, LinkCapacities(machine, 6));
    const TreeCount ratio = least_ratio(graph, 64);
    for (const std::uint32_t trees : {1U, 3U, 25U}) check_packing(graph, with_trees(ratio, trees));
  }
  // 24 of 25 nodes over links of 20 x 3 and 20 x 2; lines of fast links as classes, over three slow links each.
  const Machine mesh = packet_machine(Topology::parse("mesh:5x5"), {2, 3});
  const TreeCount ratio = least_ratio(LinkGraph(mesh, LinkCapacities(mesh, 3)), 64);
  CHECK(ratio == TreeCount{25, 6});
  const Machine lines = packet_machine(Topology::parse("mesh:4x4"), {1, 8});
  std::vector<NodeId> classes;
  CHECK(least_ratio(LinkGraph(lines, LinkCapacities(lines, 8)), 64, &classes) == TreeCount{4, 1});
  REQUIRE(classes.size() == 16);
  CHECK(classes[1] != classes[2]);
  CHECK(classes[1] == classes[13]);
}

TEST_CASE("the trees of a turn go over a link in one direction", "[conformance]") {
  for (const auto& [shape, trees] : {std::pair("mesh:5x5", 24U), std::pair("4x4", 30U), std::pair("mesh:3x6", 40U)}) {
    CAPTURE(shape);
    const Machine machine = packet_machine(Topology::parse(shape), {2, 3});
    const LinkGraph graph(machine, LinkCapacities(machine, 3));
    const TreeCount count = with_trees(least_ratio(graph, 64), trees);
    const std::vector<SpanningTree> packed = pack_spanning_trees(graph, count);
    const std::vector<SpanningTree> even = tree_times::with_even_directions(graph, count.per_link, packed, trees - 4);
    REQUIRE(even.size() + 4 >= trees);
    std::vector<std::array<std::uint32_t, 2>> going(graph.links());
    for (const SpanningTree& tree : even) {
      REQUIRE(tree.middle == LinkGraph::none);
      REQUIRE(tree.order.size() == graph.ranks());
      std::vector<bool> in(graph.ranks());
      for (const NodeId node : tree.order) {
        REQUIRE_FALSE(in[node]);
        in[node] = true;
        REQUIRE((node == tree.root) == (tree.link[node] == LinkGraph::none));
        if (node == tree.root) continue;
        REQUIRE(in[tree.parent(graph, node)]);
        ++going[tree.link[node]][graph.link(tree.link[node]).to == node ? 0 : 1];
      }
    }
    for (std::uint32_t link = 0; link < graph.links(); ++link) {
      const std::uint32_t lanes = graph.capacity(link);
      CHECK((going[link][0] + lanes - 1) / lanes + (going[link][1] + lanes - 1) / lanes <= count.per_link);
    }
    CHECK(tree_times::with_even_directions(graph, 1, packed, trees).empty());
  }
}

TEST_CASE("long vectors over spanning trees come near the bound where links differ in speed", "[conformance]") {
  struct Wanted {
    const char* shape;
    std::vector<double> per_s;  // GiB
    double start_up_s;
  };
  const Wanted all_wanted[]{{"mesh:5x5", {75, 50}, 0.5e-6}, {"mesh:5x8", {35, 80}, 1e-6}, {"4x4", {2, 1}, 1e-6}};
  for (const auto& [shape, per_s, start_up_s] : all_wanted) {
    CAPTURE(shape);
    std::vector<double> speeds;
    for (const double rate : per_s) speeds.push_back(0x1p-30 / rate);
    const Machine machine = packet_machine(Topology::parse(shape), speeds, start_up_s);
    const Request request = vector_of(Bytes{1} << 34U);
    CHECK(over_spanning_trees().plan(machine, request).model_time_s(machine.cost) <
          1.07 * lower_bounds(machine, request).model_time_s(machine.cost));
  }
}

TEST_CASE("the least load of a link is that of single nodes on a mesh, and of the worst partition elsewhere", "[conformance]") {
  CHECK(load_of("mesh:8x8") == 9.0 / 16);
  CHECK(load_of("mesh:5x5") == 3.0 / 5);
  CHECK(load_of("mesh:3x3x3") == 13.0 / 27);
  CHECK(load_of("8x8") == 0.5);  // 63/128 takes 128 trees
  CHECK(load_of("9m") == 1);
  CHECK(load_of("2") == 0.5);  // two links between two nodes
  // Two squares of 4x4, joined by a link: it is in every tree.
  std::vector<Link> dead;
  for (NodeId row = 1; row < 4; ++row) dead.push_back({row * 8 + 3, 1, 1});
  const LinkGraph bridge(Topology::parse("mesh:4x8").with_faults({.dead_links = dead}));
  CHECK(records(least_ratio(bridge, 64), 64).back() == TreeCount{1, 1});
}

TEST_CASE("on a mesh of 8x8 trees that are longer than they must be take fewer steps", "[conformance]") {
  const Machine machine = packet_machine(Topology::parse("mesh:8x8"));
  for (const auto& [mebibytes, most] : {std::pair{64, 1.14}, {256, 1.07}}) {
    const Request request = vector_of(Bytes(mebibytes) << 20U);
    const double bound_s = lower_bounds(machine, request).simple_model_time_s(machine.cost);
    CHECK(over_spanning_trees().plan(machine, request).model_time_s(machine.cost) < most * bound_s);
  }
}

TEST_CASE("long vectors over spanning trees come near the lower bound on meshes", "[conformance]") {
  for (const char* shape : {"mesh:4x4", "mesh:4x6", "mesh:8x8", "mesh:3x3x3"}) {
    CAPTURE(shape);
    const Machine machine = packet_machine(Topology::parse(shape));
    const Request request = vector_of(Bytes{1} << 31U);
    const Plan plan = over_spanning_trees().plan(machine, request);
    const Bounds bounds = lower_bounds(machine, request);
    CHECK(plan.channel_bytes >= bounds.channel_bytes);
    CHECK(plan.model_time_s(machine.cost) < 1.05 * bounds.model_time_s(machine.cost));
  }
}

TEST_CASE("spanning trees are refused where planning would take long", "[conformance]") {
  const auto why = [](const char* shape, const Request& request) {
    return why_not(over_spanning_trees(), packet_machine(Topology::parse(shape)), request);
  };
  CHECK(why("mesh:40x40", vector_of(64)).find("mesh:20x20") != std::string::npos);
  CHECK(why("mesh:8x8", vector_of(64, 65)).find("64 would do") != std::string::npos);
  CHECK(why("mesh:32x32", vector_of(64, 33)).find("32 would do") != std::string::npos);
}
