/// All-reduce and barrier in as many steps as the diameter: along one dimension after the other everybody tells everybody, one hop a step.
///
/// A node sends what it has combined before the phase to both neighbours, and passes on what comes from behind. A partial on its way is in
/// a register of its own (1: going up, 2: going down), so that each arrival can be combined with register 0 and still be passed on alone.
/// Machine  any mix of rings, lines and complete dimensions; packet (single hops), no channel shared. Two ports, and one for each other
///          node of a complete dimension; rotated: all.
/// Variant  `whole`: the vector goes along the dimensions whole. `rotated`: in one part a dimension, each of which begins at another.
///          Default: the one of less model time.
/// Steps    the sum of the reaches D, which is optimal; rotated k max reach, which is D where all reaches are equal. A ring's reach is
///          floor(n/2), a line's n-1, a complete dimension's 1.
/// Bytes    D m; rotated k max reach m/k.   Memory  3 vectors a node, one where no reach exceeds 1.
/// Barrier  the same messages without blocks: 0 bytes.
/// Source   this project.

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/common/parameters.hpp"
#include "algorithms/common/shapes.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/program_memory.hpp"
#include "algorithms/reduction/one_order.hpp"
#include "algorithms/reduction/reach.hpp"
#include "algorithms/reduction/segment_bytes.hpp"

namespace torus::reduction::recursive_exchange {
namespace {

/// Calls f(hops, register that travels, whether the receiver passes it on) for what a place of a line sends in a stage, from 1.
template <class F>
void for_messages(const DimensionShape& line, std::int32_t place, std::int32_t stage, F&& f) {
  const std::int32_t n = line.extent;
  const int up = stage == 1 ? 0 : 1, down = stage == 1 ? 0 : 2;
  switch (line.wiring) {
    case Wiring::ring:  // where 2 stage = n, both ways end at one node, and only up is taken
      if (2 * stage <= n) f(+1, up, 2 * (stage + 1) <= n);
      if (2 * stage < n) f(-1, down, 2 * (stage + 1) < n);
      break;
    case Wiring::line:
      if (place + 1 < n && place - stage + 1 >= 0) f(+1, up, place + 2 < n);
      if (place - 1 >= 0 && place + stage - 1 < n) f(-1, down, place - 2 >= 0);
      break;
    case Wiring::complete:
      for (std::int32_t offset = 1; offset < n && stage == 1; ++offset) f(offset, 0, false);
      break;
  }
}

struct Exchange {
  Exchange(const Topology& topology, std::uint32_t most_parts) : axes{linked_dimensions(topology)} {
    parts = std::max<std::uint32_t>(1, std::min<std::uint32_t>(most_parts, static_cast<std::uint32_t>(axes.size())));
    for (const Dimension d : axes) reaches.push_back(reach(topology.shape()[static_cast<std::size_t>(d)]));
  }
  std::size_t phases() const noexcept { return axes.size(); }
  std::size_t axis(std::uint32_t part, std::size_t phase) const noexcept { return (part + phase) % axes.size(); }
  std::int32_t stages(std::size_t phase) const noexcept {
    std::int32_t most = 0;
    for (std::uint32_t part = 0; part < parts; ++part) most = std::max(most, reaches[axis(part, phase)]);
    return most;
  }

