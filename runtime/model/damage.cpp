// A topology with faults: what is dead, and whether the rest hangs together.
#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_set>

#include <torus/error.hpp>
#include <torus/topology.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/model/detour.hpp"

namespace torus {
namespace {

constexpr NodeId most_nodes = NodeId{1} << 26U;

std::string text_of(const Topology& topology, const Link& link) {
  const std::string node = link.node < topology.nodes() ? node_text(topology, link.node) : "node " + std::to_string(link.node);
  return node + " " + std::to_string(link.dimension) + ":" + (link.hop > 0 ? "+" : "") + std::to_string(link.hop);
}

/// Both channels of a link.
std::pair<std::uint64_t, std::uint64_t> channels_of(const Topology& topology, const Link& link) {
  const auto refuse = [&](const std::string& rule) { throw InputError("link " + text_of(topology, link) + ": " + rule); };
  if (link.node >= topology.nodes()) refuse("ranks of " + topology.text() + " go from 0 to " + std::to_string(topology.nodes() - 1));
  if (link.dimension < 0 || link.dimension >= topology.dimensions())
    refuse("dimensions of " + topology.text() + " go from 0 to " + std::to_string(topology.dimensions() - 1));
  const std::int32_t n = topology.extent(link.dimension);
  const bool complete = topology.wiring(link.dimension) == Wiring::complete;
  if (complete ? link.hop < 1 || link.hop >= n : link.hop != 1 && link.hop != -1)
    refuse(complete ? "in a complete dimension of " + std::to_string(n) + " nodes its offset is 1 to " + std::to_string(n - 1)
                    : "its direction is +1 or -1");
  const auto other = topology.neighbour(link.node, link.dimension, link.hop);
  if (n == 1 || !other) refuse("there is no such link; a line ends there");
  const auto slots = static_cast<std::uint64_t>(topology.channel_slots());
  return {link.node * slots + static_cast<std::uint64_t>(topology.slot(link.dimension, link.hop)),
          *other * slots + static_cast<std::uint64_t>(topology.slot(link.dimension, topology.reverse(link.dimension, link.hop)))};
}

/// Some of the nodes, of which the first are named.
struct Part {
  std::uint64_t nodes = 0;
  std::vector<NodeId> first;
  void add(NodeId node) {
    if (++nodes <= 3) first.push_back(node);
  }
};

/// "4 nodes (0,0), (0,1), (0,2), .."
std::string part_text(const Topology& topology, const Part& part) {
  std::string text = std::to_string(part.nodes) + (part.nodes == 1 ? " node" : " nodes");
  for (std::size_t i = 0; i < part.first.size(); ++i) text += (i == 0 ? " " : ", ") + node_text(topology, part.first[i]);
  return text + (part.nodes > 3 ? ", .." : "");
}

/// Whether the living nodes are connected, as far as that shows near the faults; false: not found out, or they are not. O(faults).
///
/// A shape without faults is connected. Take a way in it between two living nodes. Where it crosses a dead link between living nodes it may
/// go round, if those two are connected; where it passes through dead nodes it leaves and comes back by neighbours of a group of dead nodes
/// that hang together, and may go round, if all living neighbours of the group are connected.
bool connected_near_faults(const Topology& topology) {
  constexpr std::size_t most_nodes_nearby = 4096;  // of a search; in a torus of many dimensions too those two hops away are seen
  const Topology whole = topology.with_faults({});
  const auto connected = [&](NodeId a, NodeId b) {
    const auto each_neighbour = [&](NodeId node, auto&& f) {
      topology.each_link(node, [&](Dimension, std::int32_t, NodeId to) { f(to); });
    };
    return connected_nearby(a, b, most_nodes_nearby, each_neighbour).value_or(false);
  };
  for (const Link& link : topology.faults().dead_links) {
    const NodeId other = *topology.neighbour(link.node, link.dimension, link.hop);
    if (topology.living(link.node) && topology.living(other) && !connected(link.node, other)) return false;
  }
  std::unordered_set<NodeId> seen;  // dead ones
  for (const NodeId first : topology.faults().dead_nodes) {
    if (!seen.insert(first).second) continue;
    std::vector<NodeId> group{first};
    std::optional<NodeId> beside;
    for (std::size_t head = 0; head < group.size(); ++head) {
      bool around = true;
      whole.each_link(group[head], [&](Dimension, std::int32_t, NodeId to) {
        if (!topology.living(to)) {
          if (seen.insert(to).second) group.push_back(to);
        } else if (around) {
          around = connected(beside.value_or(to), to);
          beside = beside.value_or(to);
        }
      });
      if (!around) return false;
    }
  }
  return true;
}

void refuse_cut_apart(const Topology& topology) {
  if (connected_near_faults(topology)) return;
  const NodeId first = first_living(topology);
  std::vector<bool> reached(topology.nodes());
  reached[first] = true;
  for (std::vector<NodeId> front{first}, next; !front.empty(); front.swap(next)) {
    next.clear();
    for (const NodeId node : front) {
      topology.each_link(node, [&](Dimension, std::int32_t, NodeId to) {
        if (reached[to]) return;
        reached[to] = true;
        next.push_back(to);
      });
    }
  }
  Part part, rest;
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    if (topology.living(node)) (reached[node] ? part : rest).add(node);
  }
  if (rest.nodes == 0) return;
  throw InputError("dead links and nodes cut " + topology.text() + " apart: " + part_text(topology, part) + " cannot reach " +
                   part_text(topology, rest) + "; leave one of the links between them alive");
}

template <class T, class Less = std::less<>>
void sort_unique(std::vector<T>& values, Less less = {}) {
  std::sort(values.begin(), values.end(), less);
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

Topology Topology::with_faults(Faults faults) const {
  Topology topology(std::vector<DimensionShape>(shape_.begin(), shape_.end()), twisted_);
  if (faults.empty()) return topology;
  if (nodes_ > most_nodes)
    throw InputError("faults on " + text() + ": a machine with faults has at most " + std::to_string(most_nodes) + " nodes");
  detail::FaultTable table;
  const auto order = [](const Link& a, const Link& b) {
    return std::tie(a.node, a.dimension, a.hop) < std::tie(b.node, b.dimension, b.hop);
  };
  sort_unique(faults.dead_nodes);
  sort_unique(faults.dead_links, order);
  sort_unique(faults.slow_links, [&](const SlowLink& a, const SlowLink& b) { return order(a.link, b.link); });
  for (const NodeId node : faults.dead_nodes) {
    if (node >= nodes_) {
      throw InputError("dead node " + std::to_string(node) + ": ranks of " + text() + " go from 0 to " + std::to_string(nodes_ - 1));
    }
    each_link(node, [&](Dimension d, std::int32_t hop, NodeId) {
      const auto [out, in] = channels_of(topology, {node, d, hop});
      table.dead_channels.insert(table.dead_channels.end(), {out, in});
    });
  }
  if (faults.dead_nodes.size() == nodes_) throw InputError("all nodes of " + text() + " are dead; leave one alive");
  for (const Link& link : faults.dead_links) {
    const auto [out, in] = channels_of(topology, link);
    table.dead_channels.insert(table.dead_channels.end(), {out, in});
  }
  for (const SlowLink& slow : faults.slow_links) {
    if (!(slow.factor >= 1 && slow.factor <= 1e6)) {
      throw InputError("slow link " + text_of(topology, slow.link) + " with a factor of " + number_text(slow.factor) +
                       ": it must be 1 to 1000000; for instance 2");
    }
    const auto [out, in] = channels_of(topology, slow.link);
    table.factors.insert(table.factors.end(), {{out, slow.factor}, {in, slow.factor}});
  }
  sort_unique(table.dead_channels);
  std::sort(table.factors.begin(), table.factors.end());
  for (std::size_t i = 1; i < table.factors.size(); ++i) {
    if (table.factors[i].first == table.factors[i - 1].first) throw InputError("a slow link is named twice: name each link once");
  }
  table.faults = std::move(faults);
  topology.faults_ = std::make_shared<const detail::FaultTable>(std::move(table));
  refuse_cut_apart(topology);
  return topology;
}

const Faults& Topology::faults() const noexcept {
  static const Faults none;
  return faults_ == nullptr ? none : faults_->faults;
}

bool Topology::is_dead(NodeId node) const noexcept {
  return std::binary_search(faults_->faults.dead_nodes.begin(), faults_->faults.dead_nodes.end(), node);
}

bool Topology::is_dead(NodeId from, std::int32_t slot) const noexcept {
  const std::uint64_t channel = std::uint64_t{from} * static_cast<std::uint64_t>(slots_) + static_cast<std::uint64_t>(slot);
  return std::binary_search(faults_->dead_channels.begin(), faults_->dead_channels.end(), channel);
}

double Topology::factor(NodeId from, std::int32_t slot) const noexcept {
  const std::uint64_t channel = std::uint64_t{from} * static_cast<std::uint64_t>(slots_) + static_cast<std::uint64_t>(slot);
  const auto at = std::lower_bound(faults_->factors.begin(), faults_->factors.end(), channel,
                                   [](const auto& entry, std::uint64_t wanted) { return entry.first < wanted; });
  return at != faults_->factors.end() && at->first == channel ? at->second : 1;
}

bool operator==(const Topology& a, const Topology& b) noexcept {
  return a.shape_ == b.shape_ && a.twisted_ == b.twisted_ && a.faults() == b.faults();
}

}  // namespace torus
