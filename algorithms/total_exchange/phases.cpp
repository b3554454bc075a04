/// Total exchange over all ports in phases: in each, one exchange along every dimension, side by side. Two algorithms, which differ in the
/// shapes that they take and in which exchange carries which class (phase_assignment.hpp).
///
/// a3      k dimensions of the same extent n and wiring. 2^j dimensions: the paper's algorithm A3; any other number: the closed form.
///         Steps  n^(k-1) T_1, T_1 those of one exchange; meets bound (4) on lines, and on rings where n is odd or a multiple of 4.
/// phases  Any product of rings, lines and complete graphs. The dimension with the most to carry never pauses.
///         Steps  max over i of (N/n_i) T_i; meets bound (4) on every mesh.
///         Errors plan() throws InputError where extents differ and a hundred orders of the classes all fail; of 20,000 shapes none
///         needed a third.
///
/// Machine  packet, all ports.   Header  none.   Memory  that of phases.hpp.
/// Source   Dimakopoulos & Dimopoulos, A theory for total exchange in multidimensional interconnection networks: algorithm A3; phases and
///          the closed form are this project's.

#include "algorithms/total_exchange/phases.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include <torus/algorithm.hpp>
#include <torus/error.hpp>

#include "algorithms/common/shapes.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/total_exchange/phase_assignment.hpp"

namespace torus::total_exchange {
namespace {

std::vector<Exchanges> exchanges_of(const Topology& topology) {
  std::vector<Exchanges> out;
  for (const Dimension d : linked_dimensions(topology)) out.emplace_back(topology, d);
  return out;
}

Program phase_program(Node& self, const PhaseSchedule& schedule) {
  for (Step t = 0; t < schedule.steps(); ++t) {
    schedule.send(self, t);
    co_await self.step();
  }
}

}  // namespace

std::uint64_t phase_steps(const Topology& topology) noexcept {
  std::uint64_t steps = 0;
  for (const DimensionShape& dimension : topology.shape()) {
    const std::uint64_t exchanges = topology.nodes() / static_cast<std::uint64_t>(dimension.extent);
    steps = std::max(steps, exchanges * all_port_steps(dimension.wiring, dimension.extent));
  }
  return steps;
}

Exchanges::Exchanges(const Topology& topology, Dimension d)
    : number{topology.nodes() / static_cast<NodeId>(topology.extent(d))},
      duration{all_port_steps(topology.wiring(d), topology.extent(d))},
      total{phase_steps(topology)} {}

bool one_dimension_at_a_time(const Topology& topology, const ExchangeOf& exchange_of) {
  const std::vector<Dimension> dimensions = linked_dimensions(topology);
  const std::vector<Exchanges> exchanges = exchanges_of(topology);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> busy;  // from, to
  for (NodeId delta = 1; delta < topology.nodes(); ++delta) {
    busy.clear();
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
      if (topology.coordinate(delta, dimensions[i]) == 0) continue;
      const std::uint64_t from = exchanges[i].start(exchange_of(delta, i));
      busy.emplace_back(from, from + exchanges[i].duration);
    }
    std::sort(busy.begin(), busy.end());
    for (std::size_t j = 1; j < busy.size(); ++j) {
      if (busy[j].first < busy[j - 1].second) return false;
    }
  }
  return true;
}

