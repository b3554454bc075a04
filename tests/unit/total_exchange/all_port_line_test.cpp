#include "algorithms/total_exchange/all_port_line.hpp"

#include <string>
#include <vector>

#include "tests/support/catch.hpp"

using namespace torus;
using namespace torus::total_exchange;

namespace {

/// Plays an exchange, step by step: true if only blocks that are there cross, and all are where they must be at the end.
bool all_arrive(Wiring wiring, std::int32_t n) {
  const AllPortLine line(wiring, n);
  const auto index = [n](std::int32_t a, std::int32_t b) { return static_cast<std::size_t>(a * n + b); };
  std::vector<std::int32_t> where(static_cast<std::size_t>(n * n));  // the blocks
  for (std::int32_t a = 0; a < n; ++a) {
    for (std::int32_t b = 0; b < n; ++b) where[index(a, b)] = a;
  }
  for (std::uint32_t t = 0; t < line.steps(); ++t) {
    std::vector<std::int32_t> next = where;
    for (std::int32_t own = 0; own < n; ++own) {
      for (std::int32_t direction = wiring == Wiring::complete ? 1 : -1; direction < (wiring == Wiring::complete ? n : 2); ++direction) {
        if (direction == 0) continue;
        const Crossing crossing = line.crossing(own, direction, t);
        if (!crossing) continue;
        std::int32_t to = own + direction;
        if (wiring != Wiring::line) to = modulo(to, n);
        const std::size_t block = index(crossing.origin, crossing.destination);
        if (to < 0 || to >= n || where[block] != own || next[block] != own) return false;
        next[block] = to;
      }
    }
    where = next;
  }
  for (std::int32_t a = 0; a < n; ++a) {
    for (std::int32_t b = 0; b < n; ++b) {
      if (where[index(a, b)] != b) return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("over all ports, every block of one dimension is there when it is to cross, and arrives", "[unit]") {
  const Wiring wiring = GENERATE(Wiring::ring, Wiring::line, Wiring::complete);
  for (std::int32_t n = 1; n <= 40; ++n) {
    CAPTURE(wiring, n);
    CHECK(all_arrive(wiring, n));
  }
}

TEST_CASE("one exchange along a dimension takes as many steps as its middle cut demands", "[unit]") {
  for (std::int32_t n = 2; n <= 100; ++n) {
    const auto near = static_cast<std::uint32_t>(n / 2);
    const std::uint32_t pairs = near * (static_cast<std::uint32_t>(n) - near);  // blocks over the cut, each way
    CHECK(all_port_steps(Wiring::ring, n) == (pairs + 1) / 2);
    CHECK(all_port_steps(Wiring::line, n) == pairs);
    CHECK(all_port_steps(Wiring::complete, n) == 1);
  }
}

TEST_CASE("the ring of 8 sends the blocks for the opposite node forwards from even nodes, backwards from odd ones", "[unit]") {
  const AllPortLine line(Wiring::ring, 8);
  for (std::uint32_t t = 0; t < 4; ++t) {
    const auto own = static_cast<std::int32_t>(t);
    CHECK(line.crossing(own, +1, t).origin == 0);
    CHECK(line.crossing(own, +1, t).destination == 4);
    CHECK(line.crossing(7 - own, -1, t).origin == 7);
    CHECK(line.crossing(7 - own, -1, t).destination == 3);
  }
}
