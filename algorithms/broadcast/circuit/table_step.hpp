/// A step whose circuits are in a table, by place, where no pattern covers all cases. Every node can compute its row.
/// The table may be that of a smaller torus of which the machine is a cover. Places are then taken modulo the table's extents, and circuits
/// that share no channel there share none in the machine.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/broadcast/circuit/circuit_flow.hpp"
#include "algorithms/broadcast/circuit/schedule.hpp"
#include "algorithms/common/row_table.hpp"

namespace torus::broadcast {

class TableStep : public StepRule {
 public:
  /// `shape`: the table's extents; each divides the machine's. Circuits are between nodes of that shape.
  TableStep(const Topology& shape, std::span<const Circuit> circuits);

  void routes(const Coordinates& place, const RouteSink& send) const override;
  Bytes table_bytes() const override { return first_.size() * sizeof(std::uint32_t) + routes_.bytes(); }

 private:
  Coordinates extents_;
  std::vector<std::uint32_t> first_;  // by rank in the table's shape: its first route; those of the next rank follow
  RowTable<Leg> routes_;
};

/// The schedule that does in each step what its circuits say, all of one phase. The phase is a literal.
CircuitSchedule table_schedule(const Topology& shape, const char* phase, std::span<const std::vector<Circuit>> steps);

}  // namespace torus::broadcast