  std::vector<Dimension> axes;
  std::vector<std::int32_t> reaches;  // by axis
  std::uint32_t parts = 1;
};

void send(Node& self, const Exchange& exchange, std::uint32_t part, Dimension d, std::int32_t stage, bool barrier) {
  const DimensionShape& line = self.topology().shape()[static_cast<std::size_t>(d)];
  for_messages(line, self.coordinate(d), stage, [&](std::int32_t hops, int from, bool passed_on) {
    if (barrier) return self.send({{d, hops}}, {});
    const Combine into = !passed_on ? combine : combine_into({0, hops > 0 ? 1 : 2});
    const BlockId block = static_cast<BlockId>(from) * exchange.parts + part;
    if (from == 0)
      self.send(into, {{d, hops}}, {{block}});
    else
      self.forward(into, {{d, hops}}, {{block}});
  });
}

Program program(Node& self, const Exchange& exchange, bool barrier) {
  for (std::size_t phase = 0; phase < exchange.phases(); ++phase) {
    for (std::int32_t stage = 1; stage <= exchange.stages(phase); ++stage) {
      for (std::uint32_t part = 0; part < exchange.parts; ++part)
        send(self, exchange, part, exchange.axes[exchange.axis(part, phase)], stage, barrier);
      co_await self.step();
    }
  }
}

/// Partials that a node in the middle of a line combines in a stage.
std::uint64_t arrivals(const DimensionShape& line, std::int32_t stage) noexcept {
  std::uint64_t count = 0;
  if (line.wiring == Wiring::line) return 2 * stage < line.extent ? 2 : stage < line.extent ? 1 : 0;
  for_messages(line, 0, stage, [&](std::int32_t, int, bool) { ++count; });
  return count;
}

Plan plan(const Machine& machine, const Request& request, std::uint32_t most_parts) {
  const auto exchange = std::make_shared<const Exchange>(machine.topology, most_parts);
  const bool barrier = request.collective == Collective::barrier;
  Plan plan;
  plan.segments = exchange->parts;
  plan.start = [exchange, barrier](Node& self) { return program(self, *exchange, barrier); };
  std::uint64_t combined = 0, most_sent = 0;  // blocks of a node: in all; in a stage
  for (std::size_t phase = 0; phase < exchange->phases(); ++phase) {
    plan.steps += static_cast<std::uint64_t>(exchange->stages(phase));
    for (std::int32_t stage = 1; stage <= exchange->stages(phase); ++stage) {
      std::uint64_t sent = 0;
      for (std::uint32_t part = 0; part < exchange->parts; ++part) {
        const Dimension d = exchange->axes[exchange->axis(part, phase)];
        sent += arrivals(machine.topology.shape()[static_cast<std::size_t>(d)], stage);
      }
      combined += sent;
      most_sent = std::max(most_sent, sent);
    }
  }
  plan.message_bytes = bytes_of_messages(most_sent);
  plan.route_hops = plan.steps;
  plan.formula = exchange->parts > 1 ? "k max reach" : "sum of the reaches";
  if (barrier) return plan;
  const bool passes_on = std::any_of(exchange->reaches.begin(), exchange->reaches.end(), [](std::int32_t r) { return r > 1; });
  plan.registers = passes_on ? 3 : 1;
  const std::uint64_t placed = std::uint64_t{plan.segments} * plan.registers;
  plan.copies = machine.topology.nodes() * (std::max(placed, plan.segments + most_sent) - placed);
  const SegmentBytes segment(request, plan.segments);
  plan.channel_bytes = segment.of(plan.steps);
  plan.combined_bytes = segment.of(combined);
  plan.bytes_exact = segment.equal;
  return plan;
}

constexpr std::array<std::string_view, 2> variants{"whole", "rotated"};

std::optional<Refusal> refuses_rotated(const Machine& machine) {
  return unmet({.ports = Requirements::all_ports}, "rotated exchange", machine);
}

Plan plan_allreduce(const Machine& machine, const Request& request) {
  return plan_of_variant(machine, request, variants, [&](std::string_view variant) -> std::optional<Plan> {
    if (variant == "whole") return plan(machine, request, 1);
    if (refuses_rotated(machine)) return std::nullopt;
    return plan(machine, request, static_cast<std::uint32_t>(machine.topology.dimensions()));
  });
}

Plan plan_barrier(const Machine& machine, const Request& request) { return plan(machine, request, 1); }

/// A node sends to all others of a complete dimension at once.
std::optional<Refusal> too_few_ports(const Machine& machine, const Request& request) {
  if (request.parameters.word("variant") == "rotated") return refuses_rotated(machine);
  std::int32_t ports = 0;
  for (const DimensionShape& d : machine.topology.shape()) {
    if (d.wiring == Wiring::complete) ports = std::max(ports, d.extent - 1);
  }
  if (machine.ports >= ports) return std::nullopt;
  return Refusal{Refusal::About::ports, std::to_string(machine.ports), "exchange sends to all places of a complete dimension at once",
                 std::to_string(ports)};
}

std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  if (auto why = differs_by_node("exchange", request)) return why;
  return too_few_ports(machine, request);
}

constexpr std::array parameters{parameter::variant(variants)};
constexpr std::array former_names{FormerName{"exchange-rotated", "--variant rotated"}};

constexpr std::array terms{Term{"reach", "hops to the farthest place of a line"}};

constexpr Algorithm allreduce{
    .name = "exchange",
    .collective = Collective::allreduce,
    .source = "this project: the fewest steps of any store-and-forward exchange",
    .shapes = "any",
    .steps = "sum of the reaches: of a ring floor(n/2), a line n-1, a complete dimension 1; rotated: k max reach",
    .idea =
        {.first = "Along the first dimension each node sends its vector both ways and passes on what comes from behind, so that all nodes "
                  "of a line get the sum of the line.",
         .then =
             "The next dimension does the same with these sums; rotated, the vector is cut into parts that begin in different dimensions.",
         .good = "The steps are the diameter, the fewest of all that go hop by hop; but each carries the whole vector, or a large part of "
                 "it, so that short vectors gain."},
    .terms = terms,
    .native = {.switching = Switching::packet},
    .needs = {.ports = 2},
    .parameters = parameters,
    .also_requires = also_requires,
    .plan = plan_allreduce,
    .former_names = former_names};

constexpr Algorithm barrier{
    .name = "exchange",
    .collective = Collective::barrier,
    .source = allreduce.source,
    .shapes = "any",
    .steps = "sum of the reaches: of a ring floor(n/2), a line n-1, a complete dimension 1",
    .idea = {.first = "Along the first dimension each node tells both neighbours that it has come, and they pass it on, until all nodes of "
                      "a line know of one another.",
             .then = "The next dimension does the same for whole lines, then for planes, until all nodes are known.",
             .good = "Two ports are enough for as many steps as the diameter, the fewest of any barrier that goes hop by hop."},
    .terms = terms,
    .native = {.switching = Switching::packet},
    .needs = {.ports = 2},
    .also_requires = too_few_ports,
    .plan = plan_barrier};

}  // namespace

extern const Entries entries{allreduce, barrier};

}  // namespace torus::reduction::recursive_exchange
