
#include <algorithm>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <torus/catalogue.hpp>

#include "algorithms/broadcast/swath/swath.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/long_broadcast.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

std::vector<std::uint32_t> strip_values_on(const Machine& machine) { return broadcast::swath_values(machine, lines::Ways::forward); }

}  // namespace

TEST_CASE("strip's steps and bytes are the points of the reference table", "[conformance]") {
  using Row = std::tuple<const char*, std::uint32_t, std::uint64_t, double>;
  for (const auto& [shape, h, steps, bytes] : std::vector<Row>{{"25x25", 1, 10, 10},
                                                               {"25x25", 2, 12, 6},
                                                               {"25x25", 4, 14, 3.75},
                                                               {"25x25", 5, 15, 3.2},
                                                               {"25x25", 8, 18, 2.75},
                                                               {"25x25", 12, 23, 2.5},
                                                               {"25x25", 25, 34, 2.12},
                                                               {"8x8x8", 1, 9, 9},
                                                               {"8x8x8", 2, 11, 5.5},
                                                               {"8x8x8", 4, 13, 3.5},
                                                               {"8x8x8", 8, 16, 2.5}}) {
    CAPTURE(std::string(shape), h);
    const Bytes unit = 64 * 27 * 25 * 7;  // all segments get as many bytes
    const Plan plan = support::broadcast("strip").plan(Machine(Topology::parse(shape), 1), support::request_with_h(0, unit, h));
    CHECK(plan.steps == steps);
    CHECK(plan.channel_bytes / static_cast<double>(unit) == Approx(bytes).margin(0.005));
  }
}

TEST_CASE("strip takes the h of least model time", "[conformance]") {
  for (const char* shape : {"25x25", "7x9", "4x4x4", "9", "1"}) {
    const Machine machine(Topology::parse(shape), 1);
    for (const Bytes bytes : {Bytes{0}, Bytes{1000}, Bytes{65536}, Bytes{1} << 20U, Bytes{1} << 26U}) {
      CAPTURE(std::string(shape), bytes);
      const Plan best = support::broadcast("strip").plan(machine, support::request_with_h(0, bytes, 0));
      for (const std::uint32_t h : strip_values_on(machine)) {
        const Plan other = support::broadcast("strip").plan(machine, support::request_with_h(0, bytes, h));
        if (bytes >= other.segments) CHECK(best.model_time_s(machine.cost) <= other.model_time_s(machine.cost));
      }
    }
  }
}
