/// Barrier by flooding: in every step each node tells all its neighbours what it has heard.
/// Machine  packet, all ports, any shape, with holes up to a size, no channel shared.
/// Steps    the diameter, around what is dead: the minimum for store-and-forward.   Bytes  0: messages have neither blocks nor header.
/// Source   folklore.

#include <cstdint>
#include <optional>

#include <torus/algorithm.hpp>

#include "algorithms/common/living_channels.hpp"
#include "algorithms/common/shapes.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/program_memory.hpp"

namespace torus::reduction::flood_barrier {

namespace {

void tell_all(Node& self) {
  const Topology& topology = self.topology();
  topology.each_link(self.rank(), [&](Dimension d, std::int32_t direction, NodeId) {
    // Both links lead to one node, which one message tells; not so where a twist is, or where the first link is dead.
    const bool again = direction < 0 && topology.extent(d) == 2 && topology.wiring(d) == Wiring::ring && !topology.twisted() &&
                       topology.passes(self.rank(), d, +1);
    if (!again) self.send({{d, direction}}, {});
  });
}

Program program(Node& self, Step diameter) {
  for (Step step = 0; step < diameter; ++step) {
    tell_all(self);
    co_await self.step();
  }
}

std::optional<Refusal> also_requires(const Machine& machine, const Request&) {
  const auto fits = [](const Topology& t) {
    constexpr std::uint64_t most_effort = std::uint64_t{1} << 26U;
    return std::uint64_t{t.nodes()} * t.nodes() * static_cast<std::uint64_t>(t.max_ports()) <= most_effort;
  };
  if (machine.topology.whole() || fits(machine.topology)) return std::nullopt;
  return Refusal{Refusal::About::shape, machine.topology.text(), "flood measures all ways around holes, of fewer nodes",
                 smaller(machine.topology, fits).text()};
}

Plan plan(const Machine& machine, const Request&) {
  const auto diameter = static_cast<Step>(living_diameter(machine.topology));
  Plan plan;
  plan.start = [diameter](Node& self) { return program(self, diameter); };
  plan.message_bytes = bytes_of_messages(static_cast<std::uint64_t>(machine.topology.max_ports()));
  plan.steps = diameter;
  plan.route_hops = plan.steps;
  plan.formula = "diameter";
  return plan;
}

constexpr Algorithm flood_barrier{
    .name = "flood",
    .collective = Collective::barrier,
    .source = "folklore: the fewest steps of any store-and-forward barrier",
    .shapes = "any",
    .steps = "diameter",
    .idea = {.first = "In the first step each node tells all its neighbours that it has come.",
             .then = "In each further step every node tells its neighbours all that it has heard, so that news goes a hop on by every "
                     "channel, until the farthest node is heard of.",
             .good =
                 "The steps are the diameter, the fewest of any barrier hop by hop, and the messages are empty; it sends many of them."},
    .native = {.switching = Switching::packet},
    .needs = {.ports = Requirements::all_ports, .lives_with_holes = true, .takes_twists = true},
    .also_requires = also_requires,
    .plan = plan,
};

}  // namespace

extern const Entries entries{flood_barrier};

}  // namespace torus::reduction::flood_barrier
