#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include <torus/block.hpp>
#include <torus/placement.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

TEST_CASE("every single damaged byte is found, at its place", "[property]") {
  CAPTURE(support::seed());
  std::mt19937_64 random(support::seed());
  for (const std::size_t length : {1U, 2U, 7U, 8U, 9U, 15U, 16U, 63U, 64U, 65U, 1000U, 4099U}) {
    CAPTURE(length);
    const auto id = static_cast<BlockId>(random());
    const std::uint64_t seed = random();
    std::vector<std::byte> bytes(length);
    fill_block(bytes, seed, id);
    REQUIRE_FALSE(first_wrong_byte(bytes, seed, id));
    for (std::size_t at = 0; at < length; ++at) {
      const std::byte right = bytes[at];
      bytes[at] = right ^ static_cast<std::byte>(1U << support::random_below(random, 8));
      const std::optional<WrongByte> wrong = first_wrong_byte(bytes, seed, id);
      if (!wrong || wrong->offset != at || wrong->got != bytes[at] || wrong->wanted != right)
        FAIL("damage at " << at << " was not found there");
      bytes[at] = right;
    }
  }
}

TEST_CASE("two blocks never share a word at the same place", "[property]") {
  constexpr std::size_t words = 64;
  std::map<std::size_t, std::set<std::uint64_t>> seen;
  for (BlockId id = 0; id < 500; ++id) {
    std::vector<std::uint64_t> block(words);
    fill_block(std::as_writable_bytes(std::span(block)), support::seed(), id);
    for (std::size_t i = 0; i < words; ++i) {
      if (!seen[i].insert(block[i]).second) FAIL("block " << id << ", word " << i);
    }
  }
}

TEST_CASE("a placement's lists agree with its questions", "[property]") {
  CAPTURE(support::seed());
  std::mt19937_64 random(support::seed());
  for (int round = 0; round < 60; ++round) {
    const NodeId nodes = 1 + support::random_below(random, 40);
    Faults faults;
    for (NodeId node = 0; node + 1 < nodes; ++node) {
      if (round % 2 == 1 && support::random_below(random, 4) == 0) faults.dead_nodes.push_back(node);
    }
    const Topology topology = Topology({{static_cast<std::int32_t>(nodes), Wiring::complete}}).with_faults(faults);
    const NodeId root = support::living_from(topology, support::random_below(random, nodes));
    const Bytes bytes = support::random_below(random, 100);
    const std::uint32_t segments = 1 + support::random_below(random, 5);
    std::vector<NodeId> sources;
    for (NodeId node = 0; node < nodes; ++node) {
      if (topology.living(node) && support::random_below(random, 3) == 0) sources.push_back(node);
    }
    for (const Placement& placement :
         {Placement::replicated(topology, {root}, bytes, segments), Placement::replicated(topology, sources, bytes, segments),
          Placement::personalised(topology, bytes), Placement::scattered(topology, root, bytes), Placement::gathered(topology, root, bytes),
          Placement::resident(topology, segments, bytes)}) {
      std::uint64_t initial = 0;
      std::uint64_t wanted = 0;
      std::set<BlockId> all;
      for (NodeId node = 0; node < nodes; ++node) {
        initial += placement.initial_count(node);
        wanted += placement.wanted_count(node);
        BlockId last = 0;
        for (std::uint64_t i = 0; i < placement.initial_count(node); ++i) {
          const BlockId id = placement.initial(node, i);
          CHECK(placement.exists(id));
          CHECK((i == 0 || id > last));
          CHECK(all.insert(id).second);  // no block starts at two nodes
          last = id;
        }
        std::set<BlockId> mine;
        for (std::uint64_t i = 0; i < placement.wanted_count(node); ++i) {
          const BlockId id = placement.wanted(node, i);
          CHECK(placement.exists(id));
          CHECK(placement.bytes(id) <= placement.longest());
          CHECK((i == 0 || id > last));
          CHECK(mine.insert(id).second);
          last = id;
        }
        for (BlockId id = 0; id < std::uint64_t{nodes} * std::max(nodes, segments) + 3; ++id) {
          if (placement.exists(id) && placement.wants(node, id) != mine.contains(id)) FAIL("node " << node << ", block " << id);
        }
      }
      CHECK(initial == placement.initial_total());
      CHECK(wanted == placement.wanted_total());
      std::map<std::uint32_t, int> buckets;
      for (const BlockId id : all) {
        CHECK(placement.bucket(id) < placement.buckets());
        if (++buckets[placement.bucket(id)] > 1) CHECK_FALSE(placement.one_block_a_bucket());
      }
    }
  }
}
