#include <algorithm>
#include <vector>

#include <torus/catalogue.hpp>

#include "algorithms/broadcast/axes.hpp"
#include "algorithms/common/integers.hpp"
#include "tests/support/catch.hpp"

using namespace torus;
using namespace torus::broadcast;

namespace {

struct Transfer {
  Place from, to;
};

/// The transfers of every step, found by following all parts.
std::vector<std::vector<Transfer>> transfers(Place places, Place root, Target target) {
  std::vector<std::vector<Transfer>> steps;
  std::vector<Part> parts{whole_row(places, root)};
  while (std::any_of(parts.begin(), parts.end(), [](const Part& part) { return part.size() > 1; })) {
    std::vector<Part> next;
    std::vector<Transfer> step;
    for (const Part& part : parts) {
      if (part.size() == 1) {
        next.push_back(part);
        continue;
      }
      const Halves halves = halve(part, target);
      step.push_back({part.holder, halves.given.holder});
      next.push_back(halves.kept);
      next.push_back(halves.given);
    }
    steps.push_back(std::move(step));
    parts = std::move(next);
  }
  return steps;
}

constexpr Target both[]{Target::near, Target::far};

}  // namespace

TEST_CASE("a step cuts a part as evenly as can be and leaves the holder the larger half", "[unit]") {
  // Seven places, the holder in the middle: it keeps 0..3 and gives 4..6 away, to the nearest or to the farthest place.
  CHECK(halve(whole_row(7, 3), Target::near) == Halves{{0, 4, 3, 0}, {4, 7, 4, +1}});
  CHECK(halve(whole_row(7, 3), Target::far) == Halves{{0, 4, 3, 0}, {4, 7, 6, +1}});
  CHECK(halve(whole_row(7, 4), Target::near) == Halves{{3, 7, 4, 0}, {0, 3, 2, -1}});
  CHECK(halve(whole_row(7, 4), Target::far) == Halves{{3, 7, 4, 0}, {0, 3, 0, -1}});
  // Once away from the root, the side stays and so does the direction.
  CHECK(halve(Part{4, 7, 6, +1}, Target::far) == Halves{{5, 7, 6, +1}, {4, 5, 4, +1}});
  CHECK(halve(Part{0, 3, 0, -1}, Target::far) == Halves{{0, 2, 0, -1}, {2, 3, 2, -1}});
}

TEST_CASE("halving informs every place once in ceil(log2 places) steps", "[unit]") {
  for (const Target target : both) {
    for (Place places = 1; places <= 67; ++places) {
      for (Place root = 0; root < places; ++root) {
        const auto steps = transfers(places, root, target);
        REQUIRE(steps.size() == ceil_log(2, places));
        std::vector<int> informed(places, 0);
        informed[root] = 1;
        for (const auto& step : steps) {
          std::vector<int> before = informed;
          for (const Transfer& t : step) {
            REQUIRE(before[t.from] == 1);
            ++informed[t.to];
          }
        }
        REQUIRE(std::all_of(informed.begin(), informed.end(), [](int times) { return times == 1; }));
      }
    }
  }
}

TEST_CASE("the halves given away cost places - 1 pieces over the steps", "[unit]") {
  for (Place places = 1; places <= 67; ++places) {
    for (Place root = 0; root < places; ++root) {
      std::vector<Part> parts{whole_row(places, root)};
      Place cost = 0;
      for (std::uint32_t step = 0; step < ceil_log(2, places); ++step) {
        Place longest = 0;
        for (std::size_t i = 0, n = parts.size(); i < n; ++i) {
          if (parts[i].size() < 2) continue;
          const Halves halves = halve(parts[i], Target::near);
          longest = std::max(longest, halves.given.size());
          parts[i] = halves.kept;
          parts.push_back(halves.given);
        }
        cost += longest;
      }
      REQUIRE(cost == places - 1);
    }
  }
}

TEST_CASE("far makes all messages but the root's flow towards the root, near all away from it", "[unit]") {
  for (Place places = 1; places <= 67; ++places) {
    for (Place root = 0; root < places; ++root) {
      for (const auto& step : transfers(places, root, Target::far)) {
        for (const Transfer& t : step) REQUIRE((t.from == root || (t.from < root) == (t.to > t.from)));
      }
      for (const auto& step : transfers(places, root, Target::near)) {
        for (const Transfer& t : step) REQUIRE((t.from == root || (t.from > root) == (t.to > t.from)));
      }
    }
  }
}

TEST_CASE("a place knows by itself the part that it is given", "[unit]") {
  for (const Target target : both) {
    for (Place places = 1; places <= 40; ++places) {
      for (Place root = 0; root < places; ++root) {
        CHECK(first_part(places, root, root, target) == whole_row(places, root));
        std::vector<Part> parts{whole_row(places, root)};
        for (std::size_t i = 0; i < parts.size(); ++i) {  // grows while it is walked
          while (parts[i].size() > 1) {
            const Halves halves = halve(parts[i], target);
            REQUIRE(first_part(places, root, halves.given.holder, target) == halves.given);
            parts[i] = halves.kept;
            parts.push_back(halves.given);
          }
        }
      }
    }
  }
}
