#include "algorithms/broadcast/circuit/squeeze_variants.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <span>

#include <torus/error.hpp>

#include "algorithms/broadcast/circuit/circuit_flow.hpp"
#include "algorithms/broadcast/circuit/schedule.hpp"
#include "algorithms/broadcast/circuit/steps.hpp"
#include "algorithms/common/integers.hpp"
#include "algorithms/common/shapes.hpp"

namespace torus::broadcast {
namespace {

/// The last step where an odd extent is treated as the even one below: the nodes at place 0 of the dimension inform their neighbours at
/// place -1.
class SeamStep : public StepRule {
 public:
  explicit SeamStep(Dimension d) : dimension_{d} {}
  void routes(const Coordinates& place, const RouteSink& send) const override {
    if (place[static_cast<std::size_t>(dimension_)] == 0) send(Route{{dimension_, -1}});
  }

 private:
  Dimension dimension_;
};

Topology halved(const Topology& topology) {
  std::vector<DimensionShape> shape;
  for (const DimensionShape& d : topology.shape()) shape.push_back({d.extent > 1 && d.extent % 2 == 0 ? 2 : d.extent, Wiring::ring});
  return Topology(std::move(shape));
}

/// The fewest steps of a closing among `dimensions` wide ones.
std::uint32_t closing_steps(std::size_t dimensions, std::int32_t ports) {
  return ceil_log(static_cast<std::uint64_t>(ports) + 1, std::uint64_t{1} << (dimensions - 1));
}

bool informed_first(const Topology& shape, NodeId node, const std::vector<GapAxis>& axes) {
  int parities = 0;  // bit p: some dimension has parity p, bit 2: between the positions
  for (const GapAxis& axis : axes) {
    const std::int32_t index = axis.sequence->index_of(shape.coordinate(node, axis.dimension));
    parities |= index < 0 ? 4 : 1 << (index % 2);
  }
  return parities == 1 || parities == 2;
}

/// Nodes of the lattices that the axes describe, or the others.
std::vector<NodeId> nodes_of(const Topology& shape, const std::vector<GapAxis>& axes, bool informed) {
  std::vector<NodeId> nodes;
  for (NodeId node = 0; node < shape.nodes(); ++node) {
    if (informed_first(shape, node, axes) == informed) nodes.push_back(node);
  }
  return nodes;
}

/// The last expanding step again, as a flow that also serves `more`; none if no step can, or there is none. The halved torus shows it
/// only if the dimension that it expands keeps its extent there.
std::optional<std::vector<Circuit>> expand_further(CircuitFlow& flow, const Topology& topology, const std::vector<GapAxis>& before,
                                                   const std::vector<GapAxis>& axes, std::span<const NodeId> more) {
  const Topology shape = halved(topology);
  const auto expanded = std::mismatch(before.begin(), before.end(), axes.begin(), [](const GapAxis& a, const GapAxis& b) {
                          return a.sequence == b.sequence;
                        }).first;
  if (expanded == before.end() || shape.extent(expanded->dimension) != topology.extent(expanded->dimension)) return std::nullopt;
  const std::vector<NodeId> senders = nodes_of(shape, before, true), informed = nodes_of(shape, axes, true);
  std::vector<NodeId> targets(more.begin(), more.end());
  std::set_difference(informed.begin(), informed.end(), senders.begin(), senders.end(), std::back_inserter(targets));
  if (flow.solve(senders, targets) < targets.size()) return std::nullopt;
  return flow.circuits();
}

/// The closing: from the interleaved lattices of unit gaps to all nodes.
///
/// At first the nodes are informed whose indices in all dimensions have one parity. Maximum flows serve the rest, relative to the root: a
/// global table of which every node can compute its rows. Along an even extent the lattice repeats every 2 places, and so does some
/// solution, since the mean of a flow's translates is a flow. So the flow is solved on the torus with even extents reduced to 2; where
/// all are even it has 2^k nodes. What `least` steps leave, the last expanding step serves too, if it can: it has ports to spare.
/// Steps    `least`, ceil(log_{ports+1} 2^(k-1)), at times one more where an odd extent leaves a gap of 2, or where ports are few.
/// Adds the steps. `axes`: all dimensions of extent 2 or more, finished to GapBase::unit; `before`: the same before the last expanding
/// step. Cost: a maximum flow among closing_nodes() a step. Errors: RunError if a step can inform no node; no such torus is known.
void add_closing_steps(CircuitSchedule& schedule, const Topology& topology, std::int32_t ports, const std::vector<GapAxis>& before,
                       const std::vector<GapAxis>& axes) {
  const Topology shape = halved(topology);
  const std::uint32_t least = closing_steps(axes.size(), ports);
  std::vector<NodeId> senders = nodes_of(shape, axes, true), targets = nodes_of(shape, axes, false);
  CircuitFlow flow(shape, ports);
  for (std::uint32_t step = 0; !targets.empty(); ++step) {
    if (step == least) {
      if (const auto further = expand_further(flow, topology, before, axes, targets)) {
        schedule.replace(schedule.steps() - 1 - least, std::make_unique<TableStep>(shape, *further));
        return;
      }
    }
    const std::size_t served = flow.solve(senders, targets);
    if (served == 0) throw RunError("the closing of squeeze-expand on " + topology.text() + " found no way on");
    targets = flow.unserved();
    const std::vector<Circuit> circuits = flow.circuits();
    for (const Circuit& circuit : circuits) senders.push_back(circuit.to);
    std::sort(senders.begin(), senders.end());
    schedule.add("close", std::make_unique<TableStep>(shape, circuits));
  }
}

std::int32_t at(const Coordinates& place, Dimension d) { return place[static_cast<std::size_t>(d)]; }

std::uint32_t steps_of_ring(std::int32_t places, std::int32_t ports) {
  return ceil_log(static_cast<std::uint64_t>(ports) + 1, static_cast<std::uint64_t>(places));
}

/// Two columns of dimension b, row r of dimension a informed in column r mod 2; then expand b.
CircuitSchedule two_line(const Topology& topology, std::int32_t ports, Dimension a, Dimension b) {
  const std::int32_t m = topology.extent(a) - topology.extent(a) % 2;
  const GapAxis rows{a, std::make_shared<const GapSequence>(GapSequence::consecutive(topology.extent(a), m))};
  const GapAxis columns{b, std::make_shared<const GapSequence>(GapSequence::spread(GapBase::full, topology.extent(b), 2, ports))};

  CircuitSchedule schedule;
  add_ring_tree(schedule, "squeeze", m, ports,
                {[a](const Coordinates& place) { return at(place, a); },
                 [=](const Coordinates& place, const RingTree::Child& child, Route& route) {
                   const std::int32_t r = at(place, a);
                   const Leg along{a, rows.sequence->hops(r, child.offset)};
                   const Leg across{b, columns.sequence->hops(r % 2, child.offset > 0 ? 1 : -1)};
                   const bool same_column = child.offset % 2 == 0;
                   if (child.track == 1) {
                     route = {across, along};
                     if (same_column) route.push_back({b, -across.hops});
                   } else {
                     route = {along};
                     if (!same_column) route.push_back(across);
                   }
                 }});
  add_expanding_steps(schedule, "expand", GapBase::full, ports, expanding_steps(GapBase::full, topology.extent(b), 2, ports), Detour::cross,
                      columns, {rows});
  if (topology.extent(a) % 2 != 0) schedule.add("seam", std::make_unique<SeamStep>(a));
  return schedule;
}

/// Alternate diagonals of an m x m lattice, n_x <= n_y; then expand y.
CircuitSchedule diagonals(const Topology& topology, std::int32_t ports, Dimension x, Dimension y) {
  const std::int32_t m = topology.extent(x) - topology.extent(x) % 2;
  const GapAxis across{x, std::make_shared<const GapSequence>(GapSequence::consecutive(topology.extent(x), m))};
  const GapAxis along{y, std::make_shared<const GapSequence>(GapSequence::spread(GapBase::full, topology.extent(y), m, ports))};

  CircuitSchedule schedule;
  add_ring_tree(schedule, "diagonal", m, ports,
                {[x](const Coordinates& place) { return at(place, x); },
                 [=](const Coordinates& place, const RingTree::Child& child, Route& route) {
                   const std::int32_t r = at(place, x);
                   const Leg in_x{x, across.sequence->hops(r, child.offset)};
                   const Leg in_y{y, along.sequence->hops(r, child.offset)};
                   route = child.track == 1 ? Route{in_y, in_x} : Route{in_x, in_y};
                 }});
  // Node (X_{j+2r}, Y_j) is of diagonal r.
  add_ring_tree(schedule, "diagonals", m / 2, ports,
                {[=](const Coordinates& place) { return modulo(at(place, x) - along.sequence->index_of(at(place, y)), m) / 2; },
                 [=](const Coordinates& place, const RingTree::Child& child, Route& route) {
                   const std::int32_t j = along.sequence->index_of(at(place, y));
                   if (child.track == 1) {
                     route = {{x, across.sequence->hops(at(place, x), 2 * child.offset)}};
                   } else {
                     route = {{y, along.sequence->hops(j, -2 * child.offset)}};
                   }
                 }});
  add_expanding_steps(schedule, "expand", GapBase::full, ports, expanding_steps(GapBase::full, topology.extent(y), m, ports), Detour::cross,
                      along, {across});
  if (topology.extent(x) % 2 != 0) schedule.add("seam", std::make_unique<SeamStep>(x));
  return schedule;
}

using GapAxes = std::vector<GapAxis>;

std::int32_t index_at(const GapAxis& axis, const Coordinates& place) {
  return axis.sequence->index_of(place[static_cast<std::size_t>(axis.dimension)]);
}

GapAxes others(const GapAxes& axes, std::size_t one) {
  GapAxes rest = axes;
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(one));
  return rest;
}

GapAxes spread_all(const Topology& topology, std::span<const Dimension> wide, std::int32_t m, std::int32_t ports, GapBase base) {
  GapAxes axes;
  for (const Dimension d : wide)
    axes.push_back({d, std::make_shared<const GapSequence>(GapSequence::spread(base, topology.extent(d), m, ports))});
  return axes;
}

/// The first step: the root, at index 0 in every dimension, informs the node at index 1 in every dimension.
class PairStep : public StepRule {
 public:
  explicit PairStep(const GapAxes& axes) {
    for (const GapAxis& axis : axes) route_.push_back({axis.dimension, axis.sequence->hops(0, 1)});
  }
  void routes(const Coordinates&, const RouteSink& send) const override { send(route_); }

