#include <limits>
#include <string>
#include <vector>

#include <torus/error.hpp>
#include <torus/topology.hpp>

#include "tests/support/catch.hpp"

using namespace torus;

namespace {

/// The one line that parse() refuses a text with; empty if it does not.
std::string refusal(const std::string& text) {
  try {
    Topology::parse(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("ranks are row-major, the last dimension fastest", "[unit]") {
  const Topology topology = Topology::parse("3x4x5");
  CHECK(topology.nodes() == 60);
  CHECK(topology.rank(Coordinates{1, 2, 3}) == (1 * 4 + 2) * 5 + 3);
  CHECK(topology.coordinates(33) == Coordinates{1, 2, 3});
  CHECK(topology.stride(0) == 20);
  CHECK(topology.stride(2) == 1);
}

TEST_CASE("coordinates are taken modulo their extents", "[unit]") {
  const Topology topology = Topology::parse("3x4");
  CHECK(topology.rank(Coordinates{-1, 4}) == topology.rank(Coordinates{2, 0}));
  CHECK(topology.rank(Coordinates{7, -5}) == topology.rank(Coordinates{1, 3}));
}

TEST_CASE("a shape is read from its text", "[unit]") {
  CHECK(Topology::parse("16x16m") == Topology({{16, Wiring::ring}, {16, Wiring::line}}));
  CHECK(Topology::parse("4x4c") == Topology({{4, Wiring::ring}, {4, Wiring::complete}}));
  CHECK(Topology::parse("mesh:4x6") == Topology({{4, Wiring::line}, {6, Wiring::line}}));
  CHECK(Topology::parse("torus:4x6") == Topology::parse("4x6"));
  CHECK(Topology::parse("2^3") == Topology::parse("2x2x2"));
  CHECK(Topology::parse("5x3^2m") == Topology::parse("5x3mx3m"));
  CHECK(Topology::parse("hypercube:3") == Topology::parse("mesh:2^3"));
  CHECK(Topology::parse("1").nodes() == 1);
}

TEST_CASE("a shape that cannot be is refused with the value, the rule and one that would do", "[unit]") {
  for (const char* text : {"",
                           "x",
                           "4x",
                           "x4",
                           "0",
                           "4x0",
                           "-3",
                           "4x-1",
                           "4 x 4",
                           "4q",
                           "4mc",
                           "mesh:",
                           "hypercube:",
                           "hypercube:0",
                           "hypercube:32",
                           "2^",
                           "2^0",
                           "2^33",
                           "2^2^2",
                           "3.5",
                           "4294967296",
                           "99999999999999999999",
                           "65536x65536",
                           "1^33",
                           "2000000c"}) {
    CAPTURE(text);
    const std::string line = refusal(text);
    CHECK(line.find("shape '" + std::string(text) + "'") == 0);
    CHECK(line.find("for instance 16x16") != std::string::npos);
    CHECK(line.find('\n') == std::string::npos);
  }
  CHECK(refusal("2^31").empty());
  CHECK(refusal("1^32").empty());
  CHECK_THROWS_AS(Topology({}), InputError);
  CHECK_THROWS_AS(Topology({{0, Wiring::ring}}), InputError);
}

TEST_CASE("a ring has neighbours both ways and any number of times round", "[unit]") {
  const Topology ring = Topology::parse("5");
  CHECK(ring.neighbour(4, 0, +1) == 0U);
  CHECK(ring.neighbour(0, 0, -1) == 4U);
  CHECK(ring.neighbour(2, 0, +12) == 4U);
  CHECK(ring.neighbour(2, 0, -12) == 0U);
  CHECK(ring.neighbour(3, 0, std::numeric_limits<std::int32_t>::max()) == (3U + 2147483647U) % 5U);
}

TEST_CASE("a line ends", "[unit]") {
  const Topology line = Topology::parse("5m");
  CHECK(line.neighbour(3, 0, +1) == 4U);
  CHECK_FALSE(line.neighbour(4, 0, +1));
  CHECK_FALSE(line.neighbour(0, 0, -1));
  CHECK_FALSE(line.neighbour(1, 0, -2));
}

TEST_CASE("in a complete dimension every other node is one offset away", "[unit]") {
  const Topology complete = Topology::parse("2x5c");
  CHECK(complete.neighbour(6, 1, 4) == 5U);
  CHECK(complete.offset(1, 3, 1) == 3);
  CHECK(complete.distance(5, 9) == 1);
  CHECK(complete.distance(0, 9) == 2);
}

TEST_CASE("the shorter way round a ring is taken, and + at a tie", "[unit]") {
  const Topology even = Topology::parse("8");
  CHECK(even.offset(0, 0, 3) == 3);
  CHECK(even.offset(0, 0, 4) == 4);
  CHECK(even.offset(0, 4, 0) == 4);
  CHECK(even.offset(0, 0, 5) == -3);
  const Topology odd = Topology::parse("7");
  CHECK(odd.offset(0, 0, 3) == 3);
  CHECK(odd.offset(0, 0, 4) == -3);
}

TEST_CASE("a ring of two has two links, a line of two one, and an extent of one none", "[unit]") {
  CHECK(Topology::parse("2").channels() == 4);
  CHECK(Topology::parse("2").max_ports() == 2);
  CHECK(Topology::parse("2m").channels() == 2);
  CHECK(Topology::parse("2m").max_ports() == 1);
  CHECK(Topology::parse("1").channels() == 0);
  CHECK(Topology::parse("1").channel_slots() == 0);
  CHECK(Topology::parse("1x4").max_ports() == 2);
  CHECK(Topology::parse("1").max_ports() == 1);
}

TEST_CASE("channel slots go dimension by dimension, + before -", "[unit]") {
  const Topology topology = Topology::parse("4x1x3cx5m");
  CHECK(topology.channel_slots() == 2 + 0 + 2 + 2);
  CHECK(topology.slot(0, +1) == 0);
  CHECK(topology.slot(0, -1) == 1);
  CHECK(topology.slot(2, 1) == 2);
  CHECK(topology.slot(2, 2) == 3);
  CHECK(topology.slot(3, +1) == 4);
  CHECK(topology.slot(3, -1) == 5);
}

TEST_CASE("a shape knows whether it is a torus, a square one, or a mesh", "[unit]") {
  CHECK(is_square_torus(Topology::parse("4x4")));
  CHECK_FALSE(is_square_torus(Topology::parse("4x5")));
  CHECK(is_torus(Topology::parse("4x5")));
  CHECK(is_torus(Topology::parse("4x1m")));
  CHECK_FALSE(is_torus(Topology::parse("4x4m")));
  CHECK(is_torus_or_mesh(Topology::parse("4x4m")));
  CHECK_FALSE(is_torus_or_mesh(Topology::parse("4x4c")));
}

TEST_CASE("modulo is never negative", "[unit]") {
  CHECK(modulo(-1, 5) == 4);
  CHECK(modulo(-10, 5) == 0);
  CHECK(modulo(11, 5) == 1);
}

TEST_CASE("a divisor divides all 32-bit numbers", "[unit]") {
  constexpr std::uint32_t most = ~std::uint32_t{0};
  std::vector<std::uint32_t> interesting;
  for (std::uint32_t power = 1; power != 0; power <<= 1U) {
    for (const std::uint32_t near : {power - 1, power, power + 1, most - power, power * 3, power / 3}) interesting.push_back(near);
  }
  for (const std::uint32_t d : interesting) {
    if (d == 0) continue;
    const detail::Divisor divisor(d);
    REQUIRE(divisor.value() == d);
    const auto check = [&](std::uint32_t n) {
      if (divisor.divide(n) != n / d || divisor.remainder(n) != n % d) FAIL(n << " by " << d);
    };
    for (const std::uint32_t n : interesting) check(n);
    for (const std::uint32_t q : interesting) {
      const std::uint32_t multiple = most / d < q ? most / d * d : q * d;
      check(multiple);
      check(multiple - 1);
    }
  }
  CHECK(detail::Divisor().divide(most) == most);
}
