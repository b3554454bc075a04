#include "algorithms/broadcast/circuit/schedule.hpp"

#include <numeric>

#include "algorithms/broadcast/whole_message.hpp"
#include "algorithms/common/received.hpp"

namespace torus::broadcast {
namespace {

constexpr NodeId last_step = ~NodeId{0};  // stands for a message without a header: nothing more to do

NodeId root_in(const Node& self, const Arrivals& came) {
  const WordsView header = came.front().header();
  return header.empty() ? last_step : bounded(header[0], NodeId{0}, self.topology().nodes() - 1, "root");
}

void send_own(Node& self, const CircuitSchedule& schedule, NodeId root) {
  const Topology& topology = self.topology();
  Coordinates place = self.coordinates();
  const Coordinates origin = topology.coordinates(root);
  for (std::size_t d = 0; d < place.size(); ++d) place[d] = modulo(place[d] - origin[d], topology.extent(static_cast<Dimension>(d)));
  const bool last = self.now() + 1 == schedule.steps();
  if (self.rank() == root) self.phase(schedule.phase(self.now()));
  const Word header[] = {root};
  const std::span<const Word> words(header, last ? 0 : 1);
  schedule.rule(self.now()).routes(place, [&self, &words](RouteView route) { self.send(route, self.blocks(), words); });
}

}  // namespace

Program follow_schedule(Node& self, const CircuitSchedule& schedule) {
  NodeId root = self.rank();
  if (self.blocks().empty()) {
    const Arrivals came = co_await self.arrival();
    root = root_in(self, came);
    if (root == last_step) co_return;
  }
  while (self.now() < schedule.steps()) {
    send_own(self, schedule, root);
    if (self.now() + 1 == schedule.steps()) co_return;
    co_await self.step();
  }
}

Plan schedule_plan(const Request& request, std::shared_ptr<const CircuitSchedule> schedule, std::string formula) {
  Plan plan = whole_message_plan(
      request, schedule->steps(), formula, [schedule](Node& self) { return follow_schedule(self, *schedule); }, 1);
  if (plan.steps > 0) plan.channel_bytes -= sizeof(Word);  // the last step has no header
  for (std::size_t step = 0; step < plan.steps; ++step) plan.table_bytes += schedule->rule(step).table_bytes();
  return plan;
}

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

std::shared_ptr<const CircuitSchedule> table_schedule(const Topology& shape, const char* phase,
                                                      std::span<const std::vector<Circuit>> steps) {
  auto schedule = std::make_shared<CircuitSchedule>();
  for (const std::vector<Circuit>& circuits : steps) {
    if (!circuits.empty()) schedule->add(phase, std::make_unique<TableStep>(shape, circuits));
  }
  return schedule;
}

void move_to_node_0(const Topology& topology, NodeId origin, std::vector<std::vector<Circuit>>& steps) {
  const Coordinates from = topology.coordinates(origin);
  const auto moved = [&](NodeId node) {
    Coordinates at = topology.coordinates(node);
    for (std::size_t d = 0; d < at.size(); ++d) at[d] -= from[d];
    return topology.rank(at);
  };
  for (std::vector<Circuit>& step : steps) {
    for (Circuit& circuit : step) {
      circuit.from = moved(circuit.from);
      circuit.to = moved(circuit.to);
    }
  }
}

}  // namespace torus::broadcast
