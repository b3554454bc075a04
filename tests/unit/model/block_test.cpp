#include <set>
#include <string>
#include <vector>

#include <torus/block.hpp>
#include <torus/error.hpp>
#include <torus/placement.hpp>

#include "tests/support/catch.hpp"

using namespace torus;

namespace {

std::vector<std::byte> filled(std::size_t length, std::uint64_t seed, BlockId id) {
  std::vector<std::byte> bytes(length);
  fill_block(bytes, seed, id);
  return bytes;
}

std::vector<BlockId> initial_of(const Placement& placement, NodeId node) {
  std::vector<BlockId> out;
  for (std::uint64_t i = 0; i < placement.initial_count(node); ++i) out.push_back(placement.initial(node, i));
  return out;
}

std::vector<BlockId> wanted_of(const Placement& placement, NodeId node) {
  std::vector<BlockId> out;
  for (std::uint64_t i = 0; i < placement.wanted_count(node); ++i) out.push_back(placement.wanted(node, i));
  return out;
}

/// A ring of so many nodes.
Topology of(std::int32_t nodes) { return Topology({{nodes, Wiring::ring}}); }

using Ids = std::vector<BlockId>;

}  // namespace

TEST_CASE("a block's bytes are right where they were filled and nowhere else", "[unit]") {
  const std::vector<std::byte> bytes = filled(1000, 7, 42);
  CHECK_FALSE(first_wrong_byte(bytes, 7, 42));
  CHECK(first_wrong_byte(bytes, 8, 42));
  CHECK(first_wrong_byte(bytes, 7, 43));
}

TEST_CASE("a block that slipped by a byte or a word shows", "[unit]") {
  const std::vector<std::byte> bytes = filled(1000, 7, 42);
  for (const std::size_t slip : {1U, 7U, 8U, 64U}) {
    CAPTURE(slip);
    CHECK(first_wrong_byte(std::span(bytes).subspan(slip), 7, 42));
  }
}

TEST_CASE("an empty block is always right", "[unit]") { CHECK_FALSE(first_wrong_byte({}, 1, 2)); }

TEST_CASE("a short block is the beginning of a long one", "[unit]") {
  const std::vector<std::byte> bytes = filled(64, 1, 2);
  for (std::size_t length = 0; length <= bytes.size(); ++length) CHECK_FALSE(first_wrong_byte(std::span(bytes).first(length), 1, 2));
}

TEST_CASE("a wrong byte is named with what was there and what should be", "[unit]") {
  std::vector<std::byte> bytes = filled(50, 1, 2);
  const std::byte wanted = bytes[37];
  bytes[37] = ~wanted;
  bytes[44] = ~bytes[44];
  const std::optional<WrongByte> wrong = first_wrong_byte(bytes, 1, 2);
  REQUIRE(wrong);
  CHECK(wrong->offset == 37);
  CHECK(wrong->got == ~wanted);
  CHECK(wrong->wanted == wanted);
}

TEST_CASE("a broadcast puts the segments of each source's message everywhere", "[unit]") {
  const Placement placement = Placement::replicated(of(5), {3, 1}, 10, 4);
  CHECK(initial_of(placement, 0).empty());
  CHECK(initial_of(placement, 1) == Ids{4, 5, 6, 7});
  CHECK(initial_of(placement, 3) == Ids{12, 13, 14, 15});
  for (NodeId node = 0; node < 5; ++node) CHECK(wanted_of(placement, node) == Ids{4, 5, 6, 7, 12, 13, 14, 15});
  CHECK(placement.initial_total() == 8);
  CHECK(placement.wanted_total() == 40);
  CHECK(placement.exists(7));
  CHECK_FALSE(placement.exists(8));
  CHECK_FALSE(placement.exists(0xffffffffU));
  CHECK(placement.wants(0, 7));
  CHECK_FALSE(placement.wants(0, 8));
}

