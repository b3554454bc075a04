/// Reduce-scatter, all-reduce and multi-node broadcast in the fewest steps, over shared channels: the same few offsets from every node in a
/// step.
///
/// Step s has up to 2k offsets O_s. A displacement, from a node to the owner of a block, is in Reach(s) if it is a sum of at most one
/// offset of each step from s on; Reach(0) is all. A node holds the blocks of displacements hold(s), hold(0) all. hold(s+1) is a small part
/// of Reach(s+1) that covers hold(s): each x of hold(s) is in it, or x - o is, for an o of O_s. In step s a node gives the blocks at x in
/// hold(s) but not in hold(s+1) to the node at o: there they are at x - o. Near offsets come first, where there is most to send. An
/// all-reduce then runs the steps backwards, replacing.
///
/// Each contributor counts once, since partials are only given away. Every block reaches its owner, since hold(T) = {0}.
/// Machine  torus, wormhole, all ports, shared channels.
/// Steps    ceil(log_{2k+1} N) for a half, at times 1 more: the bound.   Memory  N segments a node; a table of N displacements for all.
/// Source   this project; the perfect code of n = 5^p as in Peters & Syska (1996).

#include <algorithm>
#include <memory>
#include <utility>

#include <torus/algorithm.hpp>

#include "algorithms/entries.hpp"
#include "algorithms/reduction/reduce_scatter/reversible_reduce_scatter.hpp"
#include "algorithms/search/lattice_table.hpp"

namespace torus::reduction::lattice {
namespace {

class Lattice final : public ReversibleReduceScatter {
 public:
  Lattice(const Topology& topology, std::shared_ptr<const LatticeTable> table) : nodes_{topology.nodes()}, table_{std::move(table)} {}

  std::uint64_t steps() const override { return table_->steps(); }
  std::uint32_t pieces() const override { return 1; }

  void sends(const Node& self, std::uint64_t step, Sends& out) const override {
    for (std::size_t i = 0; i < table_->given(step).size(); ++i)
      append(self.topology(), self.rank(), table_->given(step)[i], out.add(route(self, table_->offset(step, i), +1)));
  }

  void mirrored_sends(const Node& self, std::uint64_t step, Sends& out) const override {
    for (std::size_t i = 0; i < table_->given(step).size(); ++i) {
      const NodeId giver = LatticeTable::shifted(self.topology(), self.rank(), table_->offset(step, i), -1);
      append(self.topology(), giver, table_->given(step)[i], out.add(route(self, table_->offset(step, i), -1)));
    }
  }

  Load load() const override { return {table_->channel(), table_->combined()}; }
  Bytes table_bytes() const override { return nodes_ * sizeof(NodeId); }

 private:
  /// By the offset or its opposite, in the order of the machine's routing.
  static Route route(const Node& self, const LatticeTable::Offset& offset, std::int32_t sign) {
    Route route;
    for (const Dimension d : self.machine().routing) {
      const std::int32_t hops = offset[static_cast<std::size_t>(d)];
      if (hops != 0) route.push_back({d, sign * hops});
    }
    return route;
  }

  static void append(const Topology& topology, NodeId from, const std::vector<NodeId>& displacements, Sends::Blocks& blocks) {
    const Coordinates at = topology.coordinates(from);
    blocks.reserve(displacements.size());
    for (const NodeId x : displacements) blocks.push_back(LatticeTable::shifted(topology, x, at));
  }

  std::uint64_t nodes_;
  std::shared_ptr<const LatticeTable> table_;
};

Plan plan(const Machine& machine, const Request& request, PlanCache& cache) {
  const auto table = cache.of<LatticeTable::find>(machine.topology);
  Plan plan =
      plan_reversible(machine, request, std::make_shared<const Lattice>(machine.topology, table), "ceil(log_{2k+1} N), at times 1 more");
  if (request.collective == Collective::reduce_scatter) return plan;
  std::uint64_t given = 0;  // of each message, also to those who have it
  for (std::uint64_t step = 0; step < table->steps(); ++step) {
    for (std::size_t i = 0; i < table->given(step).size(); ++i) given += table->given(step)[i].size();
  }
  const std::uint64_t messages = request.collective == Collective::allreduce ? machine.topology.nodes() : request.sources.size();
  plan.copies = messages * (given - std::min<std::uint64_t>(given, machine.topology.nodes() - 1));
  return plan;
}

/// The search holds one table beside the best, and the lists of a cover.
Bytes planning_bytes(const Machine& machine) {
  return Bytes{machine.topology.nodes()} * (64 + 16 * static_cast<Bytes>(machine.topology.dimensions()));
}

constexpr Algorithm lattice(Collective collective, std::string_view steps, const Idea& idea) {
  return {.name = "lattice",
          .collective = collective,
          .source = "this project; perfect codes as in Peters & Syska (1996)",
          .shapes = "torus",
          .steps = steps,
          .idea = idea,
          .native = {.switching = Switching::wormhole, .contention = Contention::share},
          .needs = {.shape = Requirements::Shape::torus,
                    .switching = Switching::wormhole,
                    .ports = Requirements::all_ports,
                    .shared_channels = true},
          .plan = plan,
          .planning_bytes = planning_bytes};
}

constexpr Algorithm lattice_reduce_scatter =
    lattice(Collective::reduce_scatter, "ceil(log_{2k+1} N), at times 1 more",
            {.first = "In a step all nodes send to the same few offsets, one for each port; a search has chosen these and which blocks "
                      "take which, and the first step uses near ones, since it has most to send.",
             .then = "Every node adds what it gets to its own, and in each step the blocks that it holds become several times fewer, until "
                     "it has its own alone.",
             .good = "All ports work in each step, so that the steps are as few as counting allows, and most bytes have a short way; the "
                     "channels are shared."});
constexpr Algorithm lattice_all_gather = lattice(Collective::multinode_broadcast, "ceil(log_{2k+1} N), at times 1 more",
                                                 {.first = "In a step all nodes send to the same few offsets, one for each port; the first "
                                                           "step uses the farthest, as a node has only its own block then.",
                                                  .then = "In each further step a node sends nearer and knows several times more blocks, "
                                                          "each of which it gets just once, as a search has dealt them out.",
                                                  .good = "All ports work in each step, so that the steps are as few as counting allows, "
                                                          "and most bytes have a short way; the channels are shared."});
constexpr Algorithm lattice_allreduce = lattice(
    Collective::allreduce, "2 ceil(log_{2k+1} N), at times 2 more",
    {.first = "A reduce-scatter: in each step all nodes send to the same few offsets, near ones first, and what a node still holds "
              "becomes several times less.",
     .then = "When each node has the result of its block, the same steps run backwards and gather the results, the far offsets first.",
     .good = "All ports work in each step, so that few steps do, and most bytes have a short way: good for vectors of middle length where "
             "channels may be shared."});

}  // namespace

extern const Entries entries{lattice_reduce_scatter, lattice_allreduce, lattice_all_gather};

}  // namespace torus::reduction::lattice
