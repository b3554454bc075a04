#include <torus/machine.hpp>
#include <torus/route.hpp>

#include "tests/support/catch.hpp"

using namespace torus;

TEST_CASE("the shortest route takes the dimensions in the machine's order", "[unit]") {
  const Topology topology = Topology::parse("8x8");
  const NodeId from = topology.rank(Coordinates{1, 1});
  const NodeId to = topology.rank(Coordinates{3, 0});
  CHECK(shortest_route(topology, from, to, Machine(topology).routing) == Route{{0, 2}, {1, -1}});
  const Machine other(topology, 0, Switching::wormhole, Contention::forbid, {1, 0});
  CHECK(shortest_route(topology, from, to, other.routing) == Route{{1, -1}, {0, 2}});
}

TEST_CASE("a route to where one is has no leg", "[unit]") {
  const Topology topology = Topology::parse("8x8");
  CHECK(shortest_route(topology, 5, 5, Machine(topology).routing).empty());
}

TEST_CASE("a leg crosses as many channels as it has hops, one in a complete dimension", "[unit]") {
  const Topology topology = Topology::parse("8x8mx8c");
  CHECK(hops_of(topology, {0, -3}) == 3);
  CHECK(hops_of(topology, {1, 7}) == 7);
  CHECK(hops_of(topology, {2, 5}) == 1);
  CHECK(hops_of(topology, {2, 0}) == 0);
}
