#include "algorithms/broadcast/peters_syska.hpp"

#include "algorithms/broadcast/whole_message.hpp"
#include "algorithms/common/integers.hpp"

namespace torus::broadcast {
namespace {

void send(Node& self, std::initializer_list<Leg> route) { self.send(route, self.blocks()); }

/// The moves of a holder in the present step.
void send_all(Node& self) {
  Step step = self.now();
  std::int32_t square = self.extent(0);
  if (square % 2 == 0) {
    square /= 2;
    if (step == 0) {
      send(self, {{0, square}});
      send(self, {{1, square}});
      send(self, {{0, -square}, {1, square}});
      return;
    }
    --step;
  }
  std::int32_t s = square / 5;
  for (Step scale = 0; scale < step / 2; ++scale) s /= 5;
  if (step % 2 == 0) {  // from 5s Z^2 to s M: the cosets of (2,1)s, (-1,2)s and their negatives
    send(self, {{0, 2 * s}, {1, s}});
    send(self, {{1, 2 * s}, {0, -s}});
    send(self, {{0, -2 * s}, {1, -s}});
    send(self, {{1, -2 * s}, {0, s}});
  } else {  // from s M to s Z^2: the four neighbours
    for (const Dimension d : {0, 1}) {
      send(self, {{d, s}});
      send(self, {{d, -s}});
    }
  }
}

bool covers(std::uint64_t side) {
  if (side % 2 == 0) side /= 2;
  while (side > 0 && side % 5 == 0) side /= 5;
  return side == 1;
}

std::optional<Refusal> also_requires(const Machine& machine, const Request&) {
  const Topology& topology = machine.topology;
  auto side = static_cast<std::uint64_t>(topology.extent(0));
  if (covers(side)) return std::nullopt;
  while (!covers(side)) --side;
  return Refusal{Refusal::About::shape, topology.text(), "peters-syska needs sides of 5^p or 2*5^p",
                 std::to_string(side) + "x" + std::to_string(side)};
}

Plan plan(const Machine& machine, const Request& request) {
  return whole_message_plan(request, ceil_log(5, machine.topology.nodes()), "ceil(log_5 N)", peters_syska_program);
}

}  // namespace

Program peters_syska_program(Node& self) {
  if (self.blocks().empty()) co_await self.arrival();
  const Step end = ceil_log(5, self.topology().nodes());
  while (self.now() < end) {
    send_all(self);
    if (self.now() + 1 == end) co_return;
    co_await self.step();
  }
}

const Algorithm peters_syska{
    .name = "peters-syska",
    .collective = Collective::broadcast,
    .source = "Peters & Syska 1996; step count as claimed, moves reconstructed",
    .shapes = "torus n x n, n = 5^p or 2*5^p",
    .steps = "ceil(log_5 N) = 2p or 2p+1",
    .native = {.switching = Switching::circuit},
    .needs = {.shape = Requirements::Shape::equal_torus,
              .dimensions = 2,
              .switching = Switching::circuit,
              .ports = Requirements::all_ports},
    .also_requires = also_requires,
    .plan = plan,
};

}  // namespace torus::broadcast
