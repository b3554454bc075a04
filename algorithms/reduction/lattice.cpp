#include "algorithms/reduction/lattice.hpp"

#include "algorithms/reduction/halves.hpp"
#include "algorithms/reduction/lattice_search.hpp"

namespace torus::reduction {
namespace {

class Lattice final : public Halves {
 public:
  explicit Lattice(const Topology& topology) : nodes_{topology.nodes()}, table_{find_lattice(topology)} {}

  std::uint64_t steps() const override { return table_.steps(); }
  std::uint32_t pieces() const override { return 1; }

  void gives(const Node& self, std::uint64_t step, Gifts& gifts) const override {
    for (std::size_t i = 0; i < table_.given(step).size(); ++i)
      gifts.add(route(self, table_.offset(step, i), +1)) = blocks_of(self.topology(), self.rank(), table_.given(step)[i]);
  }

  void returns(const Node& self, std::uint64_t step, Gifts& gifts) const override {
    for (std::size_t i = 0; i < table_.given(step).size(); ++i) {
      const NodeId giver = shifted(self.topology(), self.rank(), table_.offset(step, i), -1);
      gifts.add(route(self, table_.offset(step, i), -1)) = blocks_of(self.topology(), giver, table_.given(step)[i]);
    }
  }

  Load load() const override { return {table_.channel(), table_.combined()}; }
  Bytes table_bytes() const override { return nodes_ * sizeof(NodeId); }

 private:
  /// By the offset or its opposite, in the order of the machine's routing.
  static Route route(const Node& self, const Offset& offset, std::int32_t sign) {
    Route route;
    for (const Dimension d : self.machine().routing) {
      const std::int32_t hops = offset[static_cast<std::size_t>(d)];
      if (hops != 0) route.push_back({d, sign * hops});
    }
    return route;
  }

  static std::vector<BlockId> blocks_of(const Topology& topology, NodeId from, const std::vector<NodeId>& displacements) {
    const Coordinates at = topology.coordinates(from);
    std::vector<BlockId> blocks;
    for (const NodeId x : displacements) blocks.push_back(shifted(topology, x, at));
    return blocks;
  }

  std::uint64_t nodes_;
  LatticeTable table_;
};

Plan plan(const Machine& machine, const Request& request) {
  return plan_halves(machine, request, std::make_shared<const Lattice>(machine.topology), "ceil(log_{2k+1} N), at times 1 more");
}

/// The search holds one table beside the best, and the lists of a cover.
Bytes planning_bytes(const Machine& machine) {
  return Bytes{machine.topology.nodes()} * (64 + 16 * static_cast<Bytes>(machine.topology.dimensions()));
}

constexpr Algorithm lattice(Collective collective, std::string_view steps) {
  return {.name = "lattice",
          .collective = collective,
          .source = "this project; perfect codes as in Peters & Syska (1996)",
          .shapes = "torus",
          .steps = steps,
          .native = {.switching = Switching::wormhole, .contention = Contention::share},
          .needs = {.shape = Requirements::Shape::torus,
                    .switching = Switching::wormhole,
                    .ports = Requirements::all_ports,
                    .shared_channels = true},
          .plan = plan,
          .planning_bytes = planning_bytes};
}

}  // namespace

const Algorithm lattice_reduce_scatter = lattice(Collective::reduce_scatter, "ceil(log_{2k+1} N), at times 1 more");
const Algorithm lattice_all_gather = lattice(Collective::multinode_broadcast, "ceil(log_{2k+1} N), at times 1 more");
const Algorithm lattice_allreduce = lattice(Collective::allreduce, "2 ceil(log_{2k+1} N), at times 2 more");

}  // namespace torus::reduction
