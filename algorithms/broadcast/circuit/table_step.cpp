// SPDX-License-Identifier: MIT
#include "algorithms/broadcast/circuit/table_step.hpp"

namespace torus::broadcast {

TableStep::TableStep(const Topology& shape, std::span<const Circuit> circuits) {
  for (Dimension d = 0; d < shape.dimensions(); ++d) extents_.push_back(shape.extent(d));
  std::vector<std::vector<Entry>> rows(shape.nodes());
  for (const Circuit& circuit : circuits) {
    for (const Leg& leg : circuit.route) rows[circuit.from].push_back({leg, &leg == &circuit.route.back()});
  }
  legs_ = RowTable<Entry>(rows);
}

void TableStep::routes(const Coordinates& place, const RouteSink& send) const {
  std::size_t rank = 0;
  for (std::size_t d = 0; d < place.size(); ++d) {
    const auto extent = static_cast<std::size_t>(extents_[d]);
    rank = rank * extent + static_cast<std::size_t>(place[d]) % extent;
  }
  std::vector<Leg> route;
  for (const Entry& entry : legs_.row(rank)) {
    route.push_back(entry.leg);
    if (!entry.last) continue;
    send(route);
    route.clear();
  }
}

}  // namespace torus::broadcast
