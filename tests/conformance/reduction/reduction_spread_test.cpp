// Scatter and gather, block by block, in as few steps as the root's channels allow.
#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <torus/catalogue.hpp>

#include "algorithms/reduction/spread_classes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/judged.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

/// Steps that the blocks need to leave the root, and then to come to the farthest nodes.
Step bound(const Topology& topology, NodeId root) {
  std::vector<std::uint64_t> at(topology.nodes() + 1, 0);
  std::uint64_t channels = 0;
  for (NodeId node = 0; node < topology.nodes(); ++node) ++at[static_cast<std::size_t>(topology.distance(root, node))];
  topology.each_link(root, [&](Dimension, std::int32_t, NodeId) { ++channels; });
  std::uint64_t beyond = 0, steps = 0;
  for (std::size_t e = at.size(); e-- > 1;) {
    beyond += at[e];
    if (beyond > 0) steps = std::max<std::uint64_t>(steps, e - 1 + (beyond + channels - 1) / channels);
  }
  return static_cast<Step>(steps);
}

struct Spread {
  Spread(Collective collective, const Topology& topology, NodeId root, Bytes bytes)
      : algorithm{*find_algorithm(collective, "spread")}, machine(topology, 0, Switching::packet) {
    request.collective = collective;
    request.sources = {root};
    request.bytes = bytes;
  }
  const Algorithm& algorithm;
  Machine machine;
  Request request;
};

/// One run that everybody looks at. Returns the steps.
std::uint64_t steps_of(const Spread& spread) {
  const support::Judged judged = support::judged(spread.algorithm, spread.machine, spread.request);
  REQUIRE(judged.complaint == "");
  return judged.run.result.steps;
}

/// Tori of up to `most` nodes, sides in descending order: all of them, by their sides.
void tori(std::uint32_t most, std::int32_t longest, std::vector<DimensionShape>& sides, const std::function<void(const Topology&)>& f) {
  if (!sides.empty()) f(Topology(sides));
  if (sides.size() == 4) return;
  for (std::int32_t n = 2; n <= longest && static_cast<std::uint32_t>(n) <= most; ++n) {
    sides.push_back({n, Wiring::ring});
    tori(most / static_cast<std::uint32_t>(n), n, sides, f);
    sides.pop_back();
  }
}

}  // namespace

TEST_CASE("blocks spread over every torus of up to 400 nodes in the fewest steps that the root's channels allow", "[conformance]") {
  unsigned shapes = 0;
  std::vector<DimensionShape> sides;
  tori(400, 400, sides, [&](const Topology& topology) {
    CAPTURE(topology.text());
    REQUIRE(reduction::SpreadClasses(topology, 0).steps() == bound(topology, 0));
    ++shapes;
  });
  for (const char* shape : {"64x64", "16x16x16", "7x11x13"}) {
    const Topology topology = Topology::parse(shape);
    CHECK(reduction::SpreadClasses(topology, 5).steps() == bound(topology, 5));
  }
  CHECK(shapes > 700);
}

TEST_CASE("spread scatters and gathers on tori of any sides, from any root, as predicted", "[conformance]") {
  unsigned runs = 0;
  std::vector<DimensionShape> sides;
  tori(100, 100, sides, [&](const Topology& topology) {
    for (const Collective collective : {Collective::scatter, Collective::gather}) {
      const NodeId root = topology.nodes() * 2 / 3;
      CAPTURE(topology.text(), std::string(name(collective)), root);
      REQUIRE(steps_of({collective, topology, root, topology.nodes() % 5}) == bound(topology, root));
      ++runs;
    }
  });
  CHECK(runs > 200);
}

TEST_CASE("spread scatters and gathers on meshes and mixtures in a few steps more at most", "[conformance]") {
  for (const Topology& topology : support::telling_shapes()) {
    if (!is_torus_or_mesh(topology)) continue;
    for (const NodeId root : std::set<NodeId>{0, topology.nodes() / 2, topology.nodes() - 1}) {
      for (const Collective collective : {Collective::scatter, Collective::gather}) {
        CAPTURE(topology.text(), std::string(name(collective)), root);
        const std::uint64_t steps = steps_of({collective, topology, root, 7});
        REQUIRE(steps >= bound(topology, root));
        REQUIRE(steps <= bound(topology, root) + (is_torus(topology) ? 0 : 5));
      }
    }
  }
}
