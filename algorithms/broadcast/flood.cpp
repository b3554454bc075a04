/// Flooding: on first receipt a node forwards a segment on every channel but those that it received it from. The nodes farthest from the
/// root send nothing. The message is split into K segments that follow one another, one a step. The baseline; it wastes channels.
/// Machine  packet, all ports, any topology, with dead links and nodes too. A node knows which of its own links are dead. Nodes know
///          the eccentricity of the root, as they know the root in any broadcast call.   Memory  O(1) a node,
///          and the copies that arrive at nodes that have the message, about one a node at once.
/// Steps    e + K - 1, e the eccentricity of the root, each with a K-th of the m bytes. With K = 1 the minimum for store-and-forward.
/// Choice   `segments`, K. Without it the K of least model time, about sqrt((e-1) m T_c / (T_s + T_h)).
/// Header   none.
/// Source   folklore; the optimum of the constant model in steps.

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/common/integers.hpp"
#include "algorithms/common/parameters.hpp"
#include "algorithms/common/shapes.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/program_memory.hpp"

namespace torus::broadcast::flood {

namespace {

/// Sends a block over all channels but those that it arrived by (each is the reverse of a channel that leaves here).
void pass_on(Node& self, BlockId block, const Arrivals& came) {
  self.topology().each_link(self.rank(), [&](Dimension d, std::int32_t direction, NodeId) {
    const std::int32_t reverse = self.topology().reverse(d, direction);
    bool back = false;
    for (const Message& m : came) back |= m.dimension() == d && m.direction() == reverse && m.blocks()[0] == block;
    if (!back) self.send({{d, direction}}, {&block, 1});
  });
}

Program program(Node& self, Step eccentricity, std::uint32_t segments) {
  Arrivals came;
  BlockId block = 0;
  if (self.blocks().empty()) {
    came = co_await self.arrival();
    block = came.front().blocks()[0];
  } else {
    block = self.blocks().front();
  }
  if (self.now() >= eccentricity) co_return;
  for (std::uint32_t passed = 1;; ++passed, ++block) {  // the ids of a message's segments are consecutive
    pass_on(self, block, came);
    if (passed == segments) co_return;
    came = co_await self.step();
  }
}

/// By distance from the root: nodes, and channels that carry the message on, which are those to nodes as far away or farther.
struct Shells {
  std::vector<std::uint64_t> nodes{1}, sends{0};
};

/// Distances add over the dimensions, if nothing is dead and nothing twisted.
Shells shells_of_product(const Topology& topology, NodeId root) {
  Shells shells;
  for (const Dimension d : linked_dimensions(topology)) {
    const std::int32_t n = topology.extent(d), at = topology.coordinate(root, d);
    const auto distance = [&](std::int32_t place) {
      const std::int32_t apart = std::abs(place - at);
      return topology.wiring(d) == Wiring::line ? apart : topology.wiring(d) == Wiring::ring ? std::min(apart, n - apart) : apart > 0;
    };
    Shells line{std::vector<std::uint64_t>(static_cast<std::size_t>(n), 0), std::vector<std::uint64_t>(static_cast<std::size_t>(n), 0)};
    for (std::int32_t place = 0; place < n; ++place) {
      const auto away = static_cast<std::size_t>(distance(place));
      ++line.nodes[away];
      if (topology.wiring(d) == Wiring::complete) {
        line.sends[away] += static_cast<std::uint64_t>(n) - (away == 0 ? 1 : 2);
        continue;
      }
      for (const std::int32_t to : {place - 1, place + 1}) {
        if (topology.wiring(d) == Wiring::line && (to < 0 || to == n)) continue;
        if (distance(modulo(to, n)) >= distance(place)) ++line.sends[away];
      }
    }
    while (line.nodes.back() == 0) {
      line.nodes.pop_back();
      line.sends.pop_back();
    }
    Shells product{std::vector<std::uint64_t>(shells.nodes.size() + line.nodes.size() - 1, 0), {}};
    product.sends = product.nodes;
    for (std::size_t i = 0; i < shells.nodes.size(); ++i) {
      for (std::size_t j = 0; j < line.nodes.size(); ++j) {
        product.nodes[i + j] += shells.nodes[i] * line.nodes[j];
        product.sends[i + j] += shells.sends[i] * line.nodes[j] + shells.nodes[i] * line.sends[j];
      }
    }
    shells = std::move(product);
  }
  return shells;
}

Shells shells_by_search(const Topology& topology, NodeId root) {
  constexpr std::int32_t unknown = -1;
  Shells shells{{}, {}};
  std::vector<std::int32_t> distance(topology.nodes(), unknown);
  std::vector<NodeId> reached{root};
  distance[root] = 0;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const std::int32_t away = distance[reached[i]];
    shells.nodes.resize(static_cast<std::size_t>(away) + 1);
    shells.sends.resize(shells.nodes.size());
    ++shells.nodes.back();
    topology.each_link(reached[i], [&](Dimension, std::int32_t, NodeId to) {
      if (distance[to] == unknown) {
        distance[to] = away + 1;
        reached.push_back(to);
      }
      if (distance[to] >= away) ++shells.sends.back();
    });
  }
  return shells;
}

Shells shells_of(const Topology& topology, NodeId root) {
  return topology.whole() && !topology.twisted() ? shells_of_product(topology, root) : shells_by_search(topology, root);
}

/// Messages of a step, at most.
std::uint64_t messages_at_once(const Shells& shells, std::uint32_t segments) {
  return std::min<std::uint64_t>(segments, shells.sends.size()) * *std::max_element(shells.sends.begin(), shells.sends.end());
}

/// Copies that the nodes hold and have on their way at once, at most, beyond the one of each segment that each has in the end.
std::uint64_t copies(const Topology& topology, const Shells& shells, std::uint32_t segments) {
  // A segment that is sent by the nodes at a distance: the copies more, or fewer, than in the end.
  std::vector<std::int64_t> more;
  std::int64_t held = -std::int64_t{topology.living_nodes()};
  for (std::size_t t = 0; t + 1 < shells.nodes.size(); ++t) {
    held += static_cast<std::int64_t>(shells.nodes[t]);
    more.push_back(held + static_cast<std::int64_t>(shells.sends[t]));
  }
  // Segments are at consecutive distances. The most copies are there while none is still at the root alone.
  std::int64_t most = 0;
  std::vector<std::int64_t> before{0};
  for (const std::int64_t each : more) before.push_back(before.back() + each);
  for (std::size_t last = 0; last < more.size(); ++last)
    most = std::max(most, before[std::min<std::size_t>(last + segments, more.size())] - before[last]);
  return static_cast<std::uint64_t>(most);
}

Plan plan(const Machine& machine, const Request& request) {
  const NodeId root = request.sources.front();
  const auto eccentricity = static_cast<Step>(machine.topology.eccentricity(root));
  Plan plan = segmented_plan(
      machine, request, std::int64_t{eccentricity} - 1, 1,
      [&](std::uint32_t k) { return eccentricity == 0 ? 0 : std::uint64_t{eccentricity} + k - 1; },
      [&](std::uint32_t k) {
        // Every segment is the oldest on its way in one step, except the first, which is that for as many steps as it has hops.
        return eccentricity == 0 ? 0
                                 : times_bytes(1, request.bytes) + times_bytes(eccentricity - 1, bytes_of_segments(request.bytes, k, 0, 1));
      });
  plan.start = [eccentricity, k = plan.segments](Node& self) { return program(self, eccentricity, k); };
  plan.formula = "eccentricity of the root + K-1";
  plan.route_hops = plan.steps;
  const Shells shells = shells_of(machine.topology, root);
  plan.copies = copies(machine.topology, shells, plan.segments);
  plan.message_bytes = bytes_of_messages(1) * messages_at_once(shells, plan.segments) / machine.topology.nodes() + 1;
  return plan;
}

/// The search keeps a distance and a place in the queue for each node.
Bytes planning_bytes(const Machine& machine) {
  return machine.topology.whole() && !machine.topology.twisted() ? 0
                                                                 : machine.topology.nodes() * (sizeof(std::int32_t) + 2 * sizeof(NodeId));
}

constexpr std::array parameters{parameter::segments};
constexpr std::array former_names{FormerName{"flood-pipelined"}};

const Algorithm flood{
    .name = "flood",
    .collective = Collective::broadcast,
    .source = "folklore: in one segment the fewest steps of any store-and-forward broadcast",
    .shapes = "any",
    .steps = "eccentricity of the root + K-1, K segments",
    .idea = {.first = "The root sends the message over all its channels, and a node that hears it for the first time passes it on over all "
                      "channels but those by which it came.",
             .then = "A long message is cut into segments that follow one another, one a step, so that nodes near the root and far from it "
                     "work at the same time.",
             .good = "Each node hears the message by a shortest way, so that no broadcast hop by hop takes fewer steps; but most nodes get "
                     "it several times, which wastes channels."},
    .native = {.switching = Switching::packet},
    .needs = {.ports = Requirements::all_ports, .lives_with_holes = true, .takes_twists = true},
    .parameters = parameters,
    .plan = plan,
    .planning_bytes = planning_bytes,
    .former_names = former_names,
};

}  // namespace

extern const Entries entries{flood};

}  // namespace torus::broadcast::flood
