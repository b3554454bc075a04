#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "algorithms/total_exchange/phase_assignment.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;
using namespace torus::total_exchange;

namespace {

/// Whether there is a perfect matching, by trying all.
bool matchable(const std::vector<std::vector<bool>>& allowed) {
  std::vector<std::size_t> partner(allowed.size());
  std::iota(partner.begin(), partner.end(), std::size_t{0});
  do {
    bool all = true;
    for (std::size_t x = 0; x < partner.size(); ++x) all = all && allowed[x][partner[x]];
    if (all) return true;
  } while (std::next_permutation(partner.begin(), partner.end()));
  return false;
}

}  // namespace

TEST_CASE("a matching is found exactly where there is one, and it is one", "[unit]") {
  CAPTURE(support::seed());
  std::mt19937_64 random(support::seed());
  for (int round = 0; round < 500; ++round) {
    const std::size_t n = support::random_below(random, 6);
    std::vector<std::vector<bool>> allowed(n, std::vector<bool>(n));
    for (auto& row : allowed) {
      for (std::size_t y = 0; y < n; ++y) row[y] = support::random_below(random, 5) < 2;
    }
    std::vector<std::uint32_t> preferred(n);
    for (std::uint32_t& y : preferred) y = support::random_below(random, n);
    const auto matching = perfect_matching(preferred, [&](std::uint32_t x, std::uint32_t y) { return allowed[x][y]; });
    CAPTURE(round, n);
    REQUIRE(matching.has_value() == matchable(allowed));
    if (!matching) continue;
    std::vector<bool> taken(n);
    for (std::size_t x = 0; x < n; ++x) {
      const std::size_t y = (*matching)[x];
      CHECK((allowed[x][y] && !taken[y]));
      taken[y] = true;
    }
  }
}

TEST_CASE("where all preferences can be had, they are", "[unit]") {
  const std::vector<std::uint32_t> preferred{2, 0, 3, 1};
  CHECK(perfect_matching(preferred, [](std::uint32_t, std::uint32_t) { return true; }) == preferred);
}
