#include <algorithm>

#include "algorithms/broadcast/circuit/expanding_step.hpp"
#include "algorithms/broadcast/circuit/ring_tree.hpp"
#include "algorithms/broadcast/circuit/squeeze_variants.hpp"
#include "algorithms/common/integers.hpp"
#include "algorithms/common/linked_dimensions.hpp"

namespace torus::broadcast {
namespace {

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

}  // namespace

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

}  // namespace torus::broadcast
