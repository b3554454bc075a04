/// Messages between the ranks of a file become those of a machine's nodes.
#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <numeric>
#include <unordered_set>
#include <utility>

#include <torus/error.hpp>

#include "algorithms/foreign/content.hpp"
#include "runtime/base/figures.hpp"

namespace torus::foreign {
namespace {

/// A block's number with nodes instead of ranks: whose it is stands in front.
class Renumbering {
 public:
  Renumbering(const Content& content, std::span<const NodeId> node_of_rank, std::uint32_t registers)
      : facts_{facts_of(content.collective)}, nodes_{content.ranks}, segments_{content.segments}, node_of_{node_of_rank} {
    const std::uint64_t ranks = nodes_;
    if (facts_.of_pairs())
      blocks_ = ranks * ranks;
    else if (facts_.carries_bytes())
      blocks_ = (of_vector() ? 1 : ranks) * segments_ * (facts_.combines ? registers : 1);
  }

  bool exists(BlockId id) const noexcept { return id < blocks_; }
  BlockId operator()(BlockId id) const noexcept {
    if (facts_.of_pairs()) return node_of_[id / nodes_] * nodes_ + node_of_[id % nodes_];
    if (of_vector()) return id;
    const auto segment = static_cast<BlockId>(id % (std::uint64_t{nodes_} * segments_));  // the rest says the register
    return id - segment + node_of_[segment / segments_] * segments_ + segment % segments_;
  }

 private:
  /// Whether the blocks are those of one vector, which all nodes share.
  bool of_vector() const noexcept { return facts_.combines && facts_.unit == CollectiveFacts::Unit::vector; }

  const CollectiveFacts& facts_;
  NodeId nodes_;
  std::uint32_t segments_;
  std::span<const NodeId> node_of_;
  std::uint64_t blocks_ = 0;
};

/// Which copies a node must not keep: it gives them away with their last use.
class LastUses {
 public:
  explicit LastUses(const Content& content, std::span<const NodeId> node_of_rank)
      : facts_{facts_of(content.collective)},
        ranks_{content.ranks},
        root_{content.sources.empty() ? 0 : node_of_rank[content.sources.front()]} {}

  bool any() const noexcept { return !facts_.combines && facts_.wanted != CollectiveFacts::Wanted::everywhere; }
  /// Called in descending order of the sends. True if no later one needs the sender's copy, which it is not to keep.
  bool is_last(NodeId node, BlockId id) {
    const NodeId owner = facts_.of_pairs() ? id % ranks_ : id;
    return seen_.insert(std::uint64_t{node} << 32U | id).second && !facts_.wants(node, owner, root_);
  }

