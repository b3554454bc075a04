/// The bound of broadcasts by points (steps, bytes): its figures, its multipliers, and that no algorithm of the catalogue beats it.
#include <algorithm>

#include <torus/catalogue.hpp>
#include <torus/run.hpp>

#include "algorithms/bounds/broadcast_bounds.hpp"
#include "algorithms/common/integers.hpp"
#include "tests/support/catch.hpp"

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
  for (const char* shape : {"2", "5", "9", "5m", "3x3", "8x8", "7x9", "4x6m", "5c", "4x4x4", "3x5x2", "2x2x2x2", "16x16"}) {
    for (const int ports : {1, 2, all_ports}) {
      for (const Switching switching : {Switching::packet, Switching::wormhole, Switching::circuit}) {
        const Topology topology = Topology::parse(shape);
        if (ports > topology.max_ports()) continue;
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
  CHECK(compared > 1000);
}
