#include <torus/catalogue.hpp>

#include "algorithms/broadcast/circuit/steps.hpp"
#include "algorithms/common/integers.hpp"
#include "tests/support/catch.hpp"

using namespace torus;
using namespace torus::broadcast;

TEST_CASE("a ring tree informs every place once, in the least number of steps, and its messages of a step never overlap", "[unit]") {
  for (std::int32_t ports = 1; ports <= 8; ++ports) {
    for (std::int32_t places = 1; places <= 140; ++places) {
      CAPTURE(ports, places);
      const RingTree tree(places, ports);
      REQUIRE(tree.steps() == ceil_log(static_cast<std::uint64_t>(ports) + 1, static_cast<std::uint64_t>(places)));
      std::vector<bool> informed(static_cast<std::size_t>(places), false);
      informed[0] = true;
      std::int32_t count = 1;
      for (std::size_t step = 0; step < tree.steps(); ++step) {
        const std::vector<bool> before = informed;
        // How far a step's messages of each track and side cover the ring: no stretch twice, or two would want one channel.
        std::vector<int> covered(static_cast<std::size_t>(places) * 16, 0);
        for (std::int32_t r = 0; r < places; ++r) {
          const auto children = tree.children(step, r);
          if (!before[static_cast<std::size_t>(r)]) REQUIRE(children.empty());
          REQUIRE(static_cast<std::int32_t>(children.size()) <= ports);
          for (const RingTree::Child& child : children) {
            REQUIRE(std::abs(child.offset) < places);
            REQUIRE((child.track >= 1 && child.track <= (ports + 1) / 2));
            const std::int32_t sign = child.offset > 0 ? 1 : -1;
            for (std::int32_t hop = 0; hop != child.offset; hop += sign) {
              const std::int32_t stretch = modulo(r + hop + (sign > 0 ? 0 : -1), places) * 16 + (child.track - 1) * 2 + (sign > 0 ? 1 : 0);
              REQUIRE(++covered[static_cast<std::size_t>(stretch)] == 1);
            }
            const auto to = static_cast<std::size_t>(modulo(r + child.offset, places));
            REQUIRE(!informed[to]);
            informed[to] = true;
            ++count;
          }
        }
      }
      REQUIRE(count == places);
    }
  }
}
