#include <map>
#include <set>

#include <torus/topology.hpp>

#include "algorithms/total_exchange/direct.hpp"
#include "tests/support/catch.hpp"

using namespace torus;
using namespace torus::total_exchange;

TEST_CASE("in a class of ring patterns each pattern crosses every channel of its direction once and permutes four nodes", "[unit]") {
  for (const std::int32_t n : {4, 8, 12, 16, 20, 32}) {
    CAPTURE(n);
    const std::vector<RingMove> moves = ring_patterns(n);
    REQUIRE(moves.size() == static_cast<std::size_t>(n / 2 * n));
    std::map<std::pair<std::int32_t, std::int32_t>, int> forward_or_backward;  // (node, offset modulo n): how often
    for (std::int32_t c = 0; c < n / 2; ++c) {
      std::map<std::int32_t, std::vector<std::int32_t>> nodes;
      for (std::int32_t x = 0; x < n; ++x) nodes[moves[static_cast<std::size_t>(c * n + x)].pattern].push_back(x);
      REQUIRE(nodes.size() == static_cast<std::size_t>(n / 4));
      CHECK(nodes.begin()->first == 0);
      CHECK(nodes.rbegin()->first == n / 4 - 1);
      for (const auto& [pattern, members] : nodes) {
        CAPTURE(c, pattern);
        REQUIRE(members.size() == 4);
        for (const bool forward : {true, false}) {
          std::map<std::int32_t, int> crossed;
          std::set<std::int32_t> targets;
          for (const std::int32_t x : members) {
            const RingMove& move = moves[static_cast<std::size_t>(c * n + x)];
            const std::int32_t hops = forward ? move.forward : move.backward;
            CHECK((forward ? hops >= 0 : hops <= 0));
            ++forward_or_backward[{x, modulo(hops, n)}];
            targets.insert(modulo(x + hops, n));
            for (std::int32_t i = 0; i < std::abs(hops); ++i) ++crossed[modulo(forward ? x + i : x - i, n)];
          }
          CHECK(targets == std::set<std::int32_t>(members.begin(), members.end()));
          CHECK(crossed.size() == static_cast<std::size_t>(n));
          for (const auto& [channel, times] : crossed) CHECK(times == 1);
        }
      }
    }
    CHECK(forward_or_backward.size() == static_cast<std::size_t>(n * n));
    for (const auto& [message, times] : forward_or_backward) CHECK(times == 1);
  }
}
