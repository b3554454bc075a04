/// The multi-node broadcasts on sides of any length: `hierarchical` for any h, `log` on unequal sides.
#include <algorithm>

#include "algorithms/common/integers.hpp"
#include "tests/support/multinode.hpp"
#include "tests/support/run.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;
using namespace torus::multinode_broadcast;
using namespace torus::support;

namespace {

/// Where the stations of a ring stand: in each of floor(n/h) windows the first place of each class floor(x h / l).
std::vector<std::int32_t> station_places(std::int32_t n, std::int32_t h) {
  std::vector<std::int32_t> places;
  const std::int32_t windows = n / h;
  for (std::int32_t w = 0; w < windows; ++w) {
    const std::int32_t begin = w * n / windows, length = (w + 1) * n / windows - begin;
    for (std::int32_t x = 0; x < length; ++x) {
      if (x == 0 || x * h / length != (x - 1) * h / length) places.push_back(begin + x);
    }
  }
  return places;
}

/// Places from each station of a ring to the next of its class.
std::vector<std::int32_t> class_gaps(std::int32_t n, std::int32_t h) {
  const std::vector<std::int32_t> places = station_places(n, h);
  std::vector<std::int32_t> gaps;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::size_t next = i + static_cast<std::size_t>(h);
    gaps.push_back(next < places.size() ? places[next] - places[i] : places[next - places.size()] + n - places[i]);
  }
  return gaps;
}

std::int32_t longest_gap(const Topology& topology, std::int32_t h) {
  std::int32_t longest = 0;
  for (const Dimension d : {0, 1}) {
    for (const std::int32_t gap : class_gaps(topology.extent(d), h)) longest = std::max(longest, gap);
  }
  return longest;
}

/// From a station to the farthest place that is nearer to it than to the next of its class.
std::int32_t farthest_in_a_window(std::int32_t n, std::int32_t h) {
  const std::vector<std::int32_t> gaps = class_gaps(n, h);
  return *std::max_element(gaps.begin(), gaps.end()) / 2;
}

}  // namespace

TEST_CASE("hierarchical broadcasts take any h up to the shorter of two sides, balanced in any way", "[conformance]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  support::Share share(4);
  for (const char* shape : {"2x3", "3x3", "3x5", "5x4", "7x7", "5x8", "9x7", "11x4", "13x13", "3x20"}) {
    const Topology topology = Topology::parse(shape);
    for (std::int32_t h = 2; h <= std::min(topology.extent(0), topology.extent(1)); ++h) {
      const auto steps_of = [&](bool log, bool together, std::int32_t tuning) {
        const std::int32_t gap = longest_gap(topology, h);
        std::int32_t window = 0, rings = 0, sum = 0;
        for (const Dimension d : {0, 1}) {
          window = std::max(window, farthest_in_a_window(topology.extent(d), h));
          rings = std::max(rings, topology.extent(d) / h / 2);
          sum += topology.extent(d) / h / 2;
        }
        const auto L = [](std::uint64_t base, std::int32_t n) {
          return static_cast<std::int32_t>(ceil_log(base, static_cast<std::uint64_t>(n)));
        };
        return 1 + L(5, h) + tuning + (together ? sum : 2 * rings) + (log ? L(3, 2 * window + 1) + gap / 2 : L(3, h) + 2 * (gap / 2));
      };
      if (topology.extent(0) % h == 0 && topology.extent(1) % h == 0) continue;
      for (const std::string_view prefix : {"", "none", "hash", "split"}) {
        for (const std::uint32_t one_in : {1U, 3U, 20U}) {
          if (!share.takes_turn()) continue;
          const Machine machine(topology, 0, Switching::wormhole, Contention::forbid,
                                h % 2 == 0 ? std::vector<Dimension>{} : std::vector<Dimension>{1, 0});
          Request request = multinode_request(random_nodes(random, topology.nodes(), one_in), one_in == 20 ? 300 : 37);
          if (one_in == 1) request.expected_sources = topology.nodes();
          request.parameters.set("h", static_cast<std::uint64_t>(h));
          request.parameters.set("prefix", prefix);
          for (const std::string_view name : {"hierarchical --dcn scatter", "hierarchical --dcn broadcast"}) {
            CAPTURE(name, shape, h, prefix, one_in);
            const Emulation e = checked(name, machine, request);
            const bool exact = one_in == 1 && (prefix.empty() || prefix == "none");
            if (exact) CHECK(static_cast<double>(e.result.channel_bytes_sum) == e.plan.channel_bytes);
            const auto tuning = static_cast<std::int32_t>(phase_steps(e.result, "tune"));
            const bool together = e.plan.formula.find("sum of") != std::string::npos;
            CHECK(static_cast<std::int32_t>(e.result.steps) == steps_of(name == "hierarchical --dcn broadcast", together, tuning));
          }
        }
      }
    }
  }
}