 private:
  Route route_;
};

/// From the pair to the two lattices of all even and of all odd indices, (m/2)^3 nodes each: a line, a plane, the space. A move by one
/// place is a move by two indices, so each lattice stays on its own lines.
void squeeze(CircuitSchedule& schedule, const GapAxes& axes, std::int32_t h, std::int32_t ports) {
  const GapAxis& x = axes[0];
  const GapAxis& y = axes[1];
  const GapAxis& z = axes[2];
  const auto place_on = [h](const GapAxis& axis, const Coordinates& place) { return modulo(index_at(axis, place) / 2, h); };
  const auto move = [](const GapAxis& axis, const Coordinates& place, std::int32_t places) {
    return Leg{axis.dimension, axis.sequence->hops(index_at(axis, place), 2 * places)};
  };
  // Line {(i, 0, i)}. The third track leaves the plane of the line for the next one on its side.
  add_ring_tree(schedule, "line", h, ports,
                {[=](const Coordinates& place) { return place_on(x, place); },
                 [=](const Coordinates& place, const RingTree::Child& child, Route& route) {
                   const Leg in_x = move(x, place, child.offset);
                   const Leg in_z = move(z, place, child.offset);
                   const Leg aside = move(y, place, child.offset > 0 ? 1 : -1);
                   switch (child.track) {
                     case 1: route = {in_z, in_x}; break;
                     case 2: route = {in_x, in_z}; break;
                     default: route = {aside, in_x, in_z, {y.dimension, -aside.hops}}; break;
                   }
                 }});
  // Plane {(c + s, c, s)}: from line c to line c + offset, for all s.
  add_ring_tree(schedule, "plane", h, ports,
                {[=](const Coordinates& place) { return place_on(y, place); },
                 [=](const Coordinates& place, const RingTree::Child& child, Route& route) {
                   const Leg in_x = move(x, place, child.offset);
                   const Leg in_y = move(y, place, child.offset);
                   const Leg back_in_z = move(z, place, -child.offset);
                   switch (child.track) {
                     case 1: route = {in_x, in_y}; break;
                     case 2: route = {in_y, back_in_z}; break;
                     default: route = {back_in_z, in_y}; break;
                   }
                 }});
  // Space: planes x - y - z = c.
  add_ring_tree(schedule, "space", h, ports,
                {[=](const Coordinates& place) { return modulo(place_on(x, place) - place_on(y, place) - place_on(z, place), h); },
                 [=](const Coordinates& place, const RingTree::Child& child, Route& route) {
                   switch (child.track) {
                     case 1: route = {move(x, place, child.offset)}; break;
                     case 2: route = {move(y, place, -child.offset)}; break;
                     default: route = {move(z, place, -child.offset)}; break;
                   }
                 }});
}

/// Plan-a with m = n_1 (less 1 if odd), `pairs` with m = 2, where there is nothing to squeeze.
CircuitSchedule interleaved_lattices(const Topology& topology, std::int32_t ports, std::int32_t m) {
  GapAxes axes = spread_all(topology, wide_dimensions(topology), m, ports, GapBase::unit);
  CircuitSchedule schedule;
  schedule.add("pair", std::make_unique<PairStep>(axes));
  if (m > 2) squeeze(schedule, axes, m / 2, ports);
  GapAxes before = axes;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    for (std::uint32_t steps = expanding_steps(GapBase::unit, axes[i].sequence->extent(), m, ports); steps > 0; --steps) {
      before = axes;
      axes[i] = add_expanding_step(schedule, "expand", GapBase::unit, ports, steps, Detour::there_and_back, axes[i], others(axes, i));
    }
  }
  add_closing_steps(schedule, topology, ports, before, axes);
  return schedule;
}