TEST_CASE("segments differ by at most a byte, and add up to the message", "[unit]") {
  const Placement placement = Placement::replicated(of(5), {2}, 10, 4);
  CHECK(placement.bytes(8) == 3);
  CHECK(placement.bytes(9) == 3);
  CHECK(placement.bytes(10) == 2);
  CHECK(placement.bytes(11) == 2);
  CHECK(placement.longest() == 3);
  CHECK_FALSE(placement.uniform());
  CHECK(Placement::replicated(of(5), {2}, 12, 4).uniform());
  const Placement thin = Placement::replicated(of(5), {2}, 1, 3);
  CHECK(thin.bytes(6) == 1);
  CHECK(thin.bytes(7) == 0);
}

TEST_CASE("a total exchange gives every node a block from every node", "[unit]") {
  const Placement placement = Placement::personalised(of(3), 8);
  CHECK(initial_of(placement, 1) == Ids{3, 4, 5});
  CHECK(wanted_of(placement, 1) == Ids{1, 4, 7});
  CHECK(placement.wants(1, 7));
  CHECK_FALSE(placement.wants(1, 8));
  CHECK(placement.exists(8));
  CHECK_FALSE(placement.exists(9));
  CHECK(placement.wanted_total() == 9);
}

TEST_CASE("scatter and gather are each other's mirror", "[unit]") {
  const Placement scatter = Placement::scattered(of(3), 1, 8);
  const Placement gather = Placement::gathered(of(3), 1, 8);
  for (NodeId node = 0; node < 3; ++node) {
    CHECK(initial_of(scatter, node) == wanted_of(gather, node));
    CHECK(wanted_of(scatter, node) == initial_of(gather, node));
  }
  CHECK(initial_of(scatter, 1) == Ids{0, 1, 2});
  CHECK(wanted_of(scatter, 2) == Ids{2});
}

TEST_CASE("dead nodes have no blocks and get none, and the others keep their numbers", "[unit]") {
  const Topology topology = of(5).with_faults({.dead_nodes = {2}});
  const Placement exchange = Placement::personalised(topology, 8);
  CHECK(initial_of(exchange, 3) == Ids{15, 16, 18, 19});
  CHECK(wanted_of(exchange, 3) == Ids{3, 8, 18, 23});
  CHECK(initial_of(exchange, 2).empty());
  CHECK(wanted_of(exchange, 2).empty());
  CHECK_FALSE(exchange.wants(3, 13));
  CHECK_FALSE(exchange.wants(2, 17));
  CHECK(exchange.initial_total() == 16);
  CHECK(exchange.wanted_total() == 16);
  const Placement scatter = Placement::scattered(topology, 1, 8), gather = Placement::gathered(topology, 1, 8);
  CHECK(initial_of(scatter, 1) == Ids{0, 1, 3, 4});
  CHECK(wanted_of(scatter, 2).empty());
  CHECK_FALSE(scatter.wants(2, 2));
  CHECK(wanted_of(gather, 1) == Ids{0, 1, 3, 4});
  CHECK(initial_of(gather, 2).empty());
  CHECK_FALSE(gather.wants(1, 2));
  CHECK(scatter.wanted_total() == 4);
  CHECK(gather.initial_total() == 4);
  CHECK_THROWS_AS(Placement::scattered(topology, 2, 8), InputError);
  CHECK_THROWS_AS(Placement::gathered(topology, 2, 8), InputError);
}

TEST_CASE("resident blocks start and end at home", "[unit]") {
  const Placement placement = Placement::resident(of(3), 2, 8);
  CHECK(initial_of(placement, 2) == Ids{4, 5});
  CHECK(wanted_of(placement, 2) == Ids{4, 5});
  CHECK(placement.wants(2, 5));
  CHECK_FALSE(placement.wants(1, 5));
}

TEST_CASE("a placement refuses sources that are not there, or twice", "[unit]") {
  CHECK_THROWS_AS(Placement::replicated(of(5), {5}, 1), InputError);
  CHECK_THROWS_AS(Placement::replicated(of(5), {1, 1}, 1), InputError);
  CHECK_THROWS_AS(Placement::replicated(of(5), {1}, 1, 0), InputError);
  CHECK_THROWS_AS(Placement::scattered(of(5), 5, 1), InputError);
  CHECK_THROWS_AS(Placement::gathered(of(5), 9, 1), InputError);
}
