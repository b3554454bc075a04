/// The bound of worms in dimension order, against all ways to fill the cells of small machines.
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <vector>

#include <torus/topology.hpp>

#include "algorithms/bounds/broadcast_bounds.hpp"
#include "algorithms/common/integers.hpp"
#include "tests/support/catch.hpp"

using namespace torus;

namespace {

using Counts = std::vector<std::int32_t>;  // informed nodes of each cell, ascending: cells are alike

Machine wormhole(std::int32_t cells, std::int32_t rows) {
  return Machine(Topology({{cells, Wiring::ring}, {rows, Wiring::ring}}), 0, Switching::wormhole);
}

/// The steps of counts alone: a node makes three of itself in its cell and informs two nodes of other cells, wherever they are most wanted.
std::uint64_t by_enumeration(std::int32_t cells, std::int32_t rows) {
  Counts start(static_cast<std::size_t>(cells), 0);
  start.back() = 1;
  std::set<Counts> now{start};
  for (std::uint64_t steps = 0;; ++steps) {
    if (now.contains(Counts(static_cast<std::size_t>(cells), rows))) return steps;
    std::set<Counts> next;
    for (const Counts& counts : now) {
      std::int32_t messages = 0;
      Counts grown = counts;
      for (std::int32_t& count : grown) {
        messages += 2 * count;
        count = std::min(rows, 3 * count);
      }
      const std::function<void(std::size_t, std::int32_t)> give = [&](std::size_t cell, std::int32_t left) {
        if (cell == grown.size()) {
          Counts sorted = grown;
          std::sort(sorted.begin(), sorted.end());
          next.insert(sorted);
          return;
        }
        const std::int32_t had = grown[cell];
        const std::int32_t most = std::min(left, rows - had);
        for (std::int32_t given = cell + 1 == grown.size() ? most : 0; given <= most; ++given) {
          grown[cell] = had + given;
          give(cell + 1, left - given);
        }
        grown[cell] = had;
      };
      give(0, messages);
    }
    now = std::move(next);
  }
}

std::uint64_t by_counting(std::int32_t cells, std::int32_t rows) {
  return ceil_log(5, static_cast<std::uint64_t>(cells) * static_cast<std::uint64_t>(rows));
}

}  // namespace

TEST_CASE("prices never ask for more steps than all ways to fill the cells do", "[property]") {
  int higher = 0;
  for (std::int32_t cells = 2; cells <= 9; ++cells) {
    for (std::int32_t rows = 2; std::pow(rows + 1, cells) < 20'000; ++rows) {
      if (rows > 12) break;
      CAPTURE(cells, rows);
      const std::uint64_t counted = by_counting(cells, rows);
      const std::uint64_t bound = least_ordered_steps(wormhole(cells, rows), counted);
      CHECK(bound <= by_enumeration(cells, rows));
      if (bound > counted) ++higher;
    }
  }
  CHECK(higher > 3);
}

TEST_CASE("5x5, 11x11, 24x24, 25x25 and 54x54 need a step more than counting says, and 10x10, 22x22 and 23x23 may not", "[property]") {
  for (const std::int32_t n : {5, 11, 24, 25, 54, 55})
    CHECK(least_ordered_steps(wormhole(n, n), by_counting(n, n)) == by_counting(n, n) + 1);
  for (const std::int32_t n : {4, 10, 22, 23, 53}) CHECK(least_ordered_steps(wormhole(n, n), by_counting(n, n)) == by_counting(n, n));
}

TEST_CASE("routes in any order, shared channels and complete dimensions have no bound of cells", "[property]") {
  const Topology square = Topology::parse("5x5");
  CHECK(least_ordered_steps(Machine(square, 0, Switching::circuit), 2) == 2);
  CHECK(least_ordered_steps(Machine(square, 0, Switching::wormhole, Contention::share), 2) == 2);
  CHECK(least_ordered_steps(Machine(Topology::parse("5cx5"), 0, Switching::wormhole), 2) == 2);
}

TEST_CASE("the cells are the lines of the dimension that routes take last", "[property]") {
  const Topology thin = Topology::parse("300x2");
  CHECK(least_ordered_steps(Machine(thin, 0, Switching::wormhole), 4) == 5);
  CHECK(least_ordered_steps(Machine(thin, 0, Switching::wormhole, Contention::forbid, {1, 0}), 4) == 4);
}
