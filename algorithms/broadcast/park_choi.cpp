#include "algorithms/broadcast/park_choi.hpp"

#include <algorithm>

#include "algorithms/broadcast/tracks.hpp"
#include "algorithms/common/hops.hpp"
#include "algorithms/common/integers.hpp"
#include "algorithms/common/refusal.hpp"

namespace torus::broadcast {
namespace {

std::uint64_t base(const Topology& topology) { return 2 * static_cast<std::uint64_t>(topology.dimensions()) + 1; }

Step steps(const Topology& topology) {
  return static_cast<Step>(topology.dimensions()) * ceil_log(base(topology), static_cast<std::uint64_t>(topology.extent(0)));
}

/// The moves of every holder in a step: by every track once forwards and once backwards. Calls f(route).
template <class F>
void moves(const Topology& topology, Step now, F&& f) {
  const std::int32_t k = topology.dimensions();
  const auto step = static_cast<std::int32_t>(now);
  std::int32_t scale = topology.extent(0);
  for (std::int32_t i = 0; i <= step / k; ++i) scale /= 2 * k + 1;
  for (std::int32_t track = 1; track <= k; ++track) {
    for (const std::int32_t offset : {track, -track}) {
      const Route route = circuit_track(k, step % k + 1, track, offset, scale);
      f(RouteView(route));
    }
  }
}

/// The hops of the longest message of each step, summed.
std::int64_t route_hops(const Topology& topology) {
  std::int64_t sum = 0;
  for (Step step = 0; step < steps(topology); ++step) {
    std::int64_t longest = 0;
    moves(topology, step, [&](RouteView route) { longest = std::max(longest, hops_of(topology, route)); });
    sum += longest;
  }
  return sum;
}

std::optional<std::string> refuses(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  const std::uint64_t m = base(topology);
  const std::uint64_t wanted = refusal::side_of_cube(topology.dimensions(), topology.nodes());
  std::uint64_t nearest = 1;
  for (std::uint64_t power = 1; power < m * wanted; power *= m) nearest = refusal::nearer(wanted, nearest, power * m);
  if (!topology.is_square_torus() || wanted != nearest) {
    return "park-choi needs a torus with all sides " + std::to_string(m) + "^p, not " + topology.text() +
           "; nearest: " + refusal::cube(topology.dimensions(), nearest == 1 ? m : nearest);
  }
  return refusal::first_of(refusal::of_switching("park-choi", machine, Switching::circuit), refusal::of_ports_but_all("park-choi", machine),
                           refusal::of_segments("park-choi", request));
}

Plan plan(const Machine& machine, const Request& request) {
  Plan plan;
  plan.start = [](Node& self) { return park_choi_program(self); };
  plan.steps = steps(machine.topology);
  plan.route_hops = static_cast<std::uint64_t>(route_hops(machine.topology));
  plan.formula = "log_" + std::to_string(base(machine.topology)) + " N";
  plan.channel_bytes = static_cast<double>(plan.steps) * static_cast<double>(request.bytes);
  return plan;
}

}  // namespace

Program park_choi_program(Node& self) {
  if (self.blocks().empty()) co_await self.arrival();
  const Step end = steps(self.topology());
  while (self.now() < end) {
    moves(self.topology(), self.now(), [&](RouteView route) { self.send(route, self.blocks()); });
    if (self.now() + 1 == end) co_return;
    co_await self.step();
  }
}

const Algorithm park_choi{
    .name = "park-choi",
    .collective = Collective::broadcast,
    .source = "Park & Choi 1996; step count as claimed, moves reconstructed",
    .shapes = "torus n x .. x n, n = (2k+1)^p",
    .ports = "all",
    .steps = "log_{2k+1} N",
    .native = {.switching = Switching::circuit},
    .refuses = refuses,
    .plan = plan,
};

}  // namespace torus::broadcast