CircuitSchedule one_after_the_other(const Topology& topology, std::int32_t ports, std::int32_t m) {
  GapAxes axes = spread_all(topology, wide_dimensions(topology), m, ports, GapBase::full);
  GapAxis& x = axes[0];
  x.sequence = std::make_shared<const GapSequence>(GapSequence::consecutive(x.sequence->extent(), m));
  const auto steps = [&](const GapAxis& axis) { return expanding_steps(GapBase::full, axis.sequence->extent(), m, ports); };
  CircuitSchedule schedule;
  schedule.add("pair", std::make_unique<PairStep>(axes));
  squeeze(schedule, axes, m / 2, ports);
  add_expanding_steps(schedule, "expand", GapBase::full, ports, steps(axes[1]), Detour::there_and_back, axes[1], {x, axes[2]});
  add_expanding_steps(schedule, "expand", GapBase::full, ports, steps(axes[2]), Detour::cross, axes[2], {x});
  if (x.sequence->extent() % 2 != 0) schedule.add("seam", std::make_unique<SeamStep>(x.dimension));
  return schedule;
}

}  // namespace

NodeId closing_nodes(const Topology& topology) { return halved(topology).nodes(); }

std::vector<Dimension> wide_dimensions(const Topology& topology) {
  std::vector<Dimension> wide = linked_dimensions(topology);
  std::stable_sort(wide.begin(), wide.end(), [&](Dimension a, Dimension b) { return topology.extent(a) < topology.extent(b); });
  return wide;
}

