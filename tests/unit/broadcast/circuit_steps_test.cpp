/// The steps of squeeze-expand: ring trees, sequences of gaps, and the steps that refine them.
#include <numeric>
#include <random>

#include <torus/catalogue.hpp>

#include "algorithms/broadcast/circuit/steps.hpp"
#include "algorithms/common/integers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/schedule_judge.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;
using namespace torus::broadcast;

TEST_CASE("a ring tree informs every place once, in the least number of steps, and its messages of a step never overlap", "[unit]") {
  for (std::int32_t ports = 1; ports <= 8; ++ports) {
    for (std::int32_t places = 1; places <= 140; ++places) {
      CAPTURE(ports, places);
      const RingTree tree(places, ports);
      REQUIRE(tree.steps() == ceil_log(static_cast<std::uint64_t>(ports) + 1, static_cast<std::uint64_t>(places)));
      std::vector<bool> informed(static_cast<std::size_t>(places), false);
      informed[0] = true;
      std::int32_t count = 1;
      for (std::size_t step = 0; step < tree.steps(); ++step) {
        const std::vector<bool> before = informed;
        // How far a step's messages of each track and side cover the ring: no stretch twice, or two would want one channel.
        std::vector<int> covered(static_cast<std::size_t>(places) * 16, 0);
        for (std::int32_t r = 0; r < places; ++r) {
          const auto children = tree.children(step, r);
          if (!before[static_cast<std::size_t>(r)]) REQUIRE(children.empty());
          REQUIRE(static_cast<std::int32_t>(children.size()) <= ports);
          for (const RingTree::Child& child : children) {
            REQUIRE(std::abs(child.offset) < places);
            REQUIRE((child.track >= 1 && child.track <= (ports + 1) / 2));
            const std::int32_t sign = child.offset > 0 ? 1 : -1;
            for (std::int32_t hop = 0; hop != child.offset; hop += sign) {
              const std::int32_t stretch = modulo(r + hop + (sign > 0 ? 0 : -1), places) * 16 + (child.track - 1) * 2 + (sign > 0 ? 1 : 0);
              REQUIRE(++covered[static_cast<std::size_t>(stretch)] == 1);
            }
            const auto to = static_cast<std::size_t>(modulo(r + child.offset, places));
            REQUIRE(!informed[to]);
            informed[to] = true;
            ++count;
          }
        }
      }
      REQUIRE(count == places);
    }
  }
}

namespace {

std::int64_t power(std::int64_t base, std::uint32_t exponent) {
  std::int64_t value = 1;
  while (exponent-- > 0) value *= base;
  return value;
}

}  // namespace

TEST_CASE("the caps of a large and a small gap together grow by ports + 1 each step", "[unit]") {
  for (std::int32_t ports = 3; ports <= 10; ++ports) {
    for (std::uint32_t steps = 0; steps <= 8; ++steps) {
      CAPTURE(ports, steps);
      const GapCaps full = gap_caps(GapBase::full, ports, steps);
      const GapCaps unit = gap_caps(GapBase::unit, ports, steps);
      CHECK(full.large + full.small == power(ports + 1, steps));
      CHECK(unit.large + unit.small == 2 * power(ports + 1, steps));
    }
  }
}

TEST_CASE("a gap within its cap is cut in parts within theirs, of alternate kinds and in an odd number", "[unit]") {
  for (std::int32_t ports = 3; ports <= 8; ++ports) {
    for (std::uint32_t steps = 0; steps <= 2; ++steps) {
      for (const bool large : {true, false}) {
        const GapCaps before = gap_caps(GapBase::full, ports, steps + 1);
        const GapCaps after = gap_caps(GapBase::full, ports, steps);
        for (std::int32_t gap = 0; gap <= (large ? before.large : before.small); ++gap) {
          CAPTURE(ports, steps, large, gap);
          const auto parts = cut_gap(GapBase::full, gap, large, ports, steps);
          REQUIRE(parts.size() % 2 == 1);
          REQUIRE(std::accumulate(parts.begin(), parts.end(), 0) == gap);
          for (std::size_t i = 0; i < parts.size(); ++i) REQUIRE(parts[i] <= (large == (i % 2 == 0) ? after.large : after.small));
        }
      }
    }
  }
}

TEST_CASE("towards unit gaps no part is 0 and at most one is even", "[unit]") {
  for (std::int32_t ports = 3; ports <= 8; ++ports) {
    for (const bool large : {true, false}) {
      for (std::int32_t gap = 1; gap <= 200; ++gap) {
        CAPTURE(ports, large, gap);
        const auto parts = cut_gap(GapBase::unit, gap, large, ports, 1);
        REQUIRE(parts.size() % 2 == 1);
        REQUIRE(std::accumulate(parts.begin(), parts.end(), 0) == gap);
        REQUIRE(*std::min_element(parts.begin(), parts.end()) >= 1);
        REQUIRE(std::count_if(parts.begin(), parts.end(), [](std::int32_t part) { return part % 2 == 0; }) == (gap % 2 == 0 ? 1 : 0));
      }
    }
  }
}

TEST_CASE("any spread of positions reaches its base in ceil(log((length)/m)) steps", "[unit]") {
  for (std::int32_t ports = 3; ports <= 8; ++ports) {
    for (std::int32_t extent = 2; extent <= 130; ++extent) {
      for (std::int32_t m = 2; m <= extent; m += (m < 8 ? 2 : 14)) {
        for (const GapBase base : {GapBase::full, GapBase::unit}) {
          CAPTURE(ports, extent, m, base == GapBase::full);
          const std::uint32_t steps = expanding_steps(base, extent, m, ports);
          // 2 n / m rounded up, or all but the odd one out: the least number of steps by counting.
          const std::int64_t positions = base == GapBase::full ? 2 * extent : extent - extent % 2;
          REQUIRE(m * power(ports + 1, steps) >= positions);
          REQUIRE((steps == 0 || m * power(ports + 1, steps - 1) < positions));
          GapSequence sequence = GapSequence::spread(base, extent, m, ports);
          REQUIRE(sequence.size() == m);
          for (std::int32_t i = 0; i < m; ++i) REQUIRE(sequence.gap(i) >= 1);
          for (std::uint32_t left = steps; left > 0; --left) sequence = sequence.refined(sequence.cuts(base, ports, left - 1));
          std::int32_t wide = 0;
          for (std::int32_t i = 0; i < sequence.size(); ++i) {
            if (base == GapBase::full) {
              REQUIRE(sequence.gap(i) <= (i % 2 == 0 ? 1 : 0));
            } else {
              REQUIRE(sequence.gap(i) >= 1);
              REQUIRE(sequence.gap(i) <= 2);
              wide += sequence.gap(i) - 1;
            }
          }
          if (base == GapBase::unit) REQUIRE(wide == extent % 2);
        }
      }
    }
  }
}

TEST_CASE("indices go round the ring: one turn further is an extent further", "[unit]") {
  const GapSequence sequence(10, {0, 3, 5, 9});
  CHECK(sequence.position(4) == 10);
  CHECK(sequence.position(-1) == -1);
  CHECK(sequence.position(7) == 19);
  CHECK(sequence.gap(3) == 1);
  CHECK(sequence.hops(1, -3) == -8);
  CHECK(sequence.index_of(5) == 2);
  CHECK(sequence.index_of(4) == -1);
}

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
