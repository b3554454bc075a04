/// Reduce-scatter, all-reduce and multi-node broadcast round k edge-disjoint Hamiltonian cycles at once, both ways: every channel is busy
/// in every step.
///
/// An owner's block is cut into k parts of two pieces. Part t goes round cycle t: stage e = floor(N/2) .. 1, the node at position x gives
/// the part of the owner at x + e to its next node and that of the owner at x - e to the one before; where both are the same owner, a piece
/// each way. An all-reduce then runs the steps backwards, replacing.
/// Machine  torus, sides wider than 1 at least 3; packet (single hops), all ports, no channel shared.
/// Steps    floor(N/2) for a half.   Bytes  m (N-1)/(2kN) for a half, which is optimal, on every such torus.
/// Memory   2kN segments a node; tables of the cycles, 3kN entries.
/// Source   the cycles exist: Foregger (1978), Aubert & Schneider (1982); the search is this project's.

#include <algorithm>

#include <torus/algorithm.hpp>

#include "algorithms/common/shapes.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/reduction/reduce_scatter/hamiltonian_cycles.hpp"
#include "algorithms/reduction/reduce_scatter/reversible_reduce_scatter.hpp"

namespace torus::reduction::hamiltonian {
namespace {

class Hamiltonian final : public ReversibleReduceScatter {
 public:
  Hamiltonian(const Topology& topology, std::shared_ptr<const std::vector<HamiltonianCycle>> cycles)
      : nodes_{topology.nodes()}, cycles_{std::move(cycles)} {}

  std::uint64_t steps() const override { return nodes_ / 2; }
  std::uint32_t pieces() const override { return static_cast<std::uint32_t>(std::max<std::size_t>(1, 2 * cycles_->size())); }

  void sends(const Node& self, std::uint64_t step, Sends& out) const override {
    const std::uint32_t distance = nodes_ / 2 - static_cast<std::uint32_t>(step);
    for (std::size_t part = 0; part < cycles_->size(); ++part) {
      const std::uint32_t x = (*cycles_)[part].position[self.rank()];
      append(part, x + distance, distance, 1, out.add(ahead(part, x)));
      append(part, x + nodes_ - distance, distance, 0, out.add(back(part, x)));
    }
  }

  void mirrored_sends(const Node& self, std::uint64_t step, Sends& out) const override {
    const std::uint32_t distance = nodes_ / 2 - static_cast<std::uint32_t>(step);
    for (std::size_t part = 0; part < cycles_->size(); ++part) {
      const std::uint32_t x = (*cycles_)[part].position[self.rank()];
      append(part, x + distance - 1, distance, 1, out.add(back(part, x)));
      append(part, x + nodes_ + 1 - distance, distance, 0, out.add(ahead(part, x)));
    }
  }

  Load load() const override {
    const std::uint64_t others = nodes_ - 1;
    return {cycles_->empty() ? 0 : others, others * 2 * cycles_->size()};
  }
  Bytes table_bytes() const override {
    return cycles_->size() * nodes_ * (sizeof(NodeId) + sizeof(std::uint32_t) + sizeof(Dimension) + sizeof(std::int8_t));
  }

 private:
  Route ahead(std::size_t part, std::uint32_t x) const { return {{(*cycles_)[part].dimension[x], (*cycles_)[part].direction[x]}}; }
  Route back(std::size_t part, std::uint32_t x) const {
    const std::uint32_t before = (x + nodes_ - 1) % nodes_;
    return {{(*cycles_)[part].dimension[before], -(*cycles_)[part].direction[before]}};
  }

  /// Appends both pieces of a part, or the one that goes this way to the antipode.
  void append(std::size_t part, std::uint32_t position, std::uint32_t distance, BlockId half, Sends::Blocks& blocks) const {
    const BlockId first = (*cycles_)[part].order[position % nodes_] * pieces() + 2 * static_cast<BlockId>(part);
    const bool antipode = 2 * distance == nodes_;
    if (!antipode || half == 0) blocks.push_back(first);
    if (!antipode || half == 1) blocks.push_back(first + 1);
  }

