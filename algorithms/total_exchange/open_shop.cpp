/// Total exchange over all ports on any torus, in as many steps as the bound allows: an open shop.
///
/// All nodes do the same with a class at the same time, so a class is a job that needs |h_i| unit operations on machine (i, sign of h_i),
/// the channels of dimension i in that direction, h its shortest hops, in any order of the dimensions. Every node keeps the same table of
/// what is on which machine when; it is made once a run and shared. Ties (half way round a ring) alternate between the directions.
/// Where n_i is even and N/n_i odd (one dimension at most) they do not come out even: there the classes that move along i alone are left
/// out, and two jobs of ceil(n_i^2/8) operations step through the exchange of all_port_line.hpp, which divides its ties by node.
/// A line of 2 is one machine: the two ends of a link exchange. A complete dimension is one machine for each offset.
///
/// Machine  packet, all ports; any product of rings, lines of 2 (hypercubes) and complete graphs.
/// Steps    max(C4, diameter), C4 bound (4): max over i of ceil((N/n_i) floor(n_i^2/4) / 2) for rings, N/n_i for complete graphs and
///          lines of 2.
/// Header   none.   Memory  O(1) a node; 16 bytes a hop of a class, shared by all nodes.
/// Source   this project, beyond Dimakopoulos & Dimopoulos, A theory for total exchange in multidimensional interconnection networks.

#include "algorithms/total_exchange/open_shop.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>

#include <torus/algorithm.hpp>
#include <torus/bounds.hpp>

#include "algorithms/common/shapes.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/total_exchange/all_port_line.hpp"
#include "algorithms/total_exchange/classes.hpp"

