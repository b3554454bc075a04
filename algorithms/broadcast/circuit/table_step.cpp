#include "algorithms/broadcast/circuit/table_step.hpp"

#include <numeric>

namespace torus::broadcast {

TableStep::TableStep(const Topology& shape, std::span<const Circuit> circuits) {
  for (Dimension d = 0; d < shape.dimensions(); ++d) extents_.push_back(shape.extent(d));
  first_.assign(std::size_t{shape.nodes()} + 1, 0);
  for (const Circuit& circuit : circuits) ++first_[circuit.from];
  std::exclusive_scan(first_.begin(), first_.end(), first_.begin(), 0U);
  std::vector<std::uint32_t> next(first_);
  std::vector<std::vector<Leg>> routes(circuits.size());
  for (const Circuit& circuit : circuits) routes[next[circuit.from]++] = circuit.route;
  routes_ = RowTable<Leg>(routes);
}

void TableStep::routes(const Coordinates& place, const RouteSink& send) const {
  std::size_t rank = 0;
  for (std::size_t d = 0; d < place.size(); ++d) {
    const auto extent = static_cast<std::size_t>(extents_[d]);
    rank = rank * extent + static_cast<std::size_t>(place[d]) % extent;
  }
  for (std::uint32_t i = first_[rank]; i < first_[rank + 1]; ++i) send(routes_.row(i));
}

CircuitSchedule table_schedule(const Topology& shape, const char* phase, std::span<const std::vector<Circuit>> steps) {
  CircuitSchedule schedule;
  for (const std::vector<Circuit>& circuits : steps) schedule.add(phase, std::make_unique<TableStep>(shape, circuits));
  return schedule;
}

}  // namespace torus::broadcast
