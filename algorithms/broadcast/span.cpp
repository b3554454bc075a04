/// Broadcast by network spanning on a square torus. Stage i covers the i-th line of supernodes by the splitting rule; each supernode is a
/// copy of the subgroup that the earlier stages have reached. Tracks of one to four legs keep the messages of a step apart.
/// Machine  circuit, 1 to 2k ports, no channel shared, torus n x .. x n, any n, any k.   Memory  O(1) a node.
/// Steps    k ceil(log_{ports+1} n): at most k-1 above ceil(log_{ports+1} N), equal to it where n is a power of ports+1.
/// Header   the length of the child's segment; the stage follows from the step.
/// Source   Wang, Tseng, Ni & Sheu, Theorems 1, 2, 5, 6 and section 5; for odd ports the owner's place as in lines/segment.hpp.

#include <torus/algorithm.hpp>

#include "algorithms/broadcast/tracks.hpp"
#include "algorithms/broadcast/whole_message.hpp"
#include "algorithms/common/integers.hpp"
#include "algorithms/common/received.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/lines/segment.hpp"

namespace torus::broadcast::span {

namespace {

/// Splits the segment in a stage; returns the length that is kept.
std::int32_t split(Node& self, std::int32_t stage, std::int32_t length) {
  return segment::split(length, self.machine().ports, [&](const segment::Child& child) {
    self.send(RouteView(circuit_track(self.dimensions(), stage, child.track, child.offset)), self.blocks(),
              {static_cast<Word>(child.length)});
  });
}

Program program(Node& self, Step stage_steps) {
  std::int32_t length = 1;
  if (self.blocks().empty()) {
    const Arrivals came = co_await self.arrival();
    length = bounded(came.front().header()[0], 1, self.extent(0), "length");
  }
  const Step end = stage_steps * static_cast<Step>(self.dimensions());
  while (self.now() < end) {
    if (self.now() % stage_steps == 0) length = self.extent(0);  // a stage begins: every holder has a line of supernodes to itself
    const Step stage = self.now() / stage_steps + 1;
    length = split(self, static_cast<std::int32_t>(stage), length);
    if (length == 1 && stage * stage_steps == end) co_return;  // nothing is left in the last stage
    co_await self.step();
  }
}

Plan plan(const Machine& machine, const Request& request) {
  const std::uint64_t base = static_cast<std::uint64_t>(machine.ports) + 1;
  const Step stage_steps = ceil_log(base, static_cast<std::uint64_t>(machine.topology.extent(0)));
  return whole_message_plan(
      request, static_cast<std::uint64_t>(machine.topology.dimensions()) * stage_steps, "k*ceil(log_" + std::to_string(base) + " n)",
      [stage_steps](Node& self) { return program(self, stage_steps); }, 1);
}

const Algorithm span{
    .name = "span",
    .collective = Collective::broadcast,
    .source = "Wang, Tseng, Ni & Sheu, Theorems 1, 2, 5, 6 and section 5",
    .shapes = "torus n x .. x n, any n, any k",
    .steps = "k ceil(log_{p+1} n), p ports",
    .idea = {.first = "The source informs its line: in each step every informed node splits its part of the line into one piece more than "
                      "it has ports, and sends the message into all others.",
             .then = "All nodes that are informed then count as one large node, which informs a line of such nodes in the same way, one "
                     "dimension after the other.",
             .good = "Circuits may take turns as they like, so that all ports work in every step and no channel is shared; where the side "
                     "is a power of the ports plus one, no broadcast takes fewer steps."},
    .native = {.switching = Switching::circuit},
    .needs = {.shape = Requirements::Shape::equal_torus, .switching = Switching::circuit},
    .plan = plan,
};

}  // namespace

extern const Entries entries{span};

}  // namespace torus::broadcast::span
