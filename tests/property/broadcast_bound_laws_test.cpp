/// The bound of broadcasts by points (steps, bytes): its figures, its multipliers, and that no algorithm of the catalogue beats it. The
/// bound of worms in dimension order, against all ways to fill the cells of small machines.
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <vector>

#include <torus/catalogue.hpp>
#include <torus/run.hpp>
#include <torus/topology.hpp>

#include "algorithms/bounds/broadcast_bounds.hpp"
#include "algorithms/common/integers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

BroadcastPoints of(std::uint64_t nodes, int ports) { return {nodes, ports, 1, {}}; }

double load(std::uint64_t nodes, int ports, std::uint64_t steps) {
  const std::uint64_t least = ceil_log(static_cast<std::uint64_t>(ports) + 1, nodes);
  const BroadcastPoints points = of(nodes, ports);
  return LeastLoad(points, least, steps).at(steps);
}

}  // namespace

TEST_CASE("the load that a number of steps needs", "[property]") {
  const auto close = [](double value) { return Approx(value).margin(0.006); };
  const double all_ports[]{16, 3.36, 2, 1.93, 1.73, 1.50, 1.49, 1.46, 1.40};
  for (std::uint64_t steps = 4; steps <= 12; ++steps) CHECK(load(625, 4, steps) == close(all_ports[steps - 4]));
  CHECK(load(625, 4, 25) == close(1.16));
  const double cube[]{4.77, 2, 2, 1.67, 1.52, 1.48, 1.42};
  for (std::uint64_t steps = 4; steps <= 10; ++steps) CHECK(load(512, 6, steps) == close(cube[steps - 4]));
  CHECK(load(625, 1, 10) == close(6.10));
  CHECK(load(625, 1, 11) == close(3.30));
  for (std::uint64_t steps = 12; steps <= 18; ++steps) CHECK(load(625, 1, steps) == close(2));
  CHECK(load(625, 1, 19) == close(1.57));
  CHECK(load(2, 1, 1) == 1);
}

TEST_CASE("no multiplier is negative, and no step weighs more than the first", "[property]") {
  int cases = 0;
  for (const int ports : {1, 2, 3, 4, 6, 10}) {
    for (const std::uint64_t nodes : {3U, 4U, 5U, 9U, 16U, 27U, 100U, 625U, 4096U, 1000000U}) {
      const std::uint64_t least = ceil_log(static_cast<std::uint64_t>(ports) + 1, nodes);
      if (nodes == 2 || least < 1) continue;
      for (const std::uint64_t more : {0U, 1U, 2U, 3U, 7U, 20U, 61U}) {
        for (const bool first : {false, true}) {
          for (const bool last : {false, true}) {
            const std::uint64_t steps = least + more;
            const Windows windows(of(nodes, ports), least, steps, first);
            const std::uint64_t count = windows.count(steps, last);
            const double of_last = last ? windows.multiplier_of_last(steps) : 0;
            CAPTURE(ports, nodes, more, first, last);
            for (std::uint64_t s = 1; s <= count; ++s) CHECK(windows.multiplier(s) >= -1e-9);
            CHECK(of_last >= -1e-9);
            std::vector<double> weights;  // by step
            for (std::uint64_t t = 1; t <= steps; ++t) {
              weights.push_back(t <= count ? of_last : 0);
              for (std::uint64_t s = 1; s <= count; ++s) weights.back() += windows.multiplier(s) * windows.weight(s, t);
            }
            for (const double weight : weights) CHECK(weight <= weights.front() * (1 + 1e-9));
            ++cases;
          }
        }
      }
    }
  }
  CHECK(cases > 1000);
}

TEST_CASE("no broadcast of the catalogue beats the bound, which is no lower than the simple one", "[property]") {
  int compared = 0;
  support::Share share(4, 4);
  for (const char* shape : {"2", "5", "9", "5m", "3x3", "8x8", "7x9", "4x6m", "5c", "4x4x4", "3x5x2", "2x2x2x2", "16x16"}) {
    for (const int ports : {1, 2, all_ports}) {
      for (const Switching switching : {Switching::packet, Switching::wormhole, Switching::circuit}) {
        const Topology topology = Topology::parse(shape);
        if (ports > topology.max_ports() || !share.takes_turn()) continue;
        const Machine machine(topology, ports, switching);
        for (const Bytes bytes : {Bytes{1}, Bytes{1000}, Bytes{65536}, Bytes{4} << 20U, Bytes{256} << 20U}) {
          Request request;
          request.sources = {topology.nodes() / 3};
          request.bytes = bytes;
          const Bounds bounds = lower_bounds(machine, request);
          const double bound = bounds.model_time_s(machine.cost);
          CAPTURE(shape, ports, name(switching), bytes);
          CHECK(bound >= bounds.simple_model_time_s(machine.cost));
          for (const Algorithm* algorithm : catalogue()) {
            if (algorithm->collective != Collective::broadcast || refuses(*algorithm, machine, request)) continue;
            const Plan plan = make_plan(*algorithm, machine, request);
            if (!plan.steps_exact) continue;
            CAPTURE(algorithm->name);
            CHECK(plan.model_time_s(machine.cost) >= bound * (1 - 1e-9));
            ++compared;
          }
        }
      }
    }
  }
  CHECK(compared > 1000 / static_cast<int>(share.one_in()));
}

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