  std::uint32_t nodes_;
  std::shared_ptr<const std::vector<HamiltonianCycle>> cycles_;
};

Plan plan(const Machine& machine, const Request& request, PlanCache& cache) {
  const auto cycles = cache.of<hamiltonian_cycles>(machine.topology);
  return plan_reversible(machine, request, std::make_shared<const Hamiltonian>(machine.topology, cycles), "floor(N/2)", 1);
}

std::optional<Refusal> sides_of_two(const Machine& machine, const Request&) {
  const Topology& topology = machine.topology;
  const auto shape = topology.shape();
  if (std::none_of(shape.begin(), shape.end(), [](const DimensionShape& d) { return d.extent == 2; })) return std::nullopt;
  return Refusal{Refusal::About::shape, topology.text(), "hamiltonian needs sides of 3 or more, or of 1",
                 changed(topology, [](DimensionShape& d) { d.extent = d.extent == 2 ? 3 : d.extent; }).text()};
}

/// All steps.
Offer offer(const Machine& machine, const Request& request) {
  const std::uint64_t half = machine.topology.nodes() / 2;
  return {.steps = request.collective == Collective::allreduce ? 2 * half : half};
}

Bytes planning_bytes(const Machine& machine) { return Bytes{machine.topology.nodes()} * linked_dimensions(machine.topology).size() * 16; }

constexpr Algorithm hamiltonian(Collective collective, std::string_view steps, const Idea& idea) {
  return {.name = "hamiltonian",
          .collective = collective,
          .source = "cycles: Foregger (1978), Aubert & Schneider (1982); search by this project",
          .shapes = "torus, sides wider than 1 at least 3",
          .steps = steps,
          .idea = idea,
          .native = {.switching = Switching::packet},
          .needs = {.shape = Requirements::Shape::torus, .ports = Requirements::all_ports},
          .also_requires = sides_of_two,
          .plan = plan,
          .offer = offer,
          .planning_bytes = planning_bytes};
}

constexpr Algorithm hamiltonian_reduce_scatter = hamiltonian(
    Collective::reduce_scatter, "floor(N/2)",
    {.first = "A search finds closed ways through all nodes, one for each dimension, that share no link, and each block is cut into one "
              "part for each of them.",
     .then = "Every part comes to its owner along its way from both sides, from the node half way round on, and each node adds its own.",
     .good = "Every channel is busy in every step and no byte could be saved, whatever the sides; but there are half as many steps as "
             "nodes, so that only very long blocks gain."});
constexpr Algorithm hamiltonian_allreduce =
    hamiltonian(Collective::allreduce, "2 floor(N/2)",
                {.first = "A search finds closed ways through all nodes, one for each dimension, that share no link; parts of the vector "
                          "are added up along all of them, both ways round, until each is complete at its owner.",
                 .then = "All steps run backwards, and the results go out from their owners along the same ways.",
                 .good = "Every channel is busy in every step and no byte could be saved, whatever the sides; but there are as many steps "
                         "as nodes, so that only very long vectors gain."});
constexpr Algorithm hamiltonian_all_gather = hamiltonian(
    Collective::multinode_broadcast, "floor(N/2)",
    {.first = "A search finds closed ways through all nodes, one for each dimension, that share no link, and each block is cut into one "
              "part for each of them.",
     .then = "Every part leaves its node along its way in both directions, a node a step, until the two ends meet half way round.",
     .good = "Every channel is busy in every step and each byte comes to each node once, whatever the sides; but there are half as many "
             "steps as nodes, so that only very long blocks gain."});

}  // namespace

extern const Entries entries{hamiltonian_reduce_scatter, hamiltonian_allreduce, hamiltonian_all_gather};

}  // namespace torus::reduction::hamiltonian
