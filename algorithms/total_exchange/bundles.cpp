/// Total exchange by bundles without phases: in every step all that wants to go on goes on.
///
/// A block from i to z has a class, modulo the k dimensions that have links: the sum over these, e = 0, 1, .., of (k + 1 - e) x, with
/// x = i_e + z_e along a line and x = (z_e - i_e) mod n_e along a ring or complete dimension. A block of class c corrects its coordinates
/// in the order c, c+1, .., modulo k, each by the shortest way. Half way round an even ring the parity of i_e and of all other coordinates
/// of i and z says which way. All blocks at a node that take the same channel next are one message. A block begins a dimension when it has
/// ended the last one, so that none waits.
/// Machine  any mix of rings, lines and complete dimensions, no twist; packet (single hops), all ports, no channel shared.
/// Steps    the diameter, which is optimal.
/// Bytes    counted by walking all blocks, up to 4,096 nodes; from 1 to 1.8 times the fewest.
/// Header   none.   Memory  O(1) a node beside the ids of a step: the next hop is arithmetic.
/// Source   this project.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/common/canonical_form.hpp"
#include "algorithms/common/integers.hpp"
#include "algorithms/common/shapes.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/program_memory.hpp"

namespace torus::total_exchange::bundles {
namespace {

/// The channel that a block takes next.
class NextHop {
 public:
  explicit NextHop(const Machine& machine) : legs_(static_cast<std::size_t>(machine.topology.channel_slots())) {
    const Topology& topology = machine.topology;
    for (const Dimension d : canonical_dimensions(machine)) {
      linked_.push_back({d, topology.extent(d), topology.wiring(d)});
      if (topology.wiring(d) == Wiring::complete) {
        for (std::int32_t hops = 1; hops < topology.extent(d); ++hops) legs_[slot(topology, {d, hops})] = {d, hops};
      } else {
        for (const std::int32_t hops : {+1, -1}) legs_[slot(topology, {d, hops})] = {d, hops};
      }
    }
  }

  static std::size_t slot(const Topology& topology, Leg leg) noexcept {
    return static_cast<std::size_t>(topology.slot(leg.dimension, leg.hops));
  }
  /// By slot.
  const std::vector<Leg>& legs() const noexcept { return legs_; }

  /// None: the block has arrived.
  std::optional<Leg> operator()(const Topology& topology, NodeId at, NodeId origin, NodeId destination) const {
    const std::size_t k = linked_.size();
    std::size_t sum = 0;
    std::int32_t parity = 0;
    for (std::size_t e = 0; e < k; ++e) {
      const auto& [d, n, wiring] = linked_[e];
      const std::int32_t from = topology.coordinate(origin, d), to = topology.coordinate(destination, d);
      sum += (k + 1 - e) * static_cast<std::size_t>(wiring == Wiring::line ? from + to : modulo(to - from, n));
      parity += from + to;
    }
    for (std::size_t e = 0; e < k; ++e) {
      const auto& [d, n, wiring] = linked_[(sum + e) % k];
      const std::int32_t here = topology.coordinate(at, d), to = topology.coordinate(destination, d);
      if (here == to) continue;
      if (wiring == Wiring::complete) return Leg{d, modulo(to - here, n)};
      const std::int32_t hops = topology.offset(d, here, to);
      const bool turns = wiring == Wiring::ring && 2 * hops == n && (parity - to) % 2 != 0;
      return Leg{d, (hops > 0) != turns ? +1 : -1};
    }
    return std::nullopt;
  }

