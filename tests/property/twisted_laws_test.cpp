// Twisted tori: links lead back, nodes are alike, distances and routes are shortest.
#include <queue>
#include <string>
#include <vector>

#include <torus/error.hpp>
#include <torus/route.hpp>
#include <torus/topology.hpp>

#include "tests/support/catch.hpp"

using namespace torus;

namespace {

const std::vector<const char*> twisted_shapes{"2x4t",   "4x2t",   "3x6t",   "5x10t",  "2x2x4t", "2x4x2t",
                                              "4x2x2t", "2x4x4t", "4x2x4t", "3x3x6t", "3x6x6t", "4x4x8t"};

std::vector<std::int32_t> distances(const Topology& topology, NodeId from) {
  std::vector<std::int32_t> distance(topology.nodes(), -1);
  std::queue<NodeId> queue;
  queue.push(from);
  distance[from] = 0;
  for (; !queue.empty(); queue.pop()) {
    const NodeId node = queue.front();
    topology.each_link(node, [&](Dimension, std::int32_t, NodeId to) {
      if (distance[to] >= 0) return;
      distance[to] = distance[node] + 1;
      queue.push(to);
    });
  }
  return distance;
}

NodeId walk(const Topology& topology, NodeId at, const Route& route) {
  for (const Leg& leg : route) at = *topology.neighbour(at, leg.dimension, leg.hops);
  return at;
}

}  // namespace

TEST_CASE("a hop over the end of a short dimension adds half of each long one", "[property]") {
  const Topology topology("4x4x8t");
  const auto at = [&](std::int32_t x, std::int32_t y, std::int32_t z) { return topology.rank(std::vector<std::int32_t>{x, y, z}); };
  CHECK(topology.neighbour(at(3, 1, 2), 0, 1) == at(0, 1, 6));
  CHECK(topology.neighbour(at(0, 1, 2), 0, -1) == at(3, 1, 6));
  CHECK(topology.neighbour(at(1, 0, 7), 1, -1) == at(1, 3, 3));
  CHECK(topology.neighbour(at(1, 1, 7), 2, 1) == at(1, 1, 0));
  CHECK(topology.neighbour(at(1, 2, 3), 1, 8) == at(1, 2, 3));
  CHECK(topology.neighbour(at(1, 2, 3), 1, 4) == at(1, 2, 7));
  const Topology two("4x8x8t");
  CHECK(two.neighbour(two.rank(std::vector<std::int32_t>{3, 1, 6}), 0, 1) == two.rank(std::vector<std::int32_t>{0, 5, 2}));
}

TEST_CASE("links of a twisted torus lead back, and long legs are their hops one by one", "[property]") {
  for (const char* shape : twisted_shapes) {
    const Topology topology(shape);
    CAPTURE(shape);
    CHECK(topology.text() == shape);
    CHECK(Topology::parse(topology.text()) == topology);
    CHECK(!(topology == Topology(std::vector<DimensionShape>(topology.shape().begin(), topology.shape().end()))));
    for (NodeId node = 0; node < topology.nodes(); ++node) {
      topology.each_link(node, [&](Dimension d, std::int32_t hop, NodeId to) {
        CHECK(topology.neighbour(to, d, topology.reverse(d, hop)) == node);
        NodeId at = node;
        for (std::int32_t hops = 1; hops <= topology.circle(d); ++hops) {
          at = *topology.neighbour(at, d, hop);
          CHECK(topology.neighbour(node, d, hop * hops) == at);
        }
        CHECK(at == node);
      });
    }
  }
}

TEST_CASE("all nodes of a twisted torus are alike, and distances and routes are shortest", "[property]") {
  for (const char* shape : twisted_shapes) {
    const Topology topology(shape);
    CAPTURE(shape);
    std::vector<Dimension> order;
    for (Dimension d = topology.dimensions(); d > 0; --d) order.push_back(d - 1);
    std::vector<std::int32_t> sorted_of_0 = distances(topology, 0);
    const std::int32_t diameter = *std::max_element(sorted_of_0.begin(), sorted_of_0.end());
    std::sort(sorted_of_0.begin(), sorted_of_0.end());
    CHECK(topology.diameter() == diameter);
    for (NodeId from = 0; from < topology.nodes(); ++from) {
      std::vector<std::int32_t> distance = distances(topology, from);
      CHECK(topology.eccentricity(from) == diameter);
      for (NodeId to = 0; to < topology.nodes(); ++to) {
        CHECK(topology.distance(from, to) == distance[to]);
        const Route route = shortest_route(topology, from, to, order);
        CHECK(walk(topology, from, route) == to);
        std::int32_t hops = 0;
        for (const Leg& leg : route) hops += std::abs(leg.hops);
        CHECK(hops == distance[to]);
      }
      std::sort(distance.begin(), distance.end());
      CHECK(distance == sorted_of_0);
    }
  }
}

TEST_CASE("what cannot be twisted is refused with a shape that would do", "[property]") {
  for (const char* shape : {"4x4t", "4t", "4x4x4t", "4x12t", "4x4mx8t", "mesh:4x8t", "4x8cxt", "1x2t", "2x2x2x4t", "4tx8", "t", "4x8tt"}) {
    CAPTURE(shape);
    CHECK_THROWS_AS(Topology(shape), InputError);
  }
  try {
    Topology("4x4x4t");
  } catch (const InputError& error) {
    CHECK(std::string(error.what()).find("4x4x8t would do") != std::string::npos);
  }
}