 private:
  const CollectiveFacts& facts_;
  NodeId ranks_, root_;
  std::unordered_set<std::uint64_t> seen_;
};

struct Hop {
  Step step;
  NodeId from, to;
  std::size_t send;
  Leg leg;  // where it is one hop of a longer route
  bool whole;
};

Manner manner_of(const RankSends::RankMessage& send, bool reduction, bool given) {
  if (!reduction) return given ? Manner::give : Manner::copy;
  if (send.registers != 0) return send.releases ? Manner::combine : Manner::share;
  return send.releases ? Manner::give : Manner::copy;
}

}  // namespace

ForeignSchedule::Placed placed(const Content& content, const Content::Place& place) {
  const Topology& topology = place.machine.topology;
  const NodeId nodes = topology.nodes();
  if (content.ranks != nodes)
    throw InputError(fmt::format("schedule '{}': it is for {}, and {} has {}; choose a shape of {}", content.file,
                                 counted(content.ranks, "rank"), topology.text(), counted(nodes, "node"), counted(content.ranks, "node")));
  const RankSends ranks = content.sends(place);
  const bool reduction = facts_of(content.collective).combines;
  const Renumbering renumbered(content, place.node_of_rank, ranks.registers);

  std::vector<Hop> hops;
  for (std::size_t i = 0; i < ranks.sends.size(); ++i) {
    const RankSends::RankMessage& s = ranks.sends[i];
    const NodeId from = place.node_of_rank[s.from], to = place.node_of_rank[s.to];
    if (s.legs > 0 || place.steps(s.from, s.to) == 1) {
      hops.push_back({s.step, from, to, i, {}, true});
      continue;
    }
    if (reduction)
      throw InputError(
          fmt::format("schedule '{}': under packet switching the message from rank {} to {} takes {} hops, and the nodes between "
                      "have partials of their own; --switching wormhole would do",
                      content.file, s.from, s.to, topology.distance(from, to)));
    NodeId at = from;
    Step step = s.step;
    for (const auto [d, count] : shortest_route(topology, from, to, place.machine.routing)) {
      const bool complete = topology.wiring(d) == Wiring::complete;
      const std::int32_t sign = complete ? count : count > 0 ? 1 : -1;
      for (std::int32_t done = 0; done != count; done += sign) {
        const NodeId next = *topology.neighbour(at, d, sign);
        hops.push_back({step++, at, next, i, {d, sign}, false});
        at = next;
      }
    }
  }
  // A node gives a partial away when its step ends: its other sends of that go before.
  const auto order = [&](const Hop& hop) { return std::pair(hop.step, ranks.sends[hop.send].releases); };
  std::stable_sort(hops.begin(), hops.end(), [&](const Hop& a, const Hop& b) { return order(a) < order(b); });

  std::vector<BlockId> blocks(ranks.blocks.size());
  std::transform(ranks.blocks.begin(), ranks.blocks.end(), blocks.begin(), [&](BlockId id) {
    if (!renumbered.exists(id)) throw InputError(fmt::format("schedule '{}': it sends block {}, which does not exist", content.file, id));
    return renumbered(id);
  });
  const auto blocks_of = [&](const Hop& hop) {
    const RankSends::RankMessage& s = ranks.sends[hop.send];
    return std::span(blocks).subspan(s.first_block, s.blocks);
  };
  LastUses last_uses(content, place.node_of_rank);
  std::vector<std::vector<bool>> given(last_uses.any() ? hops.size() : 0);
  for (std::size_t i = given.size(); i-- > 0;) {
    for (const BlockId id : blocks_of(hops[i])) given[i].push_back(last_uses.is_last(hops[i].from, id));
  }

  ForeignSchedule::Placed out{Schedule(nodes), ranks.registers};
  std::vector<BlockId> kept, gone;
  for (std::size_t i = 0; i < hops.size(); ++i) {
    const Hop& hop = hops[i];
    const RankSends::RankMessage& s = ranks.sends[hop.send];
    const Route shortest = hop.whole && s.legs == 0 ? shortest_route(topology, hop.from, hop.to, place.machine.routing) : Route();
    const RouteView route = !hop.whole    ? RouteView(&hop.leg, 1)
                            : s.legs == 0 ? RouteView(shortest)
                                          : RouteView(ranks.legs).subspan(s.first_leg, s.legs);
    const std::uint8_t registers = s.registers == 0 ? std::uint8_t{1} : s.registers;
    const auto add = [&](std::span<const BlockId> some, bool give) {
      out.schedule.add(hop.step, hop.from, hop.to, route, some, manner_of(s, reduction, give), registers);
    };
    if (!last_uses.any() || blocks_of(hop).empty()) {
      add(blocks_of(hop), false);
      continue;
    }
    kept.clear();
    gone.clear();
    for (std::size_t b = 0; b < given[i].size(); ++b) (given[i][b] ? gone : kept).push_back(blocks_of(hop)[b]);
    if (!kept.empty()) add(kept, false);
    if (!gone.empty()) add(gone, true);
  }
  out.schedule.sort();
  return out;
}

}  // namespace torus::foreign

namespace torus {

Step ForeignSchedule::Content::Place::steps(NodeId from, NodeId to) const {
  if (machine.switching != Switching::packet) return 1;
  return static_cast<Step>(std::max(1, machine.topology.distance(node_of_rank[from], node_of_rank[to])));
}

std::vector<NodeId> row_major(const Topology& topology) {
  std::vector<NodeId> nodes(topology.nodes());
  std::iota(nodes.begin(), nodes.end(), 0);
  return nodes;
}

}  // namespace torus