namespace torus::total_exchange {

OpenShopTable::OpenShopTable(std::size_t machines, std::size_t jobs, std::uint32_t slots)
    : slots_{slots},
      words_{slots / 64U + 1U},
      jobs_(machines * slots, none),
      busy_(machines * words_),
      first_free_(machines),
      operations_(jobs),
      job_busy_(words_) {}

void OpenShopTable::add(Job job, std::size_t machine, std::uint32_t operations) {
  for (const Operation& o : operations_[job]) job_busy_[o.slot / 64U] |= std::uint64_t{1} << (o.slot % 64U);
  for (std::uint32_t i = 0; i < operations; ++i) {
    std::uint32_t slot = first_free_of_both(machine);
    if (slot == slots_) {
      slot = first_free_of_job();
      exchange_chain(machine, slot, first_free_[machine]);
    }
    put(job, machine, slot);
    job_busy_[slot / 64U] |= std::uint64_t{1} << (slot % 64U);
  }
  for (const Operation& o : operations_[job]) job_busy_[o.slot / 64U] = 0;
}

std::uint32_t OpenShopTable::first_free_of_job() const noexcept {
  std::uint32_t slot = 0;
  while ((job_busy_[slot / 64U] >> (slot % 64U) & 1U) != 0) ++slot;
  return slot;
}

std::uint32_t OpenShopTable::first_free_of_both(std::size_t machine) const noexcept {
  const std::uint64_t* busy = &busy_[machine * words_];
  for (std::size_t word = first_free_[machine] / 64U; word < words_; ++word) {
    const std::uint64_t free = ~(busy[word] | job_busy_[word]);
    if (free == 0) continue;
    const auto slot = static_cast<std::uint32_t>(word * 64U + static_cast<std::size_t>(std::countr_zero(free)));
    return slot < slots_ ? slot : slots_;
  }
  return slots_;
}

OpenShopTable::Operation* OpenShopTable::operation_at(Job job, std::uint32_t slot) noexcept {
  for (Operation& o : operations_[job]) {
    if (o.slot == slot) return &o;
  }
  return nullptr;
}

void OpenShopTable::put(Job job, std::size_t machine, std::uint32_t slot) {
  jobs_[machine * slots_ + slot] = job;
  operations_[job].push_back({slot, static_cast<std::uint32_t>(machine)});
  std::uint64_t* busy = &busy_[machine * words_];
  busy[slot / 64U] |= std::uint64_t{1} << (slot % 64U);
  std::uint32_t& first = first_free_[machine];
  while (first < slots_ && (busy[first / 64U] >> (first % 64U) & 1U) != 0) ++first;
}

/// Frees slot a of the machine, whose slot b is free: what is on it at a moves to b, what that job did at b moves to a, and so on. The
/// chain does not come back to the machine, nor to a job that is free at a: it reaches machines from b and jobs from a.
void OpenShopTable::exchange_chain(std::size_t machine, std::uint32_t a, std::uint32_t b) {
  struct Link {
    Job job;
    std::size_t machine;
    std::uint32_t to;
  };
  std::vector<Link> chain;
  std::size_t at = machine;
  while (true) {
    const Job job = job_at(at, a);
    if (job == none) break;
    chain.push_back({job, at, b});
    const Operation* other = operation_at(job, b);
    if (other == nullptr) break;
    at = other->machine;
    chain.push_back({job, at, a});
  }
  for (const Link& link : chain) {
    jobs_[link.machine * slots_ + a] = none;
    jobs_[link.machine * slots_ + b] = none;
  }
  for (const Link& link : chain) {
    jobs_[link.machine * slots_ + link.to] = link.job;
    for (Operation& o : operations_[link.job]) {
      if (o.machine == link.machine && (o.slot == a || o.slot == b)) {
        o.slot = link.to;
        break;
      }
    }
  }
  // Inside the chain every machine is busy in both slots before and after; its ends change.
  for (const std::size_t end : {machine, chain.back().machine}) {
    for (const std::uint32_t slot : {a, b}) {
      const std::uint64_t bit = std::uint64_t{1} << (slot % 64U);
      std::uint64_t& word = busy_[end * words_ + slot / 64U];
      word = job_at(end, slot) == none ? word & ~bit : word | bit;
    }
    std::uint32_t& first = first_free_[end];
    first = std::min({first, a, b});
    while (first < slots_ && job_at(end, first) != none) ++first;
  }
}

namespace open_shop {
namespace {

/// A direction of a dimension: +1 or -1 on a ring, the offset on a complete dimension, 0 on a line of 2 for both.
std::vector<Leg> machines_of(const Topology& topology) {
  std::vector<Leg> machines;
  for (const Dimension d : linked_dimensions(topology)) {
    switch (topology.wiring(d)) {
      case Wiring::ring:
        machines.push_back({d, +1});
        machines.push_back({d, -1});
        break;
      case Wiring::line: machines.push_back({d, 0}); break;
      case Wiring::complete:
        for (std::int32_t offset = 1; offset < topology.extent(d); ++offset) machines.push_back({d, offset});
        break;
    }
  }
  return machines;
}

/// Operations that a class needs on a machine.
std::uint32_t operations(const Topology& topology, const ClassHops& hops, NodeId delta, const Leg& machine) {
  const std::int32_t coordinate = topology.coordinate(delta, machine.dimension);
  switch (topology.wiring(machine.dimension)) {
    case Wiring::ring: return static_cast<std::uint32_t>(std::max(0, hops(delta, machine.dimension) * machine.hops));
    case Wiring::line: return coordinate == 0 ? 0 : 1;
    case Wiring::complete: return coordinate == machine.hops ? 1 : 0;
  }
  return 0;
}

/// The ring whose ties cannot be divided evenly by class.
std::optional<Dimension> odd_tie_dimension(const Topology& topology) {
  for (const Dimension d : linked_dimensions(topology)) {
    const std::int32_t n = topology.extent(d);
    if (topology.wiring(d) == Wiring::ring && n % 2 == 0 && topology.nodes() / static_cast<NodeId>(n) % 2 == 1) return d;
  }
  return std::nullopt;
}

/// Whether the class moves along this dimension alone.
bool moves_along_only(const Topology& topology, NodeId delta, Dimension d) {
  return delta == static_cast<NodeId>(topology.coordinate(delta, d)) * topology.stride(d);
}

/// Which class, or one of the two jobs after the classes, is on which machine when. Any order of the jobs would do; with the farthest
/// classes first the blocks are on their way for the shortest time, so that the few that are under way stay in the host's caches.
OpenShopTable filled_table(const Topology& topology, const std::vector<Leg>& machines, std::optional<Dimension> odd_ties, Step steps) {
  const NodeId classes = topology.nodes();
  std::vector<NodeId> farthest_first;
  for (NodeId delta = 1; delta < classes; ++delta) {
    if (!odd_ties || !moves_along_only(topology, delta, *odd_ties)) farthest_first.push_back(delta);
  }
  std::stable_sort(farthest_first.begin(), farthest_first.end(),
                   [&](NodeId a, NodeId b) { return topology.distance(0, a) > topology.distance(0, b); });

  OpenShopTable table(machines.size(), std::size_t{classes} + 2, steps);
  const ClassHops hops(topology, [](NodeId) { return 0; });
  for (const NodeId delta : farthest_first) {
    for (std::size_t m = 0; m < machines.size(); ++m) table.add(delta, m, operations(topology, hops, delta, machines[m]));
  }
  for (std::size_t m = 0; odd_ties && m < machines.size(); ++m) {
    if (machines[m].dimension != *odd_ties) continue;
    table.add(machines[m].hops > 0 ? classes : classes + 1, m, all_port_steps(Wiring::ring, topology.extent(*odd_ties)));
  }
  return table;
}

/// max(C4, diameter).
std::uint64_t open_shop_steps(const Topology& topology) {
  const ShapeFacts facts = shape_facts(topology);
  return std::max(facts.bound4, static_cast<std::uint64_t>(facts.diameter));
}

/// The table that all nodes share. Immutable.
class OpenShopSchedule {
 public:
  explicit OpenShopSchedule(const Topology& topology);

