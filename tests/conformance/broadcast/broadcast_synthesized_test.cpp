/// synthesized: the lower bound itself, on every torus tried.
#include <random>

#include <torus/bounds.hpp>
#include <torus/engine.hpp>

#include "algorithms/broadcast/circuit/schedule.hpp"
#include "algorithms/broadcast/synthesis/synthesizer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/schedule_judge.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;
using namespace torus::broadcast;

namespace {

/// Legal, complete, in ceil(log_{ports+1} N) steps, none of them idle.
void check_bound(const std::vector<std::int32_t>& extents, std::int32_t ports) {
  std::vector<DimensionShape> shape;
  for (const std::int32_t n : extents) shape.push_back({n, Wiring::ring});
  const Topology topology(std::move(shape));
  if (ports > topology.max_ports()) return;
  CAPTURE(topology.text(), ports);
  std::uint32_t bound = 0;
  for (std::uint64_t reached = 1; reached < topology.nodes(); reached *= static_cast<std::uint64_t>(ports) + 1) ++bound;
  const auto found = Synthesizer(topology, ports).broadcast_in(bound);
  REQUIRE(found.has_value());
  const auto schedule = table_schedule(topology, "flow", *found);
  const support::Judgement judgement = support::judge(topology, ports, *schedule);
  REQUIRE(judgement.violation == "");
  REQUIRE(judgement.informed.size() == topology.nodes());
  REQUIRE(judgement.messages == topology.nodes() - 1);
  REQUIRE(judgement.idle_steps == 0);
  REQUIRE(schedule->steps() == bound);
}

bool nearly_full(std::uint64_t nodes, std::int32_t ports, double share) {
  std::uint64_t full = 1;
  while (full < nodes) full *= static_cast<std::uint64_t>(ports) + 1;
  return static_cast<double>(nodes) > share * static_cast<double>(full);
}

}  // namespace

TEST_CASE("synthesized meets the bound on all 2D tori to 40x40 and on rings, with any ports", "[conformance]") {
  support::Share share(3, 2);
  for (std::int32_t ports = 1; ports <= 4; ++ports) {
    for (std::int32_t a = 1; a <= 40; ++a) {
      if (!share.takes_turn()) continue;
      for (std::int32_t b = a; b <= 40; ++b) check_bound({a, b}, ports);
    }
    for (std::int32_t n = 33; n <= 1000; n += 31) check_bound({n}, ports);
  }
}

TEST_CASE("synthesized meets the bound on all 3D tori with sides 2 to 8, on 4D and 5D ones, with any ports", "[conformance]") {
  for (std::int32_t ports = 1; ports <= 10; ++ports) {
    for (std::int32_t a = 2; a <= 8; ++a) {
      for (std::int32_t b = a; b <= 8; ++b) {
        for (std::int32_t c = b; c <= 8; ++c) check_bound({a, b, c}, ports);
      }
    }
    for (std::int32_t a = 2; a <= 4; ++a) {
      for (std::int32_t b = a; b <= 4; ++b) {
        check_bound({2, a, b, 5}, ports);
        check_bound({2, a, 2, b, 3}, ports);
      }
    }
  }
}

TEST_CASE("synthesized meets the bound where squeeze-expand misses its theorems", "[conformance]") {
  check_bound({2, 7, 7}, 4);
  check_bound({2, 7, 9}, 4);
  check_bound({2, 9, 9}, 4);
  check_bound({2, 5, 5}, 5);
}

TEST_CASE("synthesized meets the bound on 2D and 3D tori that are just full", "[conformance]") {
  support::Share share(3, 2);
  for (std::int32_t ports = 2; ports <= 4; ++ports) {
    for (std::int32_t a = 2; a <= 55; ++a) {
      if (!share.takes_turn()) continue;
      for (std::int32_t b = a; a * b <= 3125; ++b) {
        if (nearly_full(static_cast<std::uint64_t>(a * b), ports, 0.99)) check_bound({a, b}, ports);
      }
    }
  }
  for (std::int32_t a = 2; a <= 8; ++a) {
    for (std::int32_t b = a; a * b <= 343; ++b) {
      for (std::int32_t c = b; a * b * c <= 343; ++c) {
        if (nearly_full(static_cast<std::uint64_t>(a * b * c), 6, 0.97)) check_bound({a, b, c}, 6);
      }
    }
  }
  check_bound({2, 4, 300}, 6);  // the last resorts of the search
  check_bound({4, 3906}, 4);
}

