// Windows and stars of worms: every contributor once, on any torus, with any ports, in either order of dimensions.
#include <set>
#include <string>
#include <vector>

#include <torus/bounds.hpp>
#include <torus/catalogue.hpp>

#include "algorithms/common/integers.hpp"
#include "algorithms/reduction/stars/window_classes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/judged.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

const Algorithm& stars() { return *find_algorithm(Collective::allreduce, "stars"); }

Request with_pieces(Bytes bytes, std::uint32_t pieces) {
  Request request = support::reduction_request(Collective::allreduce, bytes, {Operator::sum, ElementType::u16});
  if (pieces != 0) request.parameters.set("pieces", pieces);
  return request;
}

std::vector<Topology> shapes_for_stars() {
  std::vector<Topology> out = support::telling_shapes();
  for (const char* shape : {"6x4", "9x6", "10x10", "4x4x6", "2x2", "7", "2x2x2x2", "1x6x4", "3x1", "5x7", "1"})
    out.push_back(Topology::parse(shape));
  return out;
}

std::vector<Dimension> descending(const Topology& topology) {
  std::vector<Dimension> order;
  for (Dimension d = topology.dimensions(); d-- > 0;) order.push_back(d);
  return order;
}

}  // namespace

TEST_CASE("stars all-reduce on every torus, with any ports and pieces, in either order of dimensions, as predicted", "[conformance]") {
  unsigned runs = 0;
  for (const Topology& topology : shapes_for_stars()) {
    for (const int ports : {0, 1, 2, 3}) {
      if (ports > topology.max_ports()) continue;
      for (const std::uint32_t pieces : {0U, 1U, 2U, 3U, 4U, 5U, 8U, 9U}) {
        const bool turned = runs % 2 == 1;
        const Machine machine(topology, ports, Switching::wormhole, Contention::forbid,
                              turned ? descending(topology) : std::vector<Dimension>{});
        const Bytes bytes = pieces % 3 == 0 ? 0 : pieces % 3 == 1 ? 46 : 96;
        const Request request = with_pieces(bytes, pieces);
        if (refuses(stars(), machine, request)) continue;
        CAPTURE(topology.text(), machine.ports, pieces, bytes, turned);
        const auto [run, complaint] = support::judged(stars(), machine, request);
        REQUIRE(complaint == "");
        REQUIRE(run.result.steps == run.plan.steps);
        REQUIRE(run.result.route_hops_sum == run.plan.route_hops);
        if (bytes % (2 * run.plan.segments) == 0) REQUIRE(static_cast<double>(run.result.channel_bytes_sum) == run.plan.channel_bytes);
        ++runs;
      }
    }
  }
  CHECK(runs > 200);
}

TEST_CASE("all nodes of a window have a class of their own, and the gather brings every other class once", "[conformance]") {
  for (const Topology& topology : shapes_for_stars()) {
    if (!is_torus(topology)) continue;
    for (const int ports : {0, 1, 2}) {
      if (ports > topology.max_ports()) continue;
      const Machine machine(topology, ports);
      for (std::uint32_t classes = 1; classes <= 16; ++classes) {
        const auto windows = reduction::stars::WindowClasses::find(machine, classes);
        if (!windows) continue;
        CAPTURE(topology.text(), machine.ports, classes);
        std::vector<NodeId> members(classes, 0);
        for (NodeId node = 0; node < topology.nodes(); ++node) ++members.at(windows->of(topology.coordinates(node)));
        CHECK(members == std::vector<NodeId>(classes, topology.nodes() / classes));
        std::set<std::uint32_t> held{0};
        for (const auto& round : windows->rounds()) {
          CHECK(static_cast<int>(round.size()) <= machine.ports);
          const std::set<std::uint32_t> before = held;
          for (const auto& move : round) {
            const std::uint32_t beyond = windows->of(topology.coordinates(*topology.neighbour(0, move.leg.dimension, move.leg.hops)));
            for (const std::uint32_t displacement : move.displacements) {
              CHECK(held.insert(displacement).second);
              // What the neighbour has is as much nearer to it.
              std::uint32_t from = 0;
              while (windows->sum(beyond, from) != displacement) ++from;
              CHECK(before.count(from) == 1);
            }
          }
        }
        CHECK(held.size() == classes);
      }
    }
  }
}

TEST_CASE("2k+1 classes on a torus with a perfect code are gathered in one round", "[conformance]") {
  for (const auto& [shape, classes] : {std::pair{"5x5", 5U}, std::pair{"10x15", 5U}, std::pair{"7x7x7", 7U}, std::pair{"9x9x9x9", 9U}}) {
    CAPTURE(std::string(shape));
    const auto windows = reduction::stars::WindowClasses::find(Machine(Topology::parse(shape)), classes);
    REQUIRE(windows);
    CHECK(windows->rounds().size() == 1);
    CHECK(windows->channel() == 1);
  }
}

TEST_CASE("stars without windows take at most three times the bound in steps", "[conformance]") {
  for (const char* shape : {"8x8", "16x16", "8x8x8", "4x4x4x4", "12x40", "7x11", "2x2x2x2"}) {
    for (const int ports : {0, 1}) {
      const Machine machine(Topology::parse(shape), ports);
      const Request request = with_pieces(64, 1);
      CAPTURE(std::string(shape), machine.ports);
      CHECK(stars().plan(machine, request).steps <= 3 * lower_bounds(machine, request).steps);
    }
  }
}

TEST_CASE("unshared worms reduce vectors of middle length within 3.4 times the bound, with one port within 2.2", "[conformance]") {
  for (const char* shape : {"16x16", "12x40", "4x4x4x4"}) {
    for (const Bytes bytes : {Bytes{1} << 14U, Bytes{1} << 16U}) {
      for (const int ports : {0, 1}) {
        const Machine machine(Topology::parse(shape), ports);
        const Request request = with_pieces(bytes, 0);
        CAPTURE(std::string(shape), bytes, machine.ports);
        const double bound = lower_bounds(machine, request).simple_model_time_s(machine.cost);
        CHECK(stars().plan(machine, request).model_time_s(machine.cost) < (ports == 1 ? 2.2 : 3.4) * bound);
      }
    }
  }
}

TEST_CASE("stars are refused on meshes, and with pieces that no sublattice gives", "[conformance]") {
  CHECK(why_not(stars(), Machine(Topology::parse("4x4m")), with_pieces(64, 0)) != "");
  CHECK(why_not(stars(), Machine(Topology::parse("8x8")), with_pieces(64, 5)) ==
        "pieces 5: stars needs as many classes of nodes that repeat over the torus; 64 would do");
  CHECK(why_not(stars(), Machine(Topology::parse("128x128")), with_pieces(64, 0)) ==
        "shape 128x128: stars searches for its worms on machines of up to 1024 nodes; 32x32 would do");
}

TEST_CASE("stars leave one trace on every executor", "[conformance]") {
  support::check_same_on_every_executor(stars(), Machine(Topology::parse("6x6")), with_pieces(100, 4));
  support::check_same_on_every_executor(stars(), Machine(Topology::parse("4x10"), 1), with_pieces(100, 2));
}
