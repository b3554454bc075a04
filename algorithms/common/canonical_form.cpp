#include "algorithms/common/canonical_form.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

#include "algorithms/common/integers.hpp"

namespace torus {
namespace {

/// What decides where a dimension stands. `root`: the root's distance from the nearer end of a line.
auto key_of(const Machine& machine, Dimension d, std::int32_t root) {
  const auto turn =
      machine.switching == Switching::wormhole ? std::find(machine.routing.begin(), machine.routing.end(), d) - machine.routing.begin() : 0;
  return std::tuple(-machine.topology.extent(d), machine.topology.wiring(d), machine.cost.byte_s_of(d), root, turn);
}

}  // namespace

std::vector<Dimension> canonical_dimensions(const Machine& machine, std::optional<NodeId> root) {
  std::vector<Dimension> dimensions;
  for (Dimension d = 0; d < machine.topology.dimensions(); ++d) {
    if (machine.topology.extent(d) > 1) dimensions.push_back(d);
  }
  const auto key = [&](Dimension d) {
    const std::int32_t at = root && machine.topology.wiring(d) == Wiring::line ? machine.topology.coordinate(*root, d) : 0;
    return key_of(machine, d, std::min(at, machine.topology.extent(d) - 1 - at));
  };
  std::stable_sort(dimensions.begin(), dimensions.end(), [&](Dimension a, Dimension b) { return key(a) < key(b); });
  return dimensions;
}

CanonicalForm::CanonicalForm(const Machine& machine, std::optional<NodeId> root, Order order)
    : given_{machine.topology}, machine_{machine} {
  if (given_.twisted()) root.reset();
  for (Dimension d = 0; d < given_.dimensions(); ++d) {
    Axis axis{.dimension = d};
    if (root) {
      const std::int32_t at = given_.coordinate(*root, d), last = given_.extent(d) - 1;
      axis.turned = given_.wiring(d) == Wiring::line && at > last - at;
      axis.origin = given_.wiring(d) == Wiring::line ? (axis.turned ? last : 0) : at;
    }
    axes_.push_back(axis);
  }
  if (given_.twisted()) return;
  const auto key = [&](const Axis& axis) {
    const std::int32_t at = root ? given_.coordinate(*root, axis.dimension) : axis.origin;
    return key_of(machine, axis.dimension, axis.turned ? axis.origin - at : at - axis.origin);
  };
  std::stable_sort(axes_.begin(), axes_.end(), [&](const Axis& a, const Axis& b) { return key(a) < key(b); });
  if (order == Order::shorter_first) std::reverse(axes_.begin(), axes_.end());
  std::vector<DimensionShape> shape;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    shape.push_back(given_.shape()[static_cast<std::size_t>(axes_[i].dimension)]);
    if (!machine.cost.one_speed()) machine_.cost.dimension_byte_s[i] = machine.cost.byte_s_of(axes_[i].dimension);
  }
  for (Dimension& d : machine_.routing) d = inside(Leg{d, 0}).dimension;
  machine_.topology = Topology(std::move(shape));
  if (given_.faults().empty()) return;
  Faults faults = given_.faults();
  const auto move = [&](Link& link) {
    const Leg leg = inside(Leg{link.dimension, link.hop});
    link = {inside(link.node), leg.dimension, leg.hops};
  };
  for (NodeId& node : faults.dead_nodes) node = inside(node);
  for (Link& link : faults.dead_links) move(link);
  for (SlowLink& slow : faults.slow_links) move(slow.link);
  machine_.topology = machine_.topology.with_faults(std::move(faults));
}

NodeId CanonicalForm::outside(NodeId inside) const noexcept {
  NodeId node = 0;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const auto [dimension, origin, turned] = axes_[i];
    const std::int32_t at = machine_.topology.coordinate(inside, static_cast<Dimension>(i));
    node += static_cast<NodeId>(modulo(turned ? origin - at : origin + at, given_.extent(dimension))) * given_.stride(dimension);
  }
  return node;
}

NodeId CanonicalForm::inside(NodeId outside) const noexcept {
  NodeId node = 0;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const auto [dimension, origin, turned] = axes_[i];
    const std::int32_t at = given_.coordinate(outside, dimension);
    node += static_cast<NodeId>(modulo(turned ? origin - at : at - origin, given_.extent(dimension))) *
            machine_.topology.stride(static_cast<Dimension>(i));
  }
  return node;
}

Leg CanonicalForm::outside(Leg leg) const noexcept {
  const Axis& axis = axes_[static_cast<std::size_t>(leg.dimension)];
  return {axis.dimension, axis.turned ? -leg.hops : leg.hops};
}

Leg CanonicalForm::inside(Leg leg) const noexcept {
  const auto axis = std::find_if(axes_.begin(), axes_.end(), [&](const Axis& a) { return a.dimension == leg.dimension; });
  return {static_cast<Dimension>(axis - axes_.begin()), axis->turned ? -leg.hops : leg.hops};
}

Schedule CanonicalForm::outside(const Schedule& schedule) const {
  Schedule moved(schedule.nodes());
  std::vector<Leg> route;
  for (const Schedule::Send& s : schedule.sends()) {
    route.clear();
    for (const Leg& leg : schedule.route(s)) route.push_back(outside(leg));
    moved.add(s.step, outside(s.from), outside(s.to), route, schedule.blocks(s), s.manner, s.registers);
  }
  moved.sort();
  return moved;
}

}  // namespace torus