TEST_CASE("synthesized meets the bound on long thin and on large tori", "[conformance]") {
  for (std::int32_t ports = 1; ports <= 6; ++ports) {
    for (const std::int32_t n : {49, 150, 333, 600, 1201}) {
      for (std::int32_t a = 2; a <= 4; ++a) check_bound({a, n}, ports);
      check_bound({2, n, 2}, ports);
      check_bound({n, 2, 3}, ports);
    }
    check_bound({124, 126}, ports);
    check_bound({128, 128}, ports);
    check_bound({20, 28, 30}, ports);
  }
}

TEST_CASE("synthesized finds the bound on nine meshes of ten, from a corner and from within, and never needs two steps more",
          "[conformance]") {
  int all = 0;
  int met = 0;
  for (std::int32_t ports = 1; ports <= 4; ++ports) {
    for (std::int32_t a = 2; a <= 11; ++a) {
      for (std::int32_t b = 2; b <= 11; ++b) {
        const Topology mesh({{a, Wiring::line}, {b, a % 2 == 0 ? Wiring::line : Wiring::ring}});
        if (ports > mesh.max_ports()) continue;
        for (const NodeId root : {NodeId{0}, mesh.nodes() / 2 + 1}) {
          CAPTURE(mesh.text(), ports, root);
          Synthesizer synthesizer(mesh, ports, root);
          const std::uint32_t bound = synthesizer.least_steps();
          ++all;
          if (synthesizer.broadcast_in(bound)) {
            ++met;
          } else {
            REQUIRE(synthesizer.broadcast_in(bound + 1));
          }
        }
      }
    }
  }
  CHECK(met * 10 >= all * 9);
}

TEST_CASE("synthesized ends after a bounded effort where the bound is out of reach, and finds a broadcast of a step more",
          "[conformance]") {
  struct Case {
    const char* text;
    std::int32_t ports;
    NodeId root;
  };
  support::Share share(3, 2);
  for (const auto& [text, ports, root] : {Case{"mesh:2532", 2, 2531}, Case{"mesh:1x1987", 2, 1759}, Case{"mesh:2x1500", 3, 1000},
                                          Case{"mesh:3x3x3x122", 8, 2089}, Case{"727mx2", 4, 1351}, Case{"112mx3m", 4, 309}}) {
    if (!share.takes_turn()) continue;
    CAPTURE(text, ports, root);
    const Topology mesh = Topology::parse(text);
    Synthesizer synthesizer(mesh, ports, root);
    const std::uint32_t bound = synthesizer.least_steps();
    // Gives up after a flow and not amid one.
    const std::uint64_t most = Synthesizer::most_looks(mesh) / 20 * 21;
    const bool met = synthesizer.broadcast_in(bound).has_value();
    REQUIRE(synthesizer.looks() <= most);
    const std::uint64_t before = synthesizer.looks();
    if (!met) REQUIRE(synthesizer.broadcast_in(bound + 1));
    REQUIRE(synthesizer.looks() - before <= most);
  }
}

TEST_CASE("a synthesis is the same every time", "[conformance]") {
  const Topology torus = Topology::parse("4x156");
  const auto once = Synthesizer(torus, 4).broadcast_in(4);
  const auto again = Synthesizer(torus, 4).broadcast_in(4);
  REQUIRE((once && again));
  for (std::size_t step = 0; step < 4; ++step) {
    REQUIRE((*once)[step].size() == (*again)[step].size());
    for (std::size_t i = 0; i < (*once)[step].size(); ++i) {
      REQUIRE((*once)[step][i].from == (*again)[step][i].from);
      REQUIRE((*once)[step][i].route == (*again)[step][i].route);
    }
  }
}
