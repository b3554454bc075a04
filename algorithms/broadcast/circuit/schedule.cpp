#include "algorithms/broadcast/circuit/schedule.hpp"

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

Plan schedule_plan(const Request& request, CircuitSchedule schedule, std::string formula) {
  const auto shared = std::make_shared<const CircuitSchedule>(std::move(schedule));
  Plan plan = whole_message_plan(
      request, shared->steps(), formula, [shared](Node& self) { return follow_schedule(self, *shared); }, 1);
  if (plan.steps > 0) plan.channel_bytes -= sizeof(Word);  // the last step has no header
  for (std::size_t step = 0; step < plan.steps; ++step) plan.table_bytes += shared->rule(step).table_bytes();
  return plan;
}

}  // namespace torus::broadcast
