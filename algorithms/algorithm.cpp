#include <torus/algorithm.hpp>

namespace torus {

std::string_view name(Collective collective) noexcept {
  switch (collective) {
    case Collective::broadcast: return "broadcast";
    case Collective::multinode_broadcast: return "multinode-broadcast";
    case Collective::total_exchange: return "total-exchange";
  }
  return "";
}

Placement placement_of(const Machine& machine, const Request& request, const Plan& plan) {
  if (request.collective == Collective::total_exchange) return Placement::personalised(machine.topology, request.bytes);
  return Placement::replicated(machine.topology, request.sources, request.bytes, plan.segments);
}

}  // namespace torus
