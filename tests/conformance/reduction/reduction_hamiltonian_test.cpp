// Reductions round edge-disjoint Hamiltonian cycles.
#include <algorithm>
#include <cstdint>
#include <set>
#include <tuple>

#include "algorithms/reduction/reduce_scatter/hamiltonian_cycles.hpp"
#include "tests/support/halves.hpp"

using namespace torus;
using namespace torus::support;

namespace {

bool has_cycles(const Topology& topology) {
  const auto shape = topology.shape();
  return std::none_of(shape.begin(), shape.end(), [](const DimensionShape& d) { return d.extent == 2; });
}

/// Each cycle meets all nodes once, over links of the machine, and together they use every link once.
void check_cycles(const Topology& topology) {
  CAPTURE(topology.text());
  const auto cycles = reduction::hamiltonian_cycles(topology);
  CHECK(2 * cycles.size() == static_cast<std::size_t>(topology.nodes() == 1 ? 0 : topology.max_ports()));
  std::set<std::tuple<NodeId, Dimension>> links;  // by the end that they leave by +
  for (const auto& cycle : cycles) {
    CHECK(std::set<NodeId>(cycle.order.begin(), cycle.order.end()).size() == topology.nodes());
    for (std::size_t i = 0; i < cycle.order.size(); ++i) {
      const NodeId from = cycle.order[i], to = cycle.order[(i + 1) % cycle.order.size()];
      CHECK(topology.neighbour(from, cycle.dimension[i], cycle.direction[i]) == to);
      CHECK(cycle.position[from] == i);
      links.emplace(cycle.direction[i] > 0 ? from : to, cycle.dimension[i]);
    }
  }
  CHECK(links.size() == cycles.size() * topology.nodes());
}

}  // namespace

TEST_CASE("a torus of sides of 3 or more falls into Hamiltonian cycles", "[conformance]") {
  for (const Topology& topology : tori_of_halves(150)) {
    if (has_cycles(topology)) check_cycles(topology);
  }
  for (const char* shape : {"16x16", "25x25", "12x40", "8x8x8", "4x4x4x4", "3x3x3x3x3", "17x19"}) check_cycles(Topology::parse(shape));
}

TEST_CASE("round Hamiltonian cycles, a half takes floor(N/2) steps and the fewest bytes, on equal and unequal sides", "[conformance]") {
  for (const Topology& topology : tori_of_halves()) {
    if (!has_cycles(topology)) continue;
    CAPTURE(topology.text());
    const HalfFigures half = halves_on("hamiltonian", topology);
    const std::uint64_t others = topology.nodes() - 1;
    CHECK(half.steps == topology.nodes() / 2);
    CHECK(half.channel == others);  // of 2kN segments: m (N-1)/(2kN)
    CHECK(half.combined == others * half.segments / topology.nodes() * (others > 0 ? 1 : 0));
  }
}
