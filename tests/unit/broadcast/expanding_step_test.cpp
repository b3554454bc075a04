#include <random>

#include "algorithms/broadcast/circuit/steps.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/schedule_judge.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;
using namespace torus::broadcast;

namespace {

/// Positions with any gaps of 1..longest.
GapSequence random_sequence(std::mt19937_64& random, std::int32_t size, std::uint32_t longest) {
  std::vector<std::int32_t> positions;
  std::int32_t at = 0;
  for (std::int32_t i = 0; i < size; ++i) {
    positions.push_back(at);
    at += 1 + static_cast<std::int32_t>(support::random_below(random, longest));
  }
  return {at, std::move(positions)};
}

/// All gaps in as many parts as `ports` allow or, where they are too short or by chance, in fewer; the sizes as they fall.
std::vector<std::vector<std::int32_t>> random_cuts(std::mt19937_64& random, const GapSequence& sequence, std::int32_t ports) {
  std::vector<std::vector<std::int32_t>> cuts;
  for (std::int32_t i = 0; i < sequence.size(); ++i) {
    const std::int32_t gap = sequence.gap(i);
    const std::int32_t most = ports % 2 == 0 ? ports + 1 : i % 2 == 0 ? ports + 2 : ports;
    std::int32_t parts = std::min(most, gap);
    if (support::random_below(random, 4) == 0) parts = 1;
    parts -= parts % 2 == 0 ? 1 : 0;
    std::vector<std::int32_t> sizes(static_cast<std::size_t>(parts), 1);
    for (std::int32_t left = gap - parts; left > 0; --left) ++sizes[support::random_below(random, sizes.size())];
    cuts.push_back(std::move(sizes));
  }
  return cuts;
}

std::vector<NodeId> lattice(const Topology& topology, const std::vector<GapAxis>& axes) {
  std::vector<NodeId> nodes;
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    bool even = true;
    bool odd = true;
    for (const GapAxis& axis : axes) {
      const std::int32_t index = axis.sequence->index_of(topology.coordinate(node, axis.dimension));
      even = even && index >= 0 && index % 2 == 0;
      odd = odd && index >= 0 && index % 2 == 1;
    }
    if (even || odd) nodes.push_back(node);
  }
  return nodes;
}

}  // namespace

TEST_CASE("an expanding step refines any mixture of gaps without two circuits on a channel", "[unit]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  for (int trial = 0; trial < 300; ++trial) {
    const auto k = static_cast<std::size_t>(2 + support::random_below(random, 3));
    const auto ports = static_cast<std::int32_t>(3 + support::random_below(random, 2 * k - 2));
    const Detour detour = k == 2 ? Detour::cross : Detour::there_and_back;
    std::vector<GapAxis> axes;
    std::vector<DimensionShape> shape;
    for (std::size_t d = 0; d < k; ++d) {
      const std::int32_t size = 2 + 2 * static_cast<std::int32_t>(support::random_below(random, k == 2 ? 4 : 2));
      const auto sequence = std::make_shared<const GapSequence>(random_sequence(random, size, d == 0 ? 20 : 3));
      axes.push_back({static_cast<Dimension>(d), sequence});
      shape.push_back({sequence->extent(), Wiring::ring});
    }
    const Topology topology(shape);
    CAPTURE(trial, topology.text(), ports);
    const auto cuts = random_cuts(random, *axes[0].sequence, ports);
    CircuitSchedule schedule;
    auto step = std::make_unique<ExpandingStep>(axes[0], cuts, detour, std::vector<GapAxis>(axes.begin() + 1, axes.end()));
    Bytes sequences = 0;
    for (std::size_t d = 1; d < k; ++d) sequences += axes[d].sequence->bytes();
    CHECK(step->table_bytes() > sequences);  // its own table starts a row for every position
    schedule.add("expand", std::move(step));
    const support::Judgement judgement = support::judge(topology, ports, schedule, lattice(topology, axes));
    CHECK(judgement.violation.empty());
    axes[0].sequence = std::make_shared<const GapSequence>(axes[0].sequence->refined(cuts));
    CHECK(judgement.informed == lattice(topology, axes));
  }
}
