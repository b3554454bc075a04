/// Total exchange by bundles without phases: in every step all that wants to go on goes on.
///
/// A block from i to z has a class, modulo the k dimensions that have links: the sum over these, e = 0, 1, .., of (k + 1 - e) x, with
/// x = i_e + z_e along a line and x = (z_e - i_e) mod n_e along a ring or complete dimension. A block of class c corrects its coordinates
/// in the order c, c+1, .., modulo k, each by the shortest way. Half way round an even ring the parity of i_e and of all other coordinates
/// of i and z says which way. All blocks at a node that take the same channel next are one message. A block begins a dimension when it has
/// ended the last one, so that none waits.
/// Machine  any mix of rings, lines and complete dimensions, no twist; packet (single hops), all ports, no channel shared.
/// Steps    the diameter, which is optimal.
/// Bytes    counted by walking all blocks, where these have 2^28 hops at most (mesh:32x32: 2^26); from 1 to 1.8 times the fewest.
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

/// Which way each block goes on.
class Courses {
 public:
  explicit Courses(const Machine& machine) : legs_(static_cast<std::size_t>(machine.topology.channel_slots())) {
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

  /// What follows from the ends of a block's way.
  struct Class {
    std::size_t first;  ///< the dimension that it corrects first, among those with links
    bool odd;           ///< the parity of all coordinates of both ends
  };
  Class class_of(const Topology& topology, NodeId origin, NodeId destination) const {
    const std::size_t k = linked_.size();
    std::size_t sum = 0;
    std::int32_t parity = 0;
    for (std::size_t e = 0; e < k; ++e) {
      const auto& [d, n, wiring] = linked_[e];
      const std::int32_t from = topology.coordinate(origin, d), to = topology.coordinate(destination, d);
      sum += (k + 1 - e) * static_cast<std::size_t>(wiring == Wiring::line ? from + to : modulo(to - from, n));
      parity += from + to;
    }
    return {k > 0 ? sum % k : 0, parity % 2 != 0};
  }
  /// All hops that a block still has in the dimension in which it goes on; none: it has arrived.
  std::optional<Leg> rest(const Topology& topology, NodeId at, NodeId destination, Class of) const {
    for (std::size_t e = 0; e < linked_.size(); ++e) {
      const auto& [d, n, wiring] = linked_[(of.first + e) % linked_.size()];
      const std::int32_t here = topology.coordinate(at, d), to = topology.coordinate(destination, d);
      if (here == to) continue;
      if (wiring == Wiring::complete) return Leg{d, modulo(to - here, n)};
      const std::int32_t hops = topology.offset(d, here, to);
      const bool turns = wiring == Wiring::ring && 2 * hops == n && of.odd != (to % 2 != 0);
      return Leg{d, turns ? -hops : hops};
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

Program program(Node& self, const Courses& courses) {
  const Topology& topology = self.topology();
  const NodeId nodes = topology.nodes();
  std::vector<std::vector<BlockId>> waiting(courses.legs().size());  // by slot
  const auto take = [&](BlockId block) {
    const auto origin = static_cast<NodeId>(block / nodes), destination = static_cast<NodeId>(block % nodes);
    if (const auto rest = courses.rest(topology, self.rank(), destination, courses.class_of(topology, origin, destination)))
      waiting[Courses::slot(topology, *rest)].push_back(block);
  };
  for (NodeId to = 0; to < nodes; ++to) take(BlockId{self.rank()} * nodes + to);
  for (std::int32_t step = 0; step < topology.diameter(); ++step) {
    for (std::size_t slot = 0; slot < waiting.size(); ++slot) {
      if (!waiting[slot].empty()) self.forward({courses.legs()[slot]}, waiting[slot]);
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
  const Courses courses(machine);
  const std::size_t slots = courses.legs().size();
  std::vector<std::vector<std::uint32_t>> carried(static_cast<std::size_t>(topology.diameter()),
                                                  std::vector<std::uint32_t>(topology.nodes() * slots));
  for (NodeId origin = 0; origin < topology.nodes(); ++origin) {
    for (NodeId destination = 0; destination < topology.nodes(); ++destination) {
      const Courses::Class of = courses.class_of(topology, origin, destination);
      NodeId at = origin;
      std::size_t step = 0;
      while (const auto rest = courses.rest(topology, at, destination, of)) {
        const std::size_t slot = Courses::slot(topology, *rest);
        const auto [d, hop] = courses.legs()[slot];
        for (std::int32_t hops = 0; hops != rest->hops; hops += hop) {
          ++carried[step++][at * slots + slot];
          at = topology.neighbour(at, d, hop).value();
        }
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

/// Whether planning walks all blocks, which takes three seconds at most.
bool walks(const Topology& topology) {
  constexpr std::uint64_t most_hops = std::uint64_t{1} << 28U;
  return std::uint64_t{topology.nodes()} * topology.nodes() <= most_hops / static_cast<std::uint64_t>(std::max(1, topology.diameter()));
}

Plan plan(const Machine& machine, const Request& request, PlanCache& cache) {
  const Topology& topology = machine.topology;
  const auto courses = std::make_shared<const Courses>(machine);
  const bool exact = walks(topology);
  const Load load = exact ? *cache.of<walked>(machine) : limit(topology);
  Plan plan;
  plan.start = [courses](Node& self) { return program(self, *courses); };
  plan.steps = static_cast<std::uint64_t>(topology.diameter());
  plan.formula = "diameter";
  plan.route_hops = plan.steps;
  plan.bytes_exact = exact;
  plan.channel_bytes = times_bytes(load.blocks, request.bytes);
  const std::uint64_t slots = std::max<std::uint64_t>(1, courses->legs().size());
  plan.node_bytes = bytes_of_lists(slots, load.node);
  plan.message_bytes = bytes_of_messages(slots, ceil_div(load.node, slots), 1);
  plan.table_bytes = slots * sizeof(Leg);
  return plan;
}

Bytes planning_bytes(const Machine& machine) {
  const Topology& topology = machine.topology;
  if (!walks(topology)) return 0;
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