PhaseSchedule::PhaseSchedule(const Topology& topology, const ExchangeOf& exchange_of)
    : steps_{static_cast<Step>(phase_steps(topology))}, offsets_{topology} {
  const std::vector<Dimension> dimensions = linked_dimensions(topology);
  const std::vector<Exchanges> exchanges = exchanges_of(topology);
  for (const Dimension d : dimensions) {
    axes_.push_back({d, topology.extent(d), topology.stride(d), AllPortLine(topology.wiring(d), topology.extent(d)),
                     std::vector<RelativeBlock>(topology.nodes())});
  }

  std::vector<std::uint64_t> starts(dimensions.size());
  for (NodeId delta = 1; delta < topology.nodes(); ++delta) {
    const Coordinates offset = topology.coordinates(delta);
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
      if (topology.coordinate(delta, dimensions[i]) != 0) starts[i] = exchanges[i].start(exchange_of(delta, i));
    }
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
      const std::int32_t along = topology.coordinate(delta, dimensions[i]);
      if (along == 0) continue;
      Coordinates origin = offset;
      Coordinates destination = offset;
      for (std::size_t j = 0; j < dimensions.size(); ++j) {
        const auto d = static_cast<std::size_t>(dimensions[j]);
        const bool moved = origin[d] != 0 && starts[j] < starts[i];
        origin[d] = moved ? -offset[d] : 0;
        if (moved || j == i) destination[d] = 0;
      }
      const std::size_t place =
          std::size_t{exchange_of(delta, i)} * static_cast<std::size_t>(axes_[i].extent) + static_cast<std::size_t>(along);
      axes_[i].carried[place] = {topology.rank(origin), topology.rank(destination)};
    }
  }

  exchange_steps_.reserve(std::size_t{steps_} * axes_.size());
  std::vector<std::uint32_t> current(axes_.size(), 0);
  for (Step t = 0; t < steps_; ++t) {
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      std::uint32_t& f = current[i];
      if (f + 1 < exchanges[i].number && exchanges[i].start(f + 1) <= t) ++f;
      exchange_steps_.push_back({f, static_cast<std::uint32_t>(t - exchanges[i].start(f))});
    }
  }
}

BlockId PhaseSchedule::block(const Node& self, const Axis& axis, std::uint32_t exchange, std::int32_t own,
                             Crossing crossing) const noexcept {
  const std::int32_t difference = crossing.destination - crossing.origin;
  const std::int32_t offset = difference < 0 ? difference + axis.extent : difference;
  const std::size_t place = std::size_t{exchange} * static_cast<std::size_t>(axis.extent) + static_cast<std::size_t>(offset);
  const std::int64_t stride = axis.stride;
  const std::int64_t along = (crossing.origin - own) * stride * offsets_.nodes() + (crossing.destination - own) * stride;
  return offsets_.block(self.rank(), axis.carried[place]) + static_cast<BlockId>(along);
}

void PhaseSchedule::send(Node& self, Step t) const {
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const Axis& axis = axes_[i];
    const ExchangeStep now = exchange_steps_[std::size_t{t} * axes_.size() + i];
    if (now.step >= axis.line.steps()) continue;
    const std::int32_t own = self.coordinate(axis.dimension);
    const bool complete = self.topology().wiring(axis.dimension) == Wiring::complete;
    const std::int32_t last = complete ? axis.extent - 1 : -1;
    for (std::int32_t direction = +1;; complete ? ++direction : direction -= 2) {
      if (const Crossing crossing = axis.line.crossing(own, direction, now.step)) {
        const BlockId passing = block(self, axis, now.exchange, own, crossing);
        self.forward({{axis.dimension, direction}}, {&passing, 1});
      }
      if (direction == last) break;
    }
  }
}

Bytes PhaseSchedule::table_bytes() const noexcept {
  Bytes bytes = offsets_.table_bytes() + exchange_steps_.size() * sizeof(ExchangeStep);
  for (const Axis& axis : axes_) bytes += axis.carried.size() * sizeof(RelativeBlock) + axis.line.table_bytes();
  return bytes;
}

Plan plan_in_phases(const Machine& machine, const Request& request, const ExchangeOf& exchange_of, std::string formula) {
  const auto schedule = std::make_shared<const PhaseSchedule>(machine.topology, exchange_of);
  Plan plan;
  plan.start = [schedule](Node& self) { return phase_program(self, *schedule); };
  plan.steps = phase_steps(machine.topology);
  plan.route_hops = plan.steps;
  plan.formula = std::move(formula);
  plan.channel_bytes = static_cast<double>(plan.steps) * static_cast<double>(request.bytes);
  plan.table_bytes = schedule->table_bytes();
  return plan;
}

