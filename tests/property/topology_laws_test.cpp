// Laws of topologies and routes, over the telling shapes and random ones, against walks and searches that know no formula.
#include <algorithm>
#include <random>
#include <set>

#include <torus/machine.hpp>
#include <torus/route.hpp>
#include <torus/topology.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/reference.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

std::vector<Topology> shapes() {
  std::vector<Topology> out = support::telling_shapes();
  std::mt19937_64 random(support::seed());
  for (int i = 0; i < 60; ++i) out.push_back(support::random_topology(random, 300));
  return out;
}

}  // namespace

TEST_CASE("ranks and coordinates go there and back", "[property]") {
  CAPTURE(support::seed());
  for (const Topology& topology : shapes()) {
    CAPTURE(topology.text());
    for (NodeId rank = 0; rank < topology.nodes(); ++rank) {
      const Coordinates at = topology.coordinates(rank);
      const std::vector<std::int32_t> slow = support::coordinates_of(topology, rank);
      if (!std::equal(at.begin(), at.end(), slow.begin(), slow.end()) || topology.rank(at) != rank) FAIL("rank " << rank);
      for (Dimension d = 0; d < topology.dimensions(); ++d) {
        if (topology.coordinate(rank, d) != at[static_cast<std::size_t>(d)]) FAIL("rank " << rank << ", dimension " << d);
      }
    }
  }
}

TEST_CASE("a shape's text reads back as the shape", "[property]") {
  CAPTURE(support::seed());
  for (const Topology& topology : shapes()) CHECK(Topology::parse(topology.text()) == topology);
}

TEST_CASE("neighbours are where walking says, and slots number a node's channels", "[property]") {
  CAPTURE(support::seed());
  for (const Topology& topology : shapes()) {
    CAPTURE(topology.text());
    std::uint64_t channels = 0;
    std::size_t most = 0;
    for (NodeId node = 0; node < topology.nodes(); ++node) {
      std::set<std::int32_t> slots;
      const std::vector<support::Channel> out = support::channels_of(topology, node);
      for (const support::Channel& c : out) {
        if (topology.neighbour(node, c.dimension, c.direction) != c.to) FAIL("node " << node << ", dimension " << c.dimension);
        const std::int32_t slot = topology.slot(c.dimension, c.direction);
        if (slot < 0 || slot >= topology.channel_slots() || !slots.insert(slot).second) FAIL("slot " << slot << " of node " << node);
        if (slot < topology.first_slot(c.dimension)) FAIL("slot " << slot << " of node " << node);
      }
      channels += out.size();
      most = std::max(most, out.size());
    }
    CHECK(topology.channels() == channels);
    CHECK(static_cast<std::size_t>(topology.max_ports()) == std::max<std::size_t>(most, 1));
  }
}

TEST_CASE("walking a way and back ends where it began", "[property]") {
  CAPTURE(support::seed());
  std::mt19937_64 random(support::seed());
  for (const Topology& topology : shapes()) {
    CAPTURE(topology.text());
    for (int i = 0; i < 100; ++i) {
      const NodeId from = support::random_below(random, topology.nodes());
      const auto d = static_cast<Dimension>(support::random_below(random, static_cast<std::uint64_t>(topology.dimensions())));
      const auto hops = static_cast<std::int32_t>(support::random_below(random, 41)) - 20;
      const std::optional<NodeId> to = topology.neighbour(from, d, hops);
      if (topology.wiring(d) != Wiring::line) REQUIRE(to);
      if (to) CHECK(topology.neighbour(*to, d, -hops) == from);
    }
  }
}

TEST_CASE("distances, eccentricities and the diameter are those of a search", "[property]") {
  CAPTURE(support::seed());
  support::Share share(3);
  for (const Topology& topology : shapes()) {
    if (!share.takes_turn()) continue;
    CAPTURE(topology.text());
    std::int32_t diameter = 0;
    for (NodeId from = 0; from < topology.nodes(); ++from) {
      const std::vector<std::int32_t> distance = support::distances_from(topology, from);
      for (NodeId to = 0; to < topology.nodes(); ++to) {
        if (topology.distance(from, to) != distance[to]) FAIL("from " << from << " to " << to);
      }
      const std::int32_t eccentricity = *std::max_element(distance.begin(), distance.end());
      if (topology.eccentricity(from) != eccentricity) FAIL("eccentricity of " << from);
      diameter = std::max(diameter, eccentricity);
    }
    CHECK(topology.diameter() == diameter);
  }
}

TEST_CASE("a shortest route leads there in as many hops as the distance, in the order asked for", "[property]") {
  CAPTURE(support::seed());
  std::mt19937_64 random(support::seed());
  for (const Topology& topology : shapes()) {
    CAPTURE(topology.text());
    std::vector<Dimension> order = Machine(topology).routing;
    for (int i = 0; i < 100; ++i) {
      std::shuffle(order.begin(), order.end(), random);
      const NodeId from = support::random_below(random, topology.nodes());
      const NodeId to = support::random_below(random, topology.nodes());
      NodeId at = from;
      std::int32_t hops = 0;
      auto next = order.begin();
      for (const Leg& leg : shortest_route(topology, from, to, order)) {
        next = std::find(next, order.end(), leg.dimension);
        REQUIRE(next != order.end());
        ++next;
        hops += hops_of(topology, leg);
        const std::optional<NodeId> there = topology.neighbour(at, leg.dimension, leg.hops);
        REQUIRE(there);
        at = *there;
      }
      CHECK(at == to);
      CHECK(hops == topology.distance(from, to));
    }
  }
}