TEST_CASE("hierarchical broadcasts go round unequal sides in the fewest steps, and balance nothing that needs no balance",
          "[conformance]") {
  struct Known {
    const char* shape;
    std::uint32_t h;
    std::uint64_t steps, steps_log;  // worked out by hand
  };
  // 12x40, h = 4: L5(4) 1, rings of 3 and of 10 1 + 5, L3(4) 2, and 2 of the rings modulo 4, -log: once. 13x13, h = 4: join 1, L5(4) 1,
  // rings of 3 1 + 1, L3(4) 2, -log: 2 for windows of 5 places, gaps of up to 5 places 2 each way.
  for (const Known& k : {Known{"12x40", 4, 13, 11}, Known{"13x13", 4, 10, 8}, Known{"16x16", 4, 11, 9}}) {
    const Machine machine(Topology::parse(k.shape));
    Request request = multinode_request(all_nodes(machine.topology.nodes()), 8);
    request.expected_sources = machine.topology.nodes();
    request.parameters.set("h", k.h);
    CAPTURE(k.shape);
    for (const Bytes bytes : {Bytes{8}, Bytes{9}}) {
      request.bytes = bytes;
      for (const bool log : {false, true}) {
        const Emulation e = checked(log ? "hierarchical --dcn broadcast" : "hierarchical --dcn scatter", machine, request);
        CHECK(e.result.steps == (log ? k.steps_log : k.steps));
        CHECK(static_cast<double>(e.result.channel_bytes_sum) == e.plan.channel_bytes);
      }
    }
    // Few and short messages would not repay it wherever they were.
    request.sources = {0, 5};
    request.expected_sources = 2;
    CHECK(phase_steps(checked("hierarchical --dcn broadcast", machine, request).result, "tune") == 0);
    request.bytes = 65536;
    CHECK(phase_steps(checked("hierarchical --dcn broadcast", machine, request).result, "tune") > 0);
  }
}

TEST_CASE("log serves unequal sides in few steps, from any sources, with the bytes it foretells for all", "[conformance]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  struct Known {
    const char* shape;
    std::uint64_t steps;  // worked out by hand
  };
  // Gather, exchange and spread. 12x40: 36 stations, 4 lines folded, 2 + 4 + 2. 15x16: 15 stations, 1 line folded, 2 + 3 + 2. 8x32: 24
  // stations, 8 lines folded, 2 + 3 + 2. 4x64: 24 stations, joined from up to 3 lines each, 1 + 1 before and after; t = 1, 3, 4, 4.
  for (const Known& k : {Known{"12x40", 8}, Known{"40x12", 8}, Known{"15x16", 7}, Known{"16x15", 7}, Known{"8x32", 7}, Known{"32x8", 7},
                         Known{"4x64", 8}, Known{"64x4", 8}, Known{"7x9", 6}, Known{"3x5", 3}, Known{"2x1", 1}, Known{"1x9", 3}}) {
    const Machine machine(Topology::parse(k.shape));
    CAPTURE(k.shape);
    Request request = multinode_request(all_nodes(machine.topology.nodes()), 5);
    request.expected_sources = machine.topology.nodes();
    const Emulation all = checked("log", machine, request);
    CHECK(all.result.steps == k.steps);
    CHECK(static_cast<double>(all.result.channel_bytes_sum) == all.plan.channel_bytes);
    for (const std::uint32_t one_in : {2U, 30U})
      checked("log", machine, multinode_request(random_nodes(random, machine.topology.nodes(), one_in), 5));
    checked("log", machine, multinode_request({machine.topology.nodes() - 1}, 0));
  }
}

TEST_CASE("log shares no channel on any two sides up to 14", "[conformance]") {
  for (std::int32_t a = 1; a <= 14; ++a) {
    for (std::int32_t b = 1; b <= 14; ++b) {
      const Machine machine(Topology::parse(std::to_string(a) + "x" + std::to_string(b)));
      CAPTURE(a, b);
      Request request = multinode_request(all_nodes(machine.topology.nodes()), 1);
      request.expected_sources = machine.topology.nodes();
      const Emulation e = checked("log", machine, request);
      CHECK(static_cast<double>(e.result.channel_bytes_sum) == e.plan.channel_bytes);
    }
  }
}
