/// Broadcast dimension by dimension, in the machine's routing order: a stage covers the lines of one dimension through the nodes reached so
/// far, by recursive doubling (one port) or tripling.
/// Machine  wormhole, dimension-ordered, any ports (2 are used on rings and lines, all on complete dimensions), no channel shared.
///          Packet switching does where all dimensions are complete or of extents 1 and 2.
/// Memory   O(1) a node.
/// Steps    the sum over the dimensions of the steps of one (lines/segment.hpp), each the minimum for a single dimension.
/// Header   the length of the child's segment, and the step in which the next dimension begins.
/// Source   recursive doubling; as Wang, Tseng, Ni & Sheu's remark on one and two ports suggests (section 3.2.3).

#include <algorithm>
#include <array>

#include <torus/algorithm.hpp>

#include "algorithms/broadcast/whole_message.hpp"
#include "algorithms/common/received.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/lines/segment.hpp"
#include "algorithms/program_memory.hpp"

namespace torus::broadcast::dimension_wise {

namespace {

/// What an informed node knows: the dimension that is being covered, the places left in it, and its end.
struct Holder {
  std::int32_t stage = -1;  // of the dimension in the routing order; -1: none yet
  lines::Sides sides;
  Step next = 0;  // the step in which the next dimension begins
};

Dimension dimension_at(const Machine& machine, std::int32_t stage) { return machine.routing[static_cast<std::size_t>(stage)]; }

std::int32_t ports_in(const Machine& machine, Dimension d) {
  return lines::usable_ports(machine.topology.wiring(d), machine.topology.extent(d), machine.ports);
}

void receive(const Node& self, Holder& holder, const Message& message) {
  const Machine& machine = self.machine();
  const Dimension d = message.dimension();
  const Wiring wiring = machine.topology.wiring(d);
  const std::int32_t n = self.extent(d), ports = ports_in(machine, d);
  holder.stage = static_cast<std::int32_t>(std::find(machine.routing.begin(), machine.routing.end(), d) - machine.routing.begin());
  holder.sides = lines::sides_of_child(wiring, bounded(message.header()[0], 1, n, "length"), ports, message.direction() > 0);
  // A holder that begins the next dimension too late would wait for its step for ever.
  const Step longest = steps_of(wiring, lines::sides_of_first(wiring, n, 0, ports), ports);
  holder.next = bounded(message.header()[1], self.now(), self.now() + longest, "step in which the next dimension begins");
}

/// Begins the next dimension in which nodes are left to inform. False if there is none.
bool begin_next(const Node& self, Holder& holder) {
  while (++holder.stage < self.dimensions()) {
    const Dimension d = dimension_at(self.machine(), holder.stage);
    const Wiring wiring = self.topology().wiring(d);
    const std::int32_t ports = ports_in(self.machine(), d);
    holder.sides = lines::sides_of_first(wiring, self.extent(d), self.coordinate(d), ports);
    holder.next = self.now() + steps_of(wiring, holder.sides, ports);
    if (holder.next > self.now()) return true;
  }
  return false;
}

void send(Node& self, Holder& holder) {
  const Dimension d = dimension_at(self.machine(), holder.stage);
  const Wiring wiring = self.topology().wiring(d);
  holder.sides = share_out(wiring, holder.sides, ports_in(self.machine(), d), [&](std::int32_t offset, std::int32_t length) {
    const std::int32_t hops = wiring == Wiring::complete ? modulo(offset, self.extent(d)) : offset;
    self.send({{d, hops}}, self.blocks(), {static_cast<Word>(length), holder.next});
  });
}

/// No node is left to inform, in this dimension or in a later one.
bool done(const Node& self, const Holder& holder) {
  if (holder.sides != lines::Sides{}) return false;
  for (std::int32_t stage = holder.stage + 1; stage < self.dimensions(); ++stage) {
    if (self.extent(dimension_at(self.machine(), stage)) > 1) return false;
  }
  return true;
}

/// What a holder does in the present step. False if nothing is left.
bool act(Node& self, Holder& holder) {
  if (self.now() == holder.next && !begin_next(self, holder)) return false;
  send(self, holder);
  return !done(self, holder);
}

Program program(Node& self) {
  Holder holder;
  if (self.blocks().empty()) {
    const Arrivals came = co_await self.arrival();
    receive(self, holder, came.front());
    if (done(self, holder)) co_return;
  }
  while (act(self, holder)) co_await self.step();
}

Plan plan(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  std::uint64_t steps = 0;
  for (Dimension d = 0; d < topology.dimensions(); ++d) {
    const std::int32_t ports = ports_in(machine, d);
    const std::int32_t root = topology.coordinate(request.sources.front(), d);
    steps += steps_of(topology.wiring(d), lines::sides_of_first(topology.wiring(d), topology.extent(d), root, ports), ports);
  }
  const std::string formula = machine.ports == 1 ? "sum of ceil(log_2 n)"
                                                 : "sum of: ring ceil(log_3 n), line ceil(log_3 (2*longer side+1)), complete ceil(log_" +
                                                       std::to_string(machine.ports + 1) + " n)";
  Plan plan = whole_message_plan(request, steps, formula, program, 2);
  plan.message_bytes = bytes_of_messages(1) / 2;  // each node is told once
  return plan;
}

constexpr std::array terms{Term{"p", "ports that a node uses at once"}, Term{"m", "nodes on the longer side of the root, on a line"}};

const Algorithm dimension_wise{
    .name = "dimension-wise",
    .collective = Collective::broadcast,
    .source = "recursive doubling; Wang, Tseng, Ni & Sheu, section 3.2.3, ports 1 and 2",
    .shapes = "any",
    .steps =
        "sum over the dimensions of ceil(log_{p+1} n), p = min(ports, 2), complete: p = ports; line with p = 2: ceil(log_3 (2m+1)), m its "
        "longer side from the root",
    .idea = {.first = "The root informs its line in one dimension: in each step every informed node hands parts of what is left of the "
                      "line to other nodes, one by each port that it uses.",
             .then = "All informed nodes do the same along their lines of the next dimension, until every dimension is done.",
             .good = "The informed nodes of a line double or treble in each step, and a worm that stays in its part of a line meets no "
                     "other; but at most two ports of a ring or line work at once."},
    .terms = terms,
    .needs = {.switching = Switching::wormhole, .one_dimension_a_route = true},
    .plan = plan,
};

}  // namespace

extern const Entries entries{dimension_wise};

}  // namespace torus::broadcast::dimension_wise
