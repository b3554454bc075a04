/// Inclusive scan in the order of ranks: sums run along a line, then go back to the nodes that come after.
///
/// Along the last dimension each node passes its prefix on to the next place. Then, dimension by dimension inwards to outwards, the last
/// nodes of the blocks done so far do the same: what comes in is the sum of all earlier blocks of the same outer coordinates. It is
/// combined with register 0, kept alone in register 1, and goes from there back over the block, outermost dimension first. A node gives it
/// away when it passes it on for the last time, and a node that does not pass it on never gets it into register 1. So register 1 is empty
/// again for the next dimension, and one spare register is enough for any number of dimensions. Without one, a node could not pass on a sum
/// that has become part of its own prefix.
/// Machine  any shape, packet (single hops), one port, no channel shared.
/// Steps    (n_k - 1) + sum over d < k of [(n_d - 1) + sum over e > d of (n_e - 1)].   Bytes  steps m.   Header  none.
/// Memory   2 vectors a node, one on a single line.
/// Order    combined in the order of ranks, but that a node's own comes first: for commuting operators.
/// Source   folklore.

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/common/shapes.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/reduction/segment_bytes.hpp"

namespace torus::reduction::line {
namespace {

using Dimensions = std::vector<Dimension>;

/// Whether a node is at the last place of all dimensions from the axis on.
bool is_last(const Node& self, const Dimensions& axes, std::size_t from) {
  return std::all_of(axes.begin() + static_cast<std::ptrdiff_t>(from), axes.end(),
                     [&](Dimension d) { return self.coordinate(d) + 1 == self.extent(d); });
}

/// Whether a node has a place below it in a dimension from the axis on: it will pass a sum on.
bool passes_on(const Node& self, const Dimensions& axes, std::size_t from) {
  return std::any_of(axes.begin() + static_cast<std::ptrdiff_t>(from), axes.end(), [&](Dimension d) { return self.coordinate(d) > 0; });
}

/// Prefixes run up along a dimension, into register 0, and over the last nodes of blocks into register 1 too.
void send_up(Node& self, Dimension d, bool blocks) { self.send(blocks ? combine_into({0, 1}) : combine, {{d, +1}}, {{0}}); }

/// The sum in register 1 goes a place back along an axis.
void send_back(Node& self, const Dimensions& axes, std::size_t axis) {
  const Dimension d = axes[axis];
  const bool receiver_passes_on = self.coordinate(d) > 1 || passes_on(self, axes, axis + 1);
  const Combine into = receiver_passes_on ? combine_into({0, 1}) : combine;
  const Leg back{d, self.topology().reverse(d, +1)};
  if (passes_on(self, axes, axis + 1))
    self.send(into, {back}, {{1}});
  else
    self.forward(into, {back}, {{1}});
}

Program program(Node& self, const Dimensions& axes) {
  for (std::size_t level = axes.size(); level-- > 0;) {
    const std::int32_t x = self.coordinate(axes[level]), n = self.extent(axes[level]);
    for (std::int32_t step = 0; step + 1 < n; ++step) {
      self.phase("up");
      if (x == step && is_last(self, axes, level + 1)) send_up(self, axes[level], level + 1 < axes.size());
      co_await self.step();
    }
    for (std::size_t inner = level + 1; inner < axes.size(); ++inner) {
      for (std::int32_t place = self.extent(axes[inner]) - 1; place > 0; --place) {
        self.phase("back");
        if (x > 0 && self.coordinate(axes[inner]) == place && is_last(self, axes, inner + 1)) send_back(self, axes, inner);
        co_await self.step();
      }
    }
  }
}

Plan plan(const Machine& machine, const Request& request) {
  const auto axes = std::make_shared<const Dimensions>(linked_dimensions(machine.topology));
  Plan plan;
  plan.start = [axes](Node& self) { return program(self, *axes); };
  plan.registers = axes->size() > 1 ? 2 : 1;
  for (std::size_t d = 0; d < axes->size(); ++d)
    plan.steps += (d + 1) * static_cast<std::uint64_t>(machine.topology.extent((*axes)[d]) - 1);
  plan.route_hops = plan.steps;
  plan.formula = "sum over d of d (n_d - 1)";
  const SegmentBytes vector(request, 1);
  plan.channel_bytes = vector.of(plan.steps);
  plan.combined_bytes = vector.of(plan.steps);
  return plan;
}

constexpr std::array terms{Term{"d", "number of a dimension, from 1; the last is the fastest"}};

constexpr Algorithm line_scan{
    .name = "line",
    .collective = Collective::scan,
    .source = "folklore: prefixes along lines, dimension by dimension",
    .shapes = "any",
    .steps = "sum over the dimensions d = 1 .. k, the last the fastest, of d (n_d - 1)",
    .idea = {.first = "Along the last dimension each node adds what the place before it sends and passes its sum on, so that every node "
                      "knows the sum of its line up to itself.",
             .then = "The last nodes of the lines do the same in the next dimension, and the sum of all earlier lines goes back over each "
                     "line, where every node adds it.",
             .good = "It needs one port, single hops and one spare vector on any shape; the steps grow with the sides, since each line "
                     "passes its sum on place by place."},
    .terms = terms,
    .native = {.switching = Switching::packet, .ports = 1},
    .plan = plan,
};

}  // namespace

extern const Entries entries{line_scan};

}  // namespace torus::reduction::line
