#include <string>

#include <torus/error.hpp>
#include <torus/machine.hpp>

#include "tests/support/catch.hpp"

using namespace torus;

TEST_CASE("a machine has all ports and ascending routing unless told otherwise", "[unit]") {
  const Machine machine(Topology::parse("4x4x4"));
  CHECK(machine.ports == 6);
  CHECK(machine.all_port());
  CHECK(machine.routing == std::vector<Dimension>{0, 1, 2});
  CHECK(machine.ascending_routing());
  CHECK(machine.switching == Switching::wormhole);
  CHECK(machine.contention == Contention::forbid);
}

TEST_CASE("a machine takes one port up to as many as its nodes have links", "[unit]") {
  const Topology shape = Topology::parse("4x4");
  CHECK(Machine(shape, 1).ports == 1);
  CHECK_FALSE(Machine(shape, 3).all_port());
  CHECK(Machine(shape, 4).all_port());
  CHECK_THROWS_AS(Machine(shape, 5), InputError);
  CHECK_THROWS_AS(Machine(shape, -1), InputError);
  CHECK(Machine(Topology::parse("1")).ports == 1);
}

TEST_CASE("a time that cannot be is refused with the number that was given", "[unit]") {
  try {
    static_cast<void>(Machine::make({.topology = "4x4", .cost = {.dimension_byte_s = {1e-10, -1e-9}}}));
    FAIL("a negative T_c is taken");
  } catch (const InputError& error) {
    CHECK(std::string(error.what()) == "a T_c of -1e-09: it must be 0 or more; for instance 1e-10");
  }
}

TEST_CASE("a routing order is a permutation of the dimensions", "[unit]") {
  const auto with = [](std::vector<Dimension> order) {
    return Machine(Topology::parse("4x4"), 0, Switching::wormhole, Contention::forbid, std::move(order));
  };
  CHECK_FALSE(with({1, 0}).ascending_routing());
  CHECK_THROWS_AS(with({0}), InputError);
  CHECK_THROWS_AS(with({0, 0}), InputError);
  CHECK_THROWS_AS(with({0, 2}), InputError);
  CHECK_THROWS_AS(with({-1, 0}), InputError);
}

TEST_CASE("rules are read from the words that name them", "[unit]") {
  for (const Switching s : {Switching::packet, Switching::wormhole, Switching::circuit}) CHECK(parse_switching(name(s)) == s);
  for (const Contention c : {Contention::forbid, Contention::share}) CHECK(parse_contention(name(c)) == c);
  CHECK_THROWS_AS(parse_switching("Packet"), InputError);
  CHECK_THROWS_AS(parse_contention(""), InputError);
}

TEST_CASE("a step costs the start-up, its fullest channel and its longest route", "[unit]") {
  const CostModel cost{.start_up_s = 1.0, .byte_s = 0.5, .hop_s = 0.25};
  CHECK(cost.step(0, 0) == 1.0);
  CHECK(cost.step(6, 0) == 4.0);
  CHECK(cost.step(6, 2) == 4.5);
}
