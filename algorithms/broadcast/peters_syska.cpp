#include "algorithms/broadcast/peters_syska.hpp"

#include "algorithms/common/integers.hpp"
#include "algorithms/common/refusal.hpp"

namespace torus::broadcast {
namespace {

void tell(Node& self, std::initializer_list<Leg> route) { self.send(route, self.blocks()); }

/// The moves of a holder in the present step.
void tell_all(Node& self) {
  Step step = self.now();
  std::int32_t square = self.extent(0);
  if (square % 2 == 0) {
    square /= 2;
    if (step == 0) {
      tell(self, {{0, square}});
      tell(self, {{1, square}});
      tell(self, {{0, -square}, {1, square}});
      return;
    }
    --step;
  }
  std::int32_t s = square / 5;
  for (Step scale = 0; scale < step / 2; ++scale) s /= 5;
  if (step % 2 == 0) {  // from 5s Z^2 to s M: the cosets of (2,1)s, (-1,2)s and their negatives
    tell(self, {{0, 2 * s}, {1, s}});
    tell(self, {{1, 2 * s}, {0, -s}});
    tell(self, {{0, -2 * s}, {1, -s}});
    tell(self, {{1, -2 * s}, {0, s}});
  } else {  // from s M to s Z^2: the four neighbours
    for (const Dimension d : {0, 1}) {
      tell(self, {{d, s}});
      tell(self, {{d, -s}});
    }
  }
}

bool covers(std::uint64_t side) {
  if (side % 2 == 0) side /= 2;
  while (side > 0 && side % 5 == 0) side /= 5;
  return side == 1;
}

std::uint64_t nearest_side(std::uint64_t wanted) {
  std::uint64_t nearest = 2;
  for (std::uint64_t power = 1; power < 8 * wanted; power *= 5)
    nearest = refusal::nearer(wanted, refusal::nearer(wanted, nearest, power), 2 * power);
  return nearest;
}

std::optional<std::string> refuses(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  const bool square = topology.dimensions() == 2 && topology.is_square_torus();
  if (!square || !covers(static_cast<std::uint64_t>(topology.extent(0)))) {
    return "peters-syska needs both sides 5^p or 2*5^p of a torus, not " + topology.text() +
           "; nearest: " + refusal::cube(2, nearest_side(refusal::side_of_cube(2, topology.nodes())));
  }
  return refusal::first_of(refusal::of_switching("peters-syska", machine, Switching::circuit),
                           refusal::of_ports_but_all("peters-syska", machine), refusal::of_segments("peters-syska", request));
}

/// The hops of the longest message of each step, summed.
std::uint64_t route_hops(std::uint64_t side) {
  std::uint64_t hops = 0;
  if (side % 2 == 0) {
    side /= 2;
    hops = 2 * side;
  }
  for (std::uint64_t s = side / 5; s > 0; s /= 5) hops += 3 * s + s;  // to the cosets, then to the neighbours
  return hops;
}

Plan plan(const Machine& machine, const Request& request) {
  Plan plan;
  plan.start = [](Node& self) { return peters_syska_program(self); };
  plan.steps = ceil_log(5, machine.topology.nodes());
  plan.formula = "ceil(log_5 N)";
  plan.route_hops = route_hops(static_cast<std::uint64_t>(machine.topology.extent(0)));
  plan.channel_bytes = static_cast<double>(plan.steps) * static_cast<double>(request.bytes);
  return plan;
}

}  // namespace

Program peters_syska_program(Node& self) {
  if (self.blocks().empty()) co_await self.arrival();
  const Step end = ceil_log(5, self.topology().nodes());
  while (self.now() < end) {
    tell_all(self);
    if (self.now() + 1 == end) co_return;
    co_await self.step();
  }
}

const Algorithm peters_syska{
    .name = "peters-syska",
    .collective = Collective::broadcast,
    .source = "Peters & Syska 1996; step count as claimed, moves reconstructed",
    .shapes = "torus n x n, n = 5^p or 2*5^p",
    .ports = "all",
    .steps = "ceil(log_5 N) = 2p or 2p+1",
    .native = {.switching = Switching::circuit},
    .refuses = refuses,
    .plan = plan,
};

}  // namespace torus::broadcast
