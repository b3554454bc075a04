#include "algorithms/broadcast/circuit/closing.hpp"

#include <algorithm>

#include <torus/error.hpp>

#include "algorithms/broadcast/circuit/table_step.hpp"

namespace torus::broadcast {
namespace {

Topology reduced(const Topology& topology) {
  std::vector<DimensionShape> shape;
  for (const DimensionShape& d : topology.shape()) shape.push_back({d.extent > 1 && d.extent % 2 == 0 ? 2 : d.extent, Wiring::ring});
  return Topology(std::move(shape));
}

bool informed(const Topology& shape, NodeId node, const std::vector<GapAxis>& axes) {
  int parities = 0;  // bit p: some dimension has parity p, bit 2: between the positions
  for (const GapAxis& axis : axes) {
    const std::int32_t index = axis.sequence->index_of(shape.coordinate(node, axis.dimension));
    parities |= index < 0 ? 4 : 1 << (index % 2);
  }
  return parities == 1 || parities == 2;
}

}  // namespace

NodeId closing_nodes(const Topology& topology) { return reduced(topology).nodes(); }

void add_closing_steps(CircuitSchedule& schedule, const Topology& topology, std::int32_t ports, const std::vector<GapAxis>& axes) {
  const Topology shape = reduced(topology);
  std::vector<NodeId> senders;
  std::vector<NodeId> targets;
  for (NodeId node = 0; node < shape.nodes(); ++node) (informed(shape, node, axes) ? senders : targets).push_back(node);
  CircuitFlow flow(shape, ports);
  while (!targets.empty()) {
    const std::size_t served = flow.solve(senders, targets);
    if (served == 0) throw RunError("the closing of squeeze-expand on " + topology.text() + " found no way on");
    targets = flow.unserved();
    const std::vector<Circuit> circuits = flow.circuits();
    for (const Circuit& circuit : circuits) senders.push_back(circuit.to);
    std::sort(senders.begin(), senders.end());
    schedule.add("close", std::make_unique<TableStep>(shape, circuits));
  }
}

}  // namespace torus::broadcast
