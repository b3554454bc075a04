#include "algorithms/total_exchange/open_shop_schedule.hpp"

#include <algorithm>

#include <torus/bounds.hpp>

#include "algorithms/common/linked_dimensions.hpp"
#include "algorithms/total_exchange/class_hops.hpp"
#include "algorithms/total_exchange/open_shop_table.hpp"

namespace torus::exchange {
namespace {

/// A direction of a dimension: +1 or -1 on a ring, the offset on a complete dimension, 0 on a line of 2 for both.
std::vector<Leg> machines_of(const Topology& topology) {
  std::vector<Leg> machines;
  for (const Dimension d : linked_dimensions(topology)) {
    switch (topology.wiring(d)) {
      case Wiring::ring:
        machines.push_back({d, +1});
        machines.push_back({d, -1});
        break;
      case Wiring::line: machines.push_back({d, 0}); break;
      case Wiring::complete:
        for (std::int32_t offset = 1; offset < topology.extent(d); ++offset) machines.push_back({d, offset});
        break;
    }
  }
  return machines;
}

/// Operations that a class needs on a machine.
std::uint32_t operations(const Topology& topology, const ClassHops& hops, NodeId delta, const Leg& machine) {
  const std::int32_t coordinate = topology.coordinate(delta, machine.dimension);
  switch (topology.wiring(machine.dimension)) {
    case Wiring::ring: return static_cast<std::uint32_t>(std::max(0, hops(delta, machine.dimension) * machine.hops));
    case Wiring::line: return coordinate == 0 ? 0 : 1;
    case Wiring::complete: return coordinate == machine.hops ? 1 : 0;
  }
  return 0;
}

/// The ring whose ties cannot be divided evenly by class.
std::optional<Dimension> odd_tie_dimension(const Topology& topology) {
  for (const Dimension d : linked_dimensions(topology)) {
    const std::int32_t n = topology.extent(d);
    if (topology.wiring(d) == Wiring::ring && n % 2 == 0 && topology.nodes() / static_cast<NodeId>(n) % 2 == 1) return d;
  }
  return std::nullopt;
}

/// Whether the class moves along this dimension alone.
bool moves_along_only(const Topology& topology, NodeId delta, Dimension d) {
  return delta == static_cast<NodeId>(topology.coordinate(delta, d)) * topology.stride(d);
}

/// Which class, or one of the two jobs after the classes, is on which machine when. Any order of the jobs would do; with the farthest
/// classes first the blocks are on their way for the shortest time, so that the few that are under way stay in the host's caches.
OpenShopTable filled_table(const Topology& topology, const std::vector<Leg>& machines, std::optional<Dimension> odd_ties, Step steps) {
  const NodeId classes = topology.nodes();
  std::vector<NodeId> farthest_first;
  for (NodeId delta = 1; delta < classes; ++delta) {
    if (!odd_ties || !moves_along_only(topology, delta, *odd_ties)) farthest_first.push_back(delta);
  }
  std::stable_sort(farthest_first.begin(), farthest_first.end(),
                   [&](NodeId a, NodeId b) { return topology.distance(0, a) > topology.distance(0, b); });

  OpenShopTable table(machines.size(), std::size_t{classes} + 2, steps);
  const ClassHops hops(topology, [](NodeId) { return 0; });
  for (const NodeId delta : farthest_first) {
    for (std::size_t m = 0; m < machines.size(); ++m) table.add(delta, m, operations(topology, hops, delta, machines[m]));
  }
  for (std::size_t m = 0; odd_ties && m < machines.size(); ++m) {
    if (machines[m].dimension != *odd_ties) continue;
    table.add(machines[m].hops > 0 ? classes : classes + 1, m, all_port_steps(Wiring::ring, topology.extent(*odd_ties)));
  }
  return table;
}

}  // namespace

std::uint64_t open_shop_steps(const Topology& topology) {
  const ShapeFacts facts = shape_facts(topology);
  return std::max(facts.bound4, static_cast<std::uint64_t>(facts.diameter));
}

OpenShopSchedule::OpenShopSchedule(const Topology& topology) : steps_{static_cast<Step>(open_shop_steps(topology))}, offsets_{topology} {
  const std::vector<Leg> machines = machines_of(topology);
  const std::optional<Dimension> odd_ties = odd_tie_dimension(topology);
  if (odd_ties) line_.emplace(Wiring::ring, topology.extent(*odd_ties));

  const NodeId classes = topology.nodes();
  const OpenShopTable table = filled_table(topology, machines, odd_ties, steps_);
  std::vector<NodeId> at(classes, 0);    // how far each class has come
  std::vector<NodeId> line_steps(2, 0);  // of the two jobs that are no class
  first_of_step_.reserve(std::size_t{steps_} + 1);
  for (Step t = 0; t < steps_; ++t) {
    first_of_step_.push_back(static_cast<std::uint32_t>(moves_.size()));
    for (std::size_t m = 0; m < machines.size(); ++m) {
      const OpenShopTable::Job job = table.job_at(m, t);
      if (job == OpenShopTable::none) continue;
      const Leg machine = machines[m];
      Move move{{}, machine.hops, static_cast<std::int8_t>(machine.dimension), job >= classes};
      if (move.on_line) {
        move.block.origin = line_steps[job - classes]++;
      } else {
        move.block = {offsets_.minus(0, at[job]), offsets_.minus(job, at[job])};
        const std::int32_t n = topology.extent(machine.dimension);
        const std::int32_t hops = machine.hops == 0 ? 1 : modulo(machine.hops, n);
        at[job] = offsets_.plus(at[job], static_cast<NodeId>(hops) * topology.stride(machine.dimension));
      }
      moves_.push_back(move);
    }
  }
  first_of_step_.push_back(static_cast<std::uint32_t>(moves_.size()));
}

void OpenShopSchedule::send(Node& self, Step t) const {
  for (const Move& move : moves(t)) {
    if (move.on_line) {
      send_on_line(self, move);
      continue;
    }
    const BlockId passing = offsets_.block(self.rank(), move.block);
    const std::int32_t direction = move.direction != 0 ? move.direction : self.coordinate(move.dimension) == 0 ? +1 : -1;
    self.forward({{move.dimension, direction}}, {&passing, 1});
  }
}

void OpenShopSchedule::send_on_line(Node& self, const Move& move) const {
  const std::int32_t own = self.coordinate(move.dimension);
  const Crossing crossing = line_->crossing(own, move.direction, move.block.origin);
  if (!crossing) return;
  const NodeId stride = self.topology().stride(move.dimension);
  const NodeId first = self.rank() - static_cast<NodeId>(own) * stride;
  const BlockId origin = first + static_cast<NodeId>(crossing.origin) * stride;
  const BlockId passing = origin * offsets_.nodes() + first + static_cast<NodeId>(crossing.destination) * stride;
  self.forward({{move.dimension, move.direction}}, {&passing, 1});
}

Bytes OpenShopSchedule::table_bytes() const noexcept {
  return offsets_.table_bytes() + moves_.size() * sizeof(Move) + first_of_step_.size() * sizeof(std::uint32_t) +
         (line_ ? line_->table_bytes() : 0);
}

}  // namespace torus::exchange