namespace phases {
namespace {

/// Dimensions of one node aside, all are alike.
std::optional<Refusal> equal_dimensions(const Machine& machine, const Request&) {
  const Topology& topology = machine.topology;
  const std::vector<Dimension> dimensions = linked_dimensions(topology);
  for (const Dimension d : dimensions) {
    const DimensionShape first = topology.shape()[static_cast<std::size_t>(dimensions.front())];
    if (topology.shape()[static_cast<std::size_t>(d)] == first) continue;
    return Refusal{Refusal::About::shape, topology.text(), "a3 needs dimensions of the same extent and wiring",
                   changed(topology, [&](DimensionShape& shape) { shape = shape.extent > 1 ? first : shape; }).text()};
  }
  return needs_tabled_steps("a3", topology, phase_steps);
}

Plan plan_a3(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  const auto phase = std::has_single_bit(linked_dimensions(topology).size()) ? halving_phase : closed_form_phase;
  return plan_in_phases(
      machine, request, [&](NodeId delta, std::size_t i) { return phase(topology, delta, i); }, "n^(k-1) T_1");
}

const Algorithm a3{
    .name = "a3",
    .collective = Collective::total_exchange,
    .source =
        "Dimakopoulos & Dimopoulos, total exchange in multidimensional networks, algorithm A3; other than 2^j dimensions: this project",
    .shapes = "k equal rings, lines or complete graphs wider than 1, any k",
    .steps = "n^(k-1) T_1; T_1: ring ceil(floor(n^2/4)/2), line floor(n^2/4), complete 1",
    .idea = {.first = "In each phase every dimension has one small exchange along all its lines, side by side: the blocks are dealt out so "
                      "that each dimension carries a different kind.",
             .then = "In the next phases the kinds change places, until each block has made its way in every dimension.",
             .good = "All ports work at the same time in all dimensions, so that on equal lines and on most equal rings no exchange of "
                     "single blocks takes fewer steps."},
    .native = {.switching = Switching::packet},
    .needs = {.ports = Requirements::all_ports},
    .also_requires = equal_dimensions,
    .plan = plan_a3,
};

bool equal_extents(const Topology& topology) {
  for (const DimensionShape& dimension : topology.shape()) {
    if (dimension.extent != 1 && dimension.extent != largest_extent(topology)) return false;
  }
  return true;
}

std::optional<Refusal> few_enough_steps(const Machine& machine, const Request&) {
  return needs_tabled_steps("phases", machine.topology, phase_steps);
}

Plan plan_phases(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  const std::string formula = "max (N/n_i) T_i";
  if (equal_extents(topology)) {
    return plan_in_phases(
        machine, request, [&](NodeId delta, std::size_t i) { return closed_form_phase(topology, delta, i); }, formula);
  }
  constexpr std::uint32_t most_attempts = 100;  // one shape in twenty needs a second one, and none of 20,000 a third
  const std::optional<ExchangeAssignment> assignment = assign_exchanges_legally(topology, most_attempts);
  if (!assignment) {
    throw InputError("shape " + topology.text() + ": phases found no order of the classes in " + std::to_string(most_attempts) +
                     " attempts; a2 with one port needs no search");
  }
  return plan_in_phases(
      machine, request, [&](NodeId delta, std::size_t i) { return (*assignment)[i][delta]; }, formula);
}

const Algorithm phases{
    .name = "phases",
    .collective = Collective::total_exchange,
    .source = "this project",
    .shapes = "any product of rings, lines and complete graphs",
    .steps = "max (N/n_i) T_i; T_i: ring ceil(floor(n^2/4)/2), line floor(n^2/4), complete 1",
    .idea = {.first = "As in a3 each phase has a small exchange along every dimension, side by side; but a table says which kind of block "
                      "is in which dimension, since the dimensions differ.",
             .then = "The dimension with most to carry works in every phase, and the exchanges of the others are fitted in beside it.",
             .good = "It does for any mix of rings, lines and complete dimensions what a3 does for equal ones, and on every mesh no "
                     "exchange of single blocks takes fewer steps."},
    .native = {.switching = Switching::packet},
    .needs = {.ports = Requirements::all_ports},
    .also_requires = few_enough_steps,
    .plan = plan_phases,
};

}  // namespace

extern const Entries entries{a3, phases};

}  // namespace phases

}  // namespace torus::total_exchange