std::vector<SqueezeVariant> planar_variants(const Topology& topology, std::int32_t ports) {
  const std::vector<Dimension> wide = wide_dimensions(topology);
  std::vector<SqueezeVariant> variants;
  const auto odd = [&](Dimension d) { return static_cast<std::uint64_t>(topology.extent(d) % 2); };
  const auto even_part = [&](Dimension d) { return topology.extent(d) - topology.extent(d) % 2; };
  for (const auto& [a, b] : {std::pair{wide[0], wide[1]}, std::pair{wide[1], wide[0]}}) {
    variants.push_back({"two-line", "L(m)+L(n_b)+(n_a mod 2), a = " + std::to_string(a),
                        steps_of_ring(even_part(a), ports) + expanding_steps(GapBase::full, topology.extent(b), 2, ports) + odd(a),
                        [&topology, ports, a = a, b = b] { return two_line(topology, ports, a, b); }});
  }
  const Dimension x = wide[0];
  const Dimension y = wide[1];
  const std::int32_t m = even_part(x);
  variants.push_back(
      {"paper2d", "L(m)+L(m/2)+L(2 n_2/m)+(n_1 mod 2)",
       steps_of_ring(m, ports) + steps_of_ring(m / 2, ports) + expanding_steps(GapBase::full, topology.extent(y), m, ports) + odd(x),
       [&topology, ports, x, y] { return diagonals(topology, ports, x, y); }});
  return variants;
}

