// Whether faults cut a machine apart: found out near the faults, the same as by a search of all nodes.
#include <random>
#include <set>
#include <vector>

#include <torus/topology.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

bool connected(const Topology& whole, const Faults& faults) {
  const std::set<NodeId> dead_nodes(faults.dead_nodes.begin(), faults.dead_nodes.end());
  std::set<std::pair<NodeId, std::int32_t>> dead_channels;
  for (const Link& link : faults.dead_links) {
    const NodeId other = *whole.neighbour(link.node, link.dimension, link.hop);
    dead_channels.insert({link.node, whole.slot(link.dimension, link.hop)});
    dead_channels.insert({other, whole.slot(link.dimension, whole.reverse(link.dimension, link.hop))});
  }
  std::set<NodeId> reached;
  std::vector<NodeId> stack;
  for (NodeId node = 0; node < whole.nodes() && stack.empty(); ++node) {
    if (!dead_nodes.contains(node)) stack.push_back(node);
  }
  if (stack.empty()) return false;
  reached.insert(stack.front());
  while (!stack.empty()) {
    const NodeId node = stack.back();
    stack.pop_back();
    whole.each_link(node, [&](Dimension d, std::int32_t hop, NodeId to) {
      if (dead_nodes.contains(to) || dead_channels.contains({node, whole.slot(d, hop)})) return;
      if (reached.insert(to).second) stack.push_back(to);
    });
  }
  return reached.size() + dead_nodes.size() == whole.nodes();
}

}  // namespace

TEST_CASE("a machine is refused exactly when its faults cut it apart", "[property]") {
  std::mt19937_64 random(support::seed());
  int apart = 0, whole_again = 0;
  for (int i = 0; i < 3000; ++i) {
    const Topology whole = support::random_topology(random, 60);
    const Faults faults = support::random_faults(random, whole, 7, 5, 0);
    const bool expected = connected(whole, faults);
    CAPTURE(support::seed(), i, whole.text());
    if (expected) {
      CHECK_NOTHROW(whole.with_faults(faults));
    } else {
      CHECK_THROWS_AS(whole.with_faults(faults), InputError);
    }
    ++(expected ? whole_again : apart);
  }
  CHECK(apart > 300);
  CHECK(whole_again > 300);
}

TEST_CASE("a long ring is searched as a whole, since no way round is near", "[property]") {
  const Topology ring("20000");
  CHECK_NOTHROW(ring.with_faults({.dead_links = {{5, 0, +1}}}));
  CHECK_NOTHROW(ring.with_faults({.dead_nodes = {5, 6}}));
  CHECK_THROWS_AS(ring.with_faults({.dead_links = {{5, 0, +1}, {9000, 0, +1}}}), InputError);
  CHECK_THROWS_AS(ring.with_faults({.dead_nodes = {5, 9000}}), InputError);
}
