// The book of barriers against sets that are kept by hand.
#include <random>
#include <set>

#include "runtime/trace/contributors.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

TEST_CASE("a node has heard of all whom the senders of its messages had heard of when the step began", "[unit]") {
  std::mt19937_64 random(support::seed());
  const auto below = [&](NodeId n) { return static_cast<NodeId>(support::random_below(random, n)); };
  for (int i = 0; i < 60; ++i) {
    const NodeId nodes = 2 + below(130);  // sets of one word, two and three
    std::set<NodeId> dead;
    for (NodeId left = below(3); left > 0 && dead.size() + 1 < nodes; --left) dead.insert(below(nodes));
    const Topology topology =
        Topology({{static_cast<std::int32_t>(nodes), Wiring::complete}}).with_faults({.dead_nodes = {dead.begin(), dead.end()}});
    detail::Heard heard{detail::Participants(topology)};
    std::vector<std::set<NodeId>> known(nodes, dead);
    for (NodeId node = 0; node < nodes; ++node) known[node].insert(node);
    for (int step = 0; step < 5; ++step) {
      const auto before = known;
      std::vector<std::uint64_t> news;
      for (NodeId from = below(nodes), left = 2 * nodes; left > 0; --left) {
        if (below(3) == 0) from = below(nodes);
        const NodeId to = below(nodes);
        heard.sent(from, to);
        const std::size_t had = known[to].size();
        known[to].insert(before[from].begin(), before[from].end());
        news.push_back(known[to].size() - had);
      }
      CAPTURE(support::seed(), i, nodes, step);
      CHECK(heard.end_step() == news);
      for (NodeId node = 0; node < nodes; ++node) {
        NodeId first = 0;
        while (first < nodes && known[node].contains(first)) ++first;
        CHECK(heard.unheard(node).value_or(nodes) == first);
      }
    }
  }
}
