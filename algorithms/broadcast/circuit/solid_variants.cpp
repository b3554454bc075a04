#include "algorithms/broadcast/circuit/closing.hpp"
#include "algorithms/broadcast/circuit/expanding_step.hpp"
#include "algorithms/broadcast/circuit/ring_tree.hpp"
#include "algorithms/broadcast/circuit/squeeze_variants.hpp"
#include "algorithms/common/integers.hpp"

namespace torus::broadcast {
namespace {

using Axes = std::vector<GapAxis>;

std::int32_t index_at(const GapAxis& axis, const Coordinates& place) {
  return axis.sequence->index_of(place[static_cast<std::size_t>(axis.dimension)]);
}

Axes others(const Axes& axes, std::size_t one) {
  Axes rest = axes;
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(one));
  return rest;
}

Axes spread_all(const Topology& topology, std::span<const Dimension> wide, std::int32_t m, std::int32_t ports, GapBase base) {
  Axes axes;
  for (const Dimension d : wide)
    axes.push_back({d, std::make_shared<const GapSequence>(GapSequence::spread(base, topology.extent(d), m, ports))});
  return axes;
}

/// The first step: the root, at index 0 in every dimension, informs the node at index 1 in every dimension.
class PairStep : public StepRule {
 public:
  explicit PairStep(const Axes& axes) {
    for (const GapAxis& axis : axes) route_.push_back({axis.dimension, axis.sequence->hops(0, 1)});
  }
  void routes(const Coordinates&, const RouteSink& send) const override { send(route_); }

 private:
  Route route_;
};

/// From the pair to the two lattices of all even and of all odd indices, (m/2)^3 nodes each: a line, a plane, the space. A move by one
/// place is a move by two indices, so each lattice stays on its own lines.
void squeeze(CircuitSchedule& schedule, const Axes& axes, std::int32_t h, std::int32_t ports) {
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

/// Plan A with m = n_1 (less 1 if odd), `pairs` with m = 2, where there is nothing to squeeze.
CircuitSchedule interleaved_lattices(const Topology& topology, std::int32_t ports, std::int32_t m) {
  Axes axes = spread_all(topology, wide_dimensions(topology), m, ports, GapBase::unit);
  CircuitSchedule schedule;
  schedule.add("pair", std::make_unique<PairStep>(axes));
  if (m > 2) squeeze(schedule, axes, m / 2, ports);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::uint32_t steps = expanding_steps(GapBase::unit, axes[i].sequence->extent(), m, ports);
    axes[i] = add_expanding_steps(schedule, "expand", GapBase::unit, ports, steps, Detour::there_and_back, axes[i], others(axes, i));
  }
  add_closing_steps(schedule, topology, ports, axes);
  return schedule;
}

CircuitSchedule one_after_the_other(const Topology& topology, std::int32_t ports, std::int32_t m) {
  Axes axes = spread_all(topology, wide_dimensions(topology), m, ports, GapBase::full);
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

std::vector<SqueezeVariant> solid_variants(const Topology& topology, std::int32_t ports) {
  const std::vector<Dimension> wide = wide_dimensions(topology);
  const auto base = static_cast<std::uint64_t>(ports) + 1;
  const auto expanding = [&](GapBase gaps, std::size_t i, std::int32_t m) {
    return expanding_steps(gaps, topology.extent(wide[i]), m, ports);
  };
  const std::uint64_t closing = ceil_log(base, std::uint64_t{1} << (wide.size() - 1));
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
    variants.push_back({"plan A", "1+3L(m/2)+L(2 floor(n_2/2)/m)+L(2 floor(n_3/2)/m)+closing",
                        squeezing + expanding(GapBase::unit, 1, m) + expanding(GapBase::unit, 2, m) + closing,
                        [&topology, ports, m] { return interleaved_lattices(topology, ports, m); }});
  }
  if (ports > 4) return variants;
  variants.push_back({"plan B", "1+3L(m/2)+L(2 n_2/m)+L(2 n_3/m)+(n_1 mod 2)",
                      squeezing + expanding(GapBase::full, 1, m) + expanding(GapBase::full, 2, m) + static_cast<std::uint64_t>(n % 2),
                      [&topology, ports, m] { return one_after_the_other(topology, ports, m); }});
  return variants;
}

}  // namespace torus::broadcast
