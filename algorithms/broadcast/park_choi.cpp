#include "algorithms/broadcast/park_choi.hpp"

#include "algorithms/broadcast/tracks.hpp"
#include "algorithms/broadcast/whole_message.hpp"
#include "algorithms/common/integers.hpp"

namespace torus::broadcast {
namespace {

std::uint64_t base(const Topology& topology) { return 2 * static_cast<std::uint64_t>(topology.dimensions()) + 1; }

Step steps(const Topology& topology) {
  return static_cast<Step>(topology.dimensions()) * ceil_log(base(topology), static_cast<std::uint64_t>(topology.extent(0)));
}

/// The moves of every holder in a step: by every track once forwards and once backwards.
void send_all(Node& self) {
  const std::int32_t k = self.dimensions();
  const auto step = static_cast<std::int32_t>(self.now());
  std::int32_t scale = self.extent(0);
  for (std::int32_t i = 0; i <= step / k; ++i) scale /= 2 * k + 1;
  for (std::int32_t track = 1; track <= k; ++track) {
    for (const std::int32_t offset : {track, -track})
      self.send(RouteView(circuit_track(k, step % k + 1, track, offset, scale)), self.blocks());
  }
}

std::optional<Refusal> also_requires(const Machine& machine, const Request&) {
  const Topology& topology = machine.topology;
  const std::uint64_t m = base(topology);
  const auto n = static_cast<std::uint64_t>(topology.extent(0));
  std::uint64_t side = 1;
  while (side * m <= n) side *= m;
  if (side == n) return std::nullopt;
  std::string fix;
  for (Dimension d = 0; d < topology.dimensions(); ++d) fix += (d > 0 ? "x" : "") + std::to_string(side == 1 ? m : side);
  return Refusal{Refusal::About::shape, topology.text(), "park-choi needs sides of " + std::to_string(m) + "^p", fix};
}

Plan plan(const Machine& machine, const Request& request) {
  return whole_message_plan(request, steps(machine.topology), "log_" + std::to_string(base(machine.topology)) + " N", park_choi_program);
}

}  // namespace

Program park_choi_program(Node& self) {
  if (self.blocks().empty()) co_await self.arrival();
  const Step end = steps(self.topology());
  while (self.now() < end) {
    send_all(self);
    if (self.now() + 1 == end) co_return;
    co_await self.step();
  }
}

const Algorithm park_choi{
    .name = "park-choi",
    .collective = Collective::broadcast,
    .source = "Park & Choi 1996; step count as claimed, moves reconstructed",
    .shapes = "torus n x .. x n, n = (2k+1)^p",
    .steps = "log_{2k+1} N",
    .native = {.switching = Switching::circuit},
    .needs = {.shape = Requirements::Shape::equal_torus, .switching = Switching::circuit, .ports = Requirements::all_ports},
    .also_requires = also_requires,
    .plan = plan,
};

}  // namespace torus::broadcast
