#include "algorithms/reduction/rings.hpp"

#include <memory>

#include "algorithms/reduction/ring_halves.hpp"

namespace torus::reduction {
namespace {

/// Half a block is the most that the antipode's bundle needs; whole ones leave less of an element's rest. The fewer bytes decide.
std::shared_ptr<const RingHalves> best(const Machine& machine, const Request& request, std::uint32_t parts) {
  const auto numbering = request.collective == Collective::allreduce ? RingHalves::Numbering::by_bundle : RingHalves::Numbering::by_owner;
  const auto whole = std::make_shared<const RingHalves>(machine.topology, parts, 1, numbering);
  const auto halved = std::make_shared<const RingHalves>(machine.topology, parts, 2, numbering);
  const auto bytes = [&](const RingHalves& halves) { return channel_bytes(machine, request, halves, halves.load()); };
  return bytes(*halved) < bytes(*whole) ? halved : whole;
}

Plan plan(const Machine& machine, const Request& request, std::uint32_t parts) {
  return plan_halves(machine, request, best(machine, request, parts), parts > 1 ? "k max reach" : "sum of the reaches", 1);
}
Plan plan_all(const Machine& machine, const Request& request) {
  return plan(machine, request, static_cast<std::uint32_t>(machine.topology.dimensions()));
}
Plan plan_single(const Machine& machine, const Request& request) { return plan(machine, request, 1); }

constexpr Algorithm rings(std::string_view name, Collective collective, std::string_view steps,
                          Plan (*plan_of)(const Machine&, const Request&)) {
  return {.name = name,
          .collective = collective,
          .source = "bucket algorithm (Barnett et al. 1993; Jain & Sabharwal 2010), both ways round",
          .shapes = "any",
          .steps = steps,
          .native = {.switching = Switching::packet},
          .needs = {.ports = Requirements::all_ports},
          .plan = plan_of};
}

constexpr std::string_view all_at_once = "k max reach: of a ring floor(n/2), a line n-1, a complete dimension 1";

}  // namespace

const Algorithm rings_reduce_scatter = rings("rings", Collective::reduce_scatter, all_at_once, plan_all);
const Algorithm rings_allreduce =
    rings("rings", Collective::allreduce, "2 k max reach: of a ring floor(n/2), a line n-1, a complete dimension 1", plan_all);
const Algorithm rings_all_gather = rings("rings", Collective::multinode_broadcast, all_at_once, plan_all);
const Algorithm rings_single_reduce_scatter = rings("rings-single", Collective::reduce_scatter, "sum of the reaches", plan_single);
const Algorithm rings_single_allreduce = rings("rings-single", Collective::allreduce, "2 x the sum of the reaches", plan_single);
const Algorithm rings_single_all_gather = rings("rings-single", Collective::multinode_broadcast, "sum of the reaches", plan_single);

}  // namespace torus::reduction
