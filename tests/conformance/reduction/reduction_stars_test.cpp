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

}  // namespace

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