  Step steps() const noexcept { return steps_; }
  /// Sends what the node has to send in step t.
  void send(Node& self, Step t) const;
  Bytes table_bytes() const noexcept;

 private:
  /// What all nodes do with a class over one of their channels in one step.
  struct ClassHop {
    RelativeBlock block;
    std::int32_t direction;  ///< +1 or -1 on a ring, the offset on a complete dimension, 0 on a line of 2: to the other node
    std::int8_t dimension;
    bool on_line;  ///< no class, but step block.origin of the exchange along the dimension
  };

  std::span<const ClassHop> hops(Step t) const noexcept { return {hops_.data() + first_of_step_[t], hops_.data() + first_of_step_[t + 1]}; }

  void send_on_line(Node& self, const ClassHop& hop) const;

  Step steps_;
  Offsets offsets_;
  std::optional<AllPortLine> line_;  // of the dimension whose ties are divided by node
  std::vector<ClassHop> hops_;       // step by step
  std::vector<std::uint32_t> first_of_step_;
};

OpenShopSchedule::OpenShopSchedule(const Topology& topology) : steps_{static_cast<Step>(open_shop_steps(topology))}, offsets_{topology} {
  const std::vector<Leg> machines = machines_of(topology);
  const std::optional<Dimension> odd_ties = odd_tie_dimension(topology);
  if (odd_ties) line_.emplace(Wiring::ring, topology.extent(*odd_ties));

  const NodeId classes = topology.nodes();
  const OpenShopTable table = filled_table(topology, machines, odd_ties, steps_);
  std::vector<NodeId> at(classes, 0);    // how far each class has come
  std::vector<NodeId> line_steps(2, 0);  // of the two jobs that are no class
  first_of_step_.reserve(std::size_t{steps_} + 1);
  for (Step t = 0; t < steps_; ++t) {
    first_of_step_.push_back(static_cast<std::uint32_t>(hops_.size()));
    for (std::size_t m = 0; m < machines.size(); ++m) {
      const OpenShopTable::Job job = table.job_at(m, t);
      if (job == OpenShopTable::none) continue;
      const Leg machine = machines[m];
      ClassHop hop{{}, machine.hops, static_cast<std::int8_t>(machine.dimension), job >= classes};
      if (hop.on_line) {
        hop.block.origin = line_steps[job - classes]++;
      } else {
        hop.block = {offsets_.minus(0, at[job]), offsets_.minus(job, at[job])};
        const std::int32_t n = topology.extent(machine.dimension);
        const std::int32_t hops = machine.hops == 0 ? 1 : modulo(machine.hops, n);
        at[job] = offsets_.plus(at[job], static_cast<NodeId>(hops) * topology.stride(machine.dimension));
      }
      hops_.push_back(hop);
    }
  }
  first_of_step_.push_back(static_cast<std::uint32_t>(hops_.size()));
}

void OpenShopSchedule::send(Node& self, Step t) const {
  for (const ClassHop& hop : hops(t)) {
    if (hop.on_line) {
      send_on_line(self, hop);
      continue;
    }
    const BlockId passing = offsets_.block(self.rank(), hop.block);
    const std::int32_t direction = hop.direction != 0 ? hop.direction : self.coordinate(hop.dimension) == 0 ? +1 : -1;
    self.forward({{hop.dimension, direction}}, {&passing, 1});
  }
}

void OpenShopSchedule::send_on_line(Node& self, const ClassHop& hop) const {
  const std::int32_t own = self.coordinate(hop.dimension);
  const Crossing crossing = line_->crossing(own, hop.direction, hop.block.origin);
  if (!crossing) return;
  const NodeId stride = self.topology().stride(hop.dimension);
  const NodeId first = self.rank() - static_cast<NodeId>(own) * stride;
  const BlockId origin = first + static_cast<NodeId>(crossing.origin) * stride;
  const BlockId passing = origin * offsets_.nodes() + first + static_cast<NodeId>(crossing.destination) * stride;
  self.forward({{hop.dimension, hop.direction}}, {&passing, 1});
}

Bytes OpenShopSchedule::table_bytes() const noexcept {
  return offsets_.table_bytes() + hops_.size() * sizeof(ClassHop) + first_of_step_.size() * sizeof(std::uint32_t) +
         (line_ ? line_->table_bytes() : 0);
}

Program open_shop_program(Node& self, const OpenShopSchedule& schedule) {
  for (Step t = 0; t < schedule.steps(); ++t) {
    schedule.send(self, t);
    co_await self.step();
  }
}

std::optional<Refusal> also_requires(const Machine& machine, const Request&) {
  const Topology& topology = machine.topology;
  const auto long_line = [](const DimensionShape& d) { return d.wiring == Wiring::line && d.extent > 2; };
  if (std::any_of(topology.shape().begin(), topology.shape().end(), long_line)) {
    return Refusal{Refusal::About::shape, topology.text(), "open-shop needs rings, complete dimensions or lines of 2",
                   changed(topology, [&](DimensionShape& d) { d.wiring = long_line(d) ? Wiring::ring : d.wiring; }).text()};
  }
  return needs_tabled_steps("open-shop", topology, open_shop_steps);
}

Plan plan(const Machine& machine, const Request& request) {
  const auto schedule = std::make_shared<const OpenShopSchedule>(machine.topology);
  Plan plan;
  plan.start = [schedule](Node& self) { return open_shop_program(self, *schedule); };
  plan.steps = schedule->steps();
  plan.route_hops = plan.steps;
  plan.formula = "max(C4, diameter)";
  plan.channel_bytes = static_cast<double>(plan.steps) * static_cast<double>(request.bytes);
  plan.table_bytes = schedule->table_bytes();
  return plan;
}

constexpr std::array terms{Term{"C4", "steps that the cut through the middle of a dimension needs: bound (4)"}};

const Algorithm open_shop{
    .name = "open-shop",
    .collective = Collective::total_exchange,
    .source = "this project",
    .shapes = "any product of rings, lines of 2 and complete graphs",
    .steps = "max(C4, diameter), C4 bound (4)",
    .idea = {.first = "Blocks with the same displacement are one job, and the channels of each direction are the machines that the job "
                      "needs; a timetable gives every job its steps, as in an open shop.",
             .then = "All nodes follow that table at the same time, and each block takes its hops in the order of the table, whatever the "
                     "dimension.",
             .good = "The busiest channels have no gap in the table, so that the steps are as few as the cut through the middle, or the "
                     "longest way, allows."},
    .terms = terms,
    .native = {.switching = Switching::packet},
    .needs = {.ports = Requirements::all_ports},
    .also_requires = also_requires,
    .plan = plan,
};

}  // namespace

extern const Entries entries{open_shop};

}  // namespace open_shop

}  // namespace torus::total_exchange
