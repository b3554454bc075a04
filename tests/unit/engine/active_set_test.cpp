#include "runtime/engine/workers/active_set.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "tests/support/catch.hpp"

using namespace torus;
using namespace torus::detail;

namespace {

/// All nodes of a set in the order in which it gives them; forgets them.
std::vector<NodeId> take_all(ActiveSet& set, unsigned workers) {
  std::vector<ActiveSet::Group> groups;
  set.take_groups(workers, groups);
  std::vector<NodeId> nodes;
  for (const ActiveSet::Group group : groups) {
    std::array<NodeId, ActiveSet::group_nodes> room{};
    nodes.insert(nodes.end(), room.data(), set.take_nodes(group, room.data()));
  }
  return nodes;
}

}  // namespace

TEST_CASE("a set gives what any worker has put in, once, ascending, and forgets it", "[unit]") {
  for (const NodeId nodes : {1U, 64U, 65U, 4096U, 4097U, 300'000U}) {
    for (const unsigned workers : {1U, 2U, 3U, 40U}) {  // more than there are bits in a group
      CAPTURE(nodes, workers);
      ActiveSet set(nodes, workers);
      std::mt19937 random(nodes + workers);
      for (const std::size_t count : {0U, 1U, 500U, 5000U}) {
        std::set<NodeId> wanted;
        std::map<NodeId, std::set<unsigned>> who;
        for (unsigned i = 0; i < count; ++i) {
          const auto node = static_cast<NodeId>(random() % nodes);
          const auto worker = static_cast<unsigned>(random() % workers);
          REQUIRE(set.part(worker).insert(node) == who[node].insert(worker).second);
          wanted.insert(node);
        }
        CHECK(take_all(set, workers) == std::vector<NodeId>(wanted.begin(), wanted.end()));
        CHECK(take_all(set, workers).empty());
      }
    }
  }
}

TEST_CASE("a group says which workers have put something in", "[unit]") {
  ActiveSet set(256, 34);
  set.part(0).insert(3);
  set.part(1).insert(70);
  set.part(33).insert(130);  // 33 shares its bit with 1
  set.part(2).insert(131);
  std::vector<ActiveSet::Group> groups;
  set.take_groups(34, groups);
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].number == 0);
  CHECK(groups[0].workers == 1U);
  CHECK(groups[1].number == 1);
  CHECK(groups[1].workers == 2U);
  CHECK(groups[2].number == 2);
  CHECK(groups[2].workers == 6U);
}

TEST_CASE("only the groups of the first workers are asked for", "[unit]") {
  ActiveSet set(256, 3);
  set.part(1).insert(70);
  set.part(2).insert(130);
  CHECK(take_all(set, 2) == std::vector<NodeId>{70});
  CHECK(take_all(set, 3) == std::vector<NodeId>{130});
}

TEST_CASE("a set that is cleared half way is empty", "[unit]") {
  ActiveSet set(10'000, 2);
  set.part(0).insert(0);
  set.part(1).insert(9'999);
  std::vector<ActiveSet::Group> groups;
  set.take_groups(2, groups);  // the nodes of the groups stay
  set.part(1).insert(5'000);
  set.clear(0, 10'000);
  CHECK(take_all(set, 2).empty());
  CHECK(set.part(0).insert(0));
  CHECK(set.part(1).insert(9'999));
  CHECK(take_all(set, 2) == std::vector<NodeId>{0, 9'999});
}