std::vector<SqueezeVariant> solid_variants(const Topology& topology, std::int32_t ports) {
  const std::vector<Dimension> wide = wide_dimensions(topology);
  const auto base = static_cast<std::uint64_t>(ports) + 1;
  const auto expanding = [&](GapBase gaps, std::size_t i, std::int32_t m) {
    return expanding_steps(gaps, topology.extent(wide[i]), m, ports);
  };
  const std::uint64_t closing = closing_steps(wide.size(), ports);
  const bool closes = closing_nodes(topology) <= max_closing_nodes;
  std::uint64_t pairs = 1 + closing;
  for (std::size_t i = 0; i < wide.size(); ++i) pairs += expanding(GapBase::unit, i, 2);
  std::vector<SqueezeVariant> variants;
  if (closes)
    variants.push_back(
        {"pairs", "1+sum L(floor(n_d/2))+closing", pairs, [&topology, ports] { return interleaved_lattices(topology, ports, 2); }});
  if (wide.size() > 3) return variants;

  const std::int32_t n = topology.extent(wide[0]);
  const std::int32_t m = n - n % 2;
  const std::uint64_t squeezing = 1 + 3 * std::uint64_t{ceil_log(base, static_cast<std::uint64_t>(m / 2))};
  if (closes) {
    variants.push_back({"plan-a", "1+3L(m/2)+L(2 floor(n_2/2)/m)+L(2 floor(n_3/2)/m)+closing",
                        squeezing + expanding(GapBase::unit, 1, m) + expanding(GapBase::unit, 2, m) + closing,
                        [&topology, ports, m] { return interleaved_lattices(topology, ports, m); }});
  }
  if (ports > 4) return variants;
  variants.push_back({"plan-b", "1+3L(m/2)+L(2 n_2/m)+L(2 n_3/m)+(n_1 mod 2)",
                      squeezing + expanding(GapBase::full, 1, m) + expanding(GapBase::full, 2, m) + static_cast<std::uint64_t>(n % 2),
                      [&topology, ports, m] { return one_after_the_other(topology, ports, m); }});
  return variants;
}

}  // namespace torus::broadcast
