/// Broadcasts by circuits that meet the optimum: every informed node uses all its ports in every step.
/// Machine  circuit, all ports, no channel shared, torus of equal sides.   Memory  O(1) a node.
/// Header   none: the moves follow from the step.
///
/// peters-syska  Recursive tiling of a torus of side 5^p or 2*5^p. For s = 5^{p-1}, .., 5, 1 the holders go from the lattice of 5s Z^2 to
///               s M, M the perfect Lee code {(2u-v, u+2v)}, and on to s Z^2. A side of 2*5^p is split into four squares first.
///   Steps   2p, or 2p+1: ceil(log_5 N), the minimum.
///   Source  Peters & Syska, Circuit-switched broadcasting in torus networks (1996); moves reconstructed from the abstract's claim.
/// park-choi     On a kD torus of side m^p, m = 2k+1: on each scale s = m^{p-1}, .., m, 1 the k stages of network spanning on a torus of
///               side m, every hop count multiplied by s. Half-duplex links suffice.
///   Steps   k p = log_m N, the minimum.
///   Source  Park & Choi, Circuit-switched broadcasting in torus and mesh networks (1996): claim theirs (sides, steps, half-duplex), order
///           of moves ours.

#include <array>

#include <torus/algorithm.hpp>

#include "algorithms/broadcast/tracks.hpp"
#include "algorithms/broadcast/whole_message.hpp"
#include "algorithms/common/integers.hpp"
#include "algorithms/entries.hpp"

namespace torus::broadcast::closed_circuits {
namespace {

void send(Node& self, std::initializer_list<Leg> route) { self.send(route, self.blocks()); }

/// The moves of a holder in the present step.
void send_tiles(Node& self) {
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

bool is_tiled(std::uint64_t side) {
  if (side % 2 == 0) side /= 2;
  while (side > 0 && side % 5 == 0) side /= 5;
  return side == 1;
}

Program peters_syska_program(Node& self) {
  if (self.blocks().empty()) co_await self.arrival();
  const Step end = ceil_log(5, self.topology().nodes());
  while (self.now() < end) {
    send_tiles(self);
    if (self.now() + 1 == end) co_return;
    co_await self.step();
  }
}

std::optional<Refusal> peters_syska_also_requires(const Machine& machine, const Request&) {
  const Topology& topology = machine.topology;
  auto side = static_cast<std::uint64_t>(topology.extent(0));
  if (is_tiled(side)) return std::nullopt;
  while (!is_tiled(side)) --side;
  return Refusal{Refusal::About::shape, topology.text(), "peters-syska needs sides of 5^p or 2*5^p",
                 std::to_string(side) + "x" + std::to_string(side)};
}

Plan peters_syska_plan(const Machine& machine, const Request& request) {
  return whole_message_plan(request, ceil_log(5, machine.topology.nodes()), "ceil(log_5 N)", peters_syska_program);
}

constexpr std::array tiling_terms{Term{"p", "power of 5 in the side"}};

const Algorithm peters_syska{
    .name = "peters-syska",
    .collective = Collective::broadcast,
    .source = "Peters & Syska 1996; step count as claimed, moves reconstructed",
    .shapes = "torus n x n, n = 5^p or 2*5^p",
    .steps = "ceil(log_5 N) = 2p or 2p+1",
    .idea = {.first = "The source informs four nodes that lie a knight's move away on a large scale, so that the informed nodes form a "
                      "slanted lattice; a side of twice a power of 5 is split into four squares before.",
             .then = "In the next step each informed node reaches its four neighbours on that scale, and the two steps repeat on scales "
                     "that are five times as fine.",
             .good = "In each step every informed node uses its four ports and reaches only new nodes, so that the informed become five "
                     "times as many: no broadcast takes fewer steps."},
    .terms = tiling_terms,
    .native = {.switching = Switching::circuit},
    .needs = {.shape = Requirements::Shape::equal_torus,
              .dimensions = 2,
              .switching = Switching::circuit,
              .ports = Requirements::all_ports},
    .also_requires = peters_syska_also_requires,
    .plan = peters_syska_plan,
};

std::uint64_t base(const Topology& topology) { return 2 * static_cast<std::uint64_t>(topology.dimensions()) + 1; }

Step steps(const Topology& topology) {
  return static_cast<Step>(topology.dimensions()) * ceil_log(base(topology), static_cast<std::uint64_t>(topology.extent(0)));
}

/// The moves of every holder in a step: by every track once forwards and once backwards.
void send_by_tracks(Node& self) {
  const std::int32_t k = self.dimensions();
  const auto step = static_cast<std::int32_t>(self.now());
  std::int32_t scale = self.extent(0);
  for (std::int32_t i = 0; i <= step / k; ++i) scale /= 2 * k + 1;
  for (std::int32_t track = 1; track <= k; ++track) {
    for (const std::int32_t offset : {track, -track})
      self.send(RouteView(circuit_track(k, step % k + 1, track, offset, scale)), self.blocks());
  }
}

Program park_choi_program(Node& self) {
  if (self.blocks().empty()) co_await self.arrival();
  const Step end = steps(self.topology());
  while (self.now() < end) {
    send_by_tracks(self);
    if (self.now() + 1 == end) co_return;
    co_await self.step();
  }
}

std::optional<Refusal> park_choi_also_requires(const Machine& machine, const Request&) {
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

Plan park_choi_plan(const Machine& machine, const Request& request) {
  return whole_message_plan(request, steps(machine.topology), "log_" + std::to_string(base(machine.topology)) + " N", park_choi_program);
}

const Algorithm park_choi{
    .name = "park-choi",
    .collective = Collective::broadcast,
    .source = "Park & Choi 1996; step count as claimed, moves reconstructed",
    .shapes = "torus n x .. x n, n = (2k+1)^p",
    .steps = "log_{2k+1} N",
    .idea = {.first = "The torus counts as a small one whose nodes lie far apart: the source informs all the others of its line there in "
                      "one step, by all its ports.",
             .then =
                 "When all dimensions of the small torus are done, all its nodes do the same on a finer scale, until the scale is one hop.",
             .good = "All ports of all informed nodes reach new nodes in each step, so that no broadcast takes fewer steps, and links that "
                     "carry one direction at a time suffice."},
    .native = {.switching = Switching::circuit},
    .needs = {.shape = Requirements::Shape::equal_torus, .switching = Switching::circuit, .ports = Requirements::all_ports},
    .also_requires = park_choi_also_requires,
    .plan = park_choi_plan,
};

}  // namespace

extern const Entries entries{peters_syska, park_choi};

}  // namespace torus::broadcast::closed_circuits