 private:
  struct Line {
    Dimension dimension;
    std::int32_t extent;
    Wiring wiring;
  };
  std::vector<Line> linked_;
  std::vector<Leg> legs_;
};

Program program(Node& self, const NextHop& next) {
  const Topology& topology = self.topology();
  const NodeId nodes = topology.nodes();
  std::vector<std::vector<BlockId>> waiting(next.legs().size());  // by slot
  const auto take = [&](BlockId block) {
    const auto origin = static_cast<NodeId>(block / nodes), destination = static_cast<NodeId>(block % nodes);
    if (const auto leg = next(topology, self.rank(), origin, destination)) waiting[NextHop::slot(topology, *leg)].push_back(block);
  };
  for (NodeId to = 0; to < nodes; ++to) take(BlockId{self.rank()} * nodes + to);
  for (std::int32_t step = 0; step < topology.diameter(); ++step) {
    for (std::size_t slot = 0; slot < waiting.size(); ++slot) {
      if (!waiting[slot].empty()) self.forward({next.legs()[slot]}, waiting[slot]);
      waiting[slot].clear();
    }
    for (const Message& message : co_await self.step()) {
      for (const BlockId block : message.blocks()) take(block);
    }
  }
}

/// What blocks of one size put on the channels.
struct Load {
  std::uint64_t blocks = 0;  ///< on the fullest channels, summed over the steps
  std::uint64_t node = 0;    ///< the most that leave a node in a step
};

/// Walks all blocks. O(N^2 diameter) time.
Load walked(const Machine& machine) {
  const Topology& topology = machine.topology;
  const NextHop next(machine);
  const std::size_t slots = next.legs().size();
  std::vector<std::vector<std::uint32_t>> carried(static_cast<std::size_t>(topology.diameter()),
                                                  std::vector<std::uint32_t>(topology.nodes() * slots));
  for (NodeId origin = 0; origin < topology.nodes(); ++origin) {
    for (NodeId destination = 0; destination < topology.nodes(); ++destination) {
      NodeId at = origin;
      for (std::size_t step = 0; const auto leg = next(topology, at, origin, destination); ++step) {
        ++carried[step][at * slots + NextHop::slot(topology, *leg)];
        at = topology.neighbour(at, leg->dimension, leg->hops).value();
      }
    }
  }
  Load load;
  for (const std::vector<std::uint32_t>& channels : carried) {
    load.blocks += *std::max_element(channels.begin(), channels.end());
    for (std::size_t first = 0; first < channels.size(); first += slots) {
      std::uint64_t leaving = 0;
      for (std::size_t slot = 0; slot < slots; ++slot) leaving += channels[first + slot];
      load.node = std::max(load.node, leaving);
    }
  }
  return load;
}

/// A limit: as if a channel carried, in each step, all blocks that ever cross it.
Load limit(const Topology& topology) {
  const std::uint64_t nodes = topology.nodes(), channel = nodes * static_cast<std::uint64_t>(largest_extent(topology));
  return {channel * static_cast<std::uint64_t>(topology.diameter()), 2 * nodes};
}

constexpr NodeId most_walked = 4096;

Plan plan(const Machine& machine, const Request& request, PlanCache& cache) {
  const Topology& topology = machine.topology;
  const auto next = std::make_shared<const NextHop>(machine);
  const bool exact = topology.nodes() <= most_walked;
  const Load load = exact ? *cache.of<walked>(machine) : limit(topology);
  Plan plan;
  plan.start = [next](Node& self) { return program(self, *next); };
  plan.steps = static_cast<std::uint64_t>(topology.diameter());
  plan.formula = "diameter";
  plan.route_hops = plan.steps;
  plan.bytes_exact = exact;
  plan.channel_bytes = times_bytes(load.blocks, request.bytes);
  const std::uint64_t slots = std::max<std::uint64_t>(1, next->legs().size());
  plan.node_bytes = bytes_of_lists(slots, load.node);
  plan.message_bytes = bytes_of_messages(slots, ceil_div(load.node, slots), 1);
  plan.table_bytes = slots * sizeof(Leg);
  return plan;
}

Bytes planning_bytes(const Machine& machine) {
  const Topology& topology = machine.topology;
  if (topology.nodes() > most_walked) return 0;
  return Bytes{topology.nodes()} * static_cast<Bytes>(topology.channel_slots()) * static_cast<Bytes>(topology.diameter()) *
         sizeof(std::uint32_t);
}

constexpr Algorithm bundles{
    .name = "bundles",
    .collective = Collective::total_exchange,
    .source = "this project",
    .shapes = "any without a twist",
    .steps = "the diameter",
    .idea = {.first = "Every block has an order of dimensions that follows from its origin and destination, so that in each dimension "
                      "about as many blocks begin as in any other.",
             .then = "In every step all blocks go on by one hop, and those at a node that take the same channel share a message.",
             .good = "There are no phases that wait for each other: the steps are the diameter on every mix of rings, lines and complete "
                     "dimensions, which no exchange hop by hop can beat."},
    .native = {.switching = Switching::packet},
    .needs = {.ports = Requirements::all_ports},
    .plan = plan,
    .planning_bytes = planning_bytes};

}  // namespace

extern const Entries entries{bundles};

}  // namespace torus::total_exchange::bundles
