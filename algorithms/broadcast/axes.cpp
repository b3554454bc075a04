#include "algorithms/broadcast/axes.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>

#include "algorithms/common/integers.hpp"

namespace torus::broadcast {

Axis::Axis(const Machine& machine, std::vector<Dimension> order, Target target) : order_{std::move(order)}, places_{1}, target_{target} {
  for (const Dimension d : order_) places_ *= static_cast<Place>(machine.topology.extent(d));
}

namespace {

/// The dimensions, the most significant of a rank first.
std::vector<Dimension> ranked(const Machine& machine) {
  std::vector<Dimension> dimensions(machine.routing.size());
  std::iota(dimensions.begin(), dimensions.end(), 0);
  return dimensions;
}

}  // namespace

Axis Axis::along(const Machine& machine, Dimension dimension) { return {machine, {dimension}, Target::near}; }

Axis Axis::linear_array(const Machine& machine) {
  const bool descending = std::is_sorted(machine.routing.begin(), machine.routing.end(), std::greater<>{});
  if (machine.ascending_routing() || !descending) return {machine, machine.routing, Target::near};
  return {machine, ranked(machine), Target::far};
}

Axis Axis::by_rank(const Machine& machine) { return {machine, ranked(machine), Target::like}; }

Place Axis::place(const Topology& topology, NodeId node) const noexcept {
  Place place = 0;
  for (const Dimension d : order_) {
    place = place * static_cast<Place>(topology.extent(d)) + static_cast<Place>(topology.coordinate(node, d));
  }
  return place;
}

Route Axis::route(const Machine& machine, NodeId from, Place to) const {
  Coordinates hops(static_cast<std::size_t>(machine.topology.dimensions()), 0);
  for (auto d = order_.rbegin(); d != order_.rend(); ++d) {
    const auto extent = static_cast<Place>(machine.topology.extent(*d));
    hops[static_cast<std::size_t>(*d)] = static_cast<std::int32_t>(to % extent) - machine.topology.coordinate(from, *d);
    to /= extent;
  }
  Route route;
  for (const Dimension d : machine.routing) {
    if (const std::int32_t h = hops[static_cast<std::size_t>(d)]; h != 0) route.push_back({d, h});
  }
  return route;
}

namespace {

/// Sends to the new holder of the other half; returns the half that is kept.
Part give_half(Node& self, const Axes& axes, std::size_t a, const Part& part, std::span<const BlockId> pieces) {
  const Halves halves = halve(part, axes[a].target());
  const Part& given = halves.given;
  const Route route = axes[a].route(self.machine(), self.rank(), given.holder);
  if (pieces.empty()) {
    self.send(RouteView(route), self.blocks());
  } else {
    const std::uint64_t weight = axes.pieces_of_place(a);
    const std::uint64_t first = axes.first_piece_of_row(self.topology(), self.rank(), a) + given.first * weight;
    self.send(RouteView(route), pieces.subspan(first, given.size() * weight));
  }
  return halves.kept;
}

}  // namespace

Axes::Axes(std::vector<Axis> axes, std::vector<std::string> phases)
    : axes_{std::move(axes)}, phases_{std::move(phases)}, begin_{0}, pieces_of_place_(axes_.size()) {
  std::uint64_t pieces = 1;
  for (std::size_t a = axes_.size(); a-- > 0; pieces *= axes_[a].places()) pieces_of_place_[a] = pieces;
  for (const Axis& axis : axes_) begin_.push_back(begin_.back() + ceil_log(2, axis.places()));
}

Axes Axes::linear_array(const Machine& machine) { return {{Axis::linear_array(machine)}, {"linear array"}}; }

Axes Axes::by_rank(const Machine& machine) { return {{Axis::by_rank(machine)}, {"linear array"}}; }

Axes Axes::ascending(const Machine& machine) {
  std::vector<Axis> axes;
  std::vector<std::string> phases;
  for (Dimension d = 0; d < machine.topology.dimensions(); ++d) {
    axes.push_back(Axis::along(machine, d));
    phases.push_back("dimension " + std::to_string(d));
  }
  return {std::move(axes), std::move(phases)};
}

Axes Axes::descending(const Machine& machine) {
  const Axes up = ascending(machine);
  return {{up.axes_.rbegin(), up.axes_.rend()}, {up.phases_.rbegin(), up.phases_.rend()}};
}

std::size_t Axes::informed_along(const Topology& topology, NodeId node, NodeId root) const noexcept {
  std::size_t a = axes_.size();
  while (a-- > 1) {
    if (axes_[a].place(topology, node) != axes_[a].place(topology, root)) return a;
  }
  return 0;
}

std::uint64_t Axes::first_piece_of_row(const Topology& topology, NodeId node, std::size_t a) const noexcept {
  std::uint64_t first = 0;
  for (std::size_t b = 0; b < a; ++b) first += axes_[b].place(topology, node) * pieces_of_place_[b];
  return first;
}

Program halving_program(Node& self, const Axes& axes, NodeId root, std::span<const BlockId> pieces) {
  std::size_t a = axes.informed_along(self.topology(), self.rank(), root);
  Part part =
      first_part(axes[a].places(), axes[a].place(self.topology(), root), axes[a].place(self.topology(), self.rank()), axes[a].target());
  if (self.rank() != root) co_await self.arrival();
  while (true) {
    while (self.now() < axes.begin(a + 1)) {
      if (self.rank() == root) self.phase(axes.phase(a));  // the root is awake in every step
      if (part.size() > 1) part = give_half(self, axes, a, part, pieces);
      co_await self.step();
    }
    if (++a == axes.size()) co_return;
    part = whole_row(axes[a].places(), axes[a].place(self.topology(), self.rank()));
  }
}

Leg leg_over_bit(const Topology& topology, NodeId node, NodeId bit) noexcept {
  Dimension d = 0;
  while (topology.stride(d) > bit) ++d;
  const auto hops = static_cast<std::int32_t>(bit / topology.stride(d));
  return {d, (node & bit) != 0 ? -hops : hops};
}

}  // namespace torus::broadcast
