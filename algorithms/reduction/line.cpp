#include "algorithms/reduction/line.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "algorithms/common/linked_dimensions.hpp"
#include "algorithms/reduction/segment_bytes.hpp"

namespace torus::reduction {
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

}  // namespace

const Algorithm line_scan{
    .name = "line",
    .collective = Collective::scan,
    .source = "folklore: prefixes along lines, dimension by dimension",
    .shapes = "any",
    .steps = "sum over the dimensions d = 1 .. k, the last the fastest, of d (n_d - 1)",
    .native = {.switching = Switching::packet, .ports = 1},
    .plan = plan,
};

}  // namespace torus::reduction
