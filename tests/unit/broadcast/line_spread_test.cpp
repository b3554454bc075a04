#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <tuple>

#include "algorithms/common/integers.hpp"
#include "algorithms/lines/spread.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;
using namespace torus::lines;

namespace {

/// (step, sender's offset in 0..n-1, hops).
using SendSet = std::set<std::tuple<Step, std::int32_t, std::int32_t>>;

SendSet sends_of(const LineSpread& spread, std::int32_t n) {
  SendSet sends;
  for (std::int32_t offset = 0; offset < n; ++offset) {
    for (Step step = 0; step < spread.steps(); ++step)
      spread.for_sends(offset, step, [&](const LineSpread::StretchSend& send) { sends.emplace(step, offset, send.hops); });
  }
  return sends;
}

/// Every place is reached once, in the fewest steps, by routes that share no channel of the ring, from holders.
void check(const LineSpread& spread, const std::set<std::int32_t>& places, std::int32_t n, Step steps) {
  REQUIRE(spread.steps() == steps);
  std::set<std::int32_t> holders{0};
  for (Step step = 0; step < spread.steps(); ++step) {
    std::set<std::pair<std::int32_t, std::int32_t>> channels;
    std::set<std::int32_t> reached;
    for (const std::int32_t holder : holders) {
      spread.for_sends(holder, step, [&](const LineSpread::StretchSend& send) {
        for (std::int32_t hop = 0; hop < std::abs(send.hops); ++hop) {
          const std::int32_t direction = send.hops < 0 ? -1 : 1;
          REQUIRE(channels.emplace(modulo(holder + direction * hop, n), direction).second);
        }
        const std::int32_t to = modulo(holder + send.hops, n);
        REQUIRE(holders.count(to) == 0);
        REQUIRE(reached.insert(to).second);
        REQUIRE((spread.offset(send.low) <= spread.offset(send.high)));
      });
    }
    REQUIRE_FALSE(reached.empty());
    holders.insert(reached.begin(), reached.end());
  }
  REQUIRE(holders == places);
  SendSet all;
  spread.for_all_sends([&](Step step, const LineSpread::StretchSend& send) {
    all.emplace(step, modulo(spread.offset(spread.ways() == Ways::both ? (send.low + send.high) / 2 : send.low) - send.hops, n), send.hops);
  });
  REQUIRE(all == sends_of(spread, n));
}

}  // namespace

TEST_CASE("a spread over a ring goes as the reference vectors say", "[unit]") {
  CHECK(sends_of(LineSpread::over_ring(9), 9) ==
        SendSet{{0, 0, -3}, {0, 0, 3}, {1, 6, -1}, {1, 6, 1}, {1, 3, -1}, {1, 3, 1}, {1, 0, -1}, {1, 0, 1}});
  CHECK(sends_of(LineSpread::over_ring(6), 6) == SendSet{{0, 0, -2}, {0, 0, 2}, {1, 2, 1}, {1, 0, -1}, {1, 0, 1}});
  CHECK(sends_of(LineSpread({2, 5, 8}, 9), 9) == SendSet{{0, 0, 5}, {1, 0, -1}, {1, 0, 2}});
  CHECK(sends_of(LineSpread::over_ring(2), 2) == SendSet{{0, 0, 1}});
  CHECK(sends_of(LineSpread::over_ring(1), 1).empty());
  CHECK(LineSpread({2, 5, 8}, 9).places() == 4);  // the root counts
}

TEST_CASE("a spread reaches its places once each, in the fewest steps, by disjoint routes", "[unit]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  for (std::int32_t n = 1; n <= 90; ++n) {
    CAPTURE(n);
    std::vector<std::int32_t> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), 0);
    check(LineSpread::over_ring(n), {all.begin(), all.end()}, n, ceil_log(3, all.size()));
    std::vector<std::int32_t> some;
    for (const std::int32_t place : all) {
      if (support::random_below(random, 3) == 0) some.push_back(place);
    }
    std::set<std::int32_t> places(some.begin(), some.end());
    places.insert(0);
    check(LineSpread(some, n), places, n, ceil_log(3, places.size()));
    check(LineSpread(some, n, Ways::forward), places, n, ceil_log(2, places.size()));
    const auto root = static_cast<std::int32_t>(support::random_below(random, static_cast<std::uint64_t>(n)));
    const auto behind = std::count_if(places.begin(), places.end(), [&](std::int32_t place) { return place >= n - root; });
    const auto side = std::max<std::uint64_t>(static_cast<std::uint64_t>(behind), places.size() - 1 - static_cast<std::uint64_t>(behind));
    const LineSpread line = LineSpread::on_line(some, n, root);
    check(line, places, n, ceil_log(3, 2 * side + 1));
    for (std::int32_t index = 0; index < line.places(); ++index) {  // none crosses the ends of the line
      REQUIRE(line.offset(index) >= -root);
      REQUIRE(line.offset(index) < n - root);
    }
  }
}
