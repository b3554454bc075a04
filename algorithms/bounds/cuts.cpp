/// Lower bounds from cuts: what must cross between a set of living nodes and the others, over what the channels between them carry.
///
/// Let S be a set of living nodes, not all and not none, of k of the n. Data that starts in S and is wanted outside leaves it in messages
/// that a node of S sends and a node outside receives, and each of them crosses a channel out of S. In a step with at most L bytes on a
/// channel, no more than L * c(S) bytes leave S so, with c(S) = min(channels out of S, ports * k, ports * (n - k)); as many enter, since a
/// link has a channel each way. So the sum over the steps of the most bytes on a channel is at least D(S) / c(S), with D(S) the bytes that
/// must leave S or those that must enter it, the larger. In seconds: bounds.cpp (LinkRates), with the rates of the channels of the cut.
/// What must cross, in messages, vectors or blocks of the request's bytes:
///  - Broadcast: 1. The source is on one side and a node that wants the message on the other. Reduce: 1. The combination of what is on the
///    side without the root must leave it, and its values may be any. All-reduce, scan: 1. The same, with any node of the other side; with
///    the first node's vector, which all others want.
///    The cut with the fewest channels gives the bound of Edmonds (Edge-disjoint branchings, 1973): the least max flow from the source.
///    (An all-reduce whose parts could cross twice is no better for it: one vector leaves S, one enters it, over channels of their own.
///    What a partition into more parts must carry is in reductions.cpp, for single nodes.)
///  - Multi-node broadcast: the sources in S leave it. Reduce-scatter: n - k blocks, one combination for each node outside.
///  - Scatter, gather: a block for each node on the side without the root.
///  - Total exchange: k (n - k).
/// Single-block steps of multi-node broadcast and total exchange, where no channel is shared: c(S) messages a step cross, each of one
/// block.
///
/// Which S are tried, where channels are dead or slow, or dimensions differ in speed:
///  - each node (of more than 2^20, those that a fault touches);
///  - on machines up to 2^20 nodes all intervals of layers of each dimension (of more than 256 layers, of 256 groups of them);
///  - where nodes times channels are at most 2^22 (where all nodes send to all, 2^18), the sets that max flows find (cut_search.hpp). They
///    are the best of all sets, except for ports fewer than channels and for total exchange.
/// Whole shapes whose dimensions differ in speed: also the halves of each dimension; above 2^16 nodes these, and node 0, which has no more
/// channels in any dimension than another node, alone. At one speed whole shapes need none of this: sets give no more than single nodes do.

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "algorithms/bounds/cut_search.hpp"
#include "algorithms/bounds/growth.hpp"
#include "algorithms/bounds/raise.hpp"
#include "runtime/base/figures.hpp"

namespace torus {
namespace {

constexpr std::uint64_t most_nodes_of_layers = std::uint64_t{1} << 20U, most_nodes_of_speeds = std::uint64_t{1} << 16U;
constexpr std::uint64_t most_flow_effort = std::uint64_t{1} << 22U, most_flow_effort_of_all = std::uint64_t{1} << 18U;

/// Better than a bound by more than rounding.
bool above(double value, double bound) { return value > bound * (1 + 1e-12); }

/// What a collective must bring over a cut of the living nodes.
class Crossing {
 public:
  explicit Crossing(const Machine& machine, const Request& request) : nodes_{machine.topology.living_nodes()} {
    const CollectiveFacts& facts = facts_of(request.collective);
    if (facts.of_pairs())
      kind_ = Kind::pairs;
    else if (facts.unit == CollectiveFacts::Unit::block_of_node)
      kind_ = facts.combines ? Kind::all : facts.rooted() ? Kind::from_root : Kind::sources;
    if (kind_ == Kind::from_root || kind_ == Kind::sources) marked_ = request.sources;
  }

  /// One node's data goes to all others, or all nodes' to one.
  bool from_or_to_one() const noexcept { return kind_ == Kind::once || kind_ == Kind::from_root; }

  /// Nodes whose number on a side matters: the sources, or the root.
  const std::vector<NodeId>& marked() const noexcept { return marked_; }

  /// How much must cross, in units of the request's bytes, between `nodes` nodes, `marked` of them marked, and the others.
  double units(std::uint64_t nodes, std::uint64_t marked) const noexcept {
    switch (kind_) {
      case Kind::once: return 1;
      case Kind::sources: return static_cast<double>(std::max<std::uint64_t>(marked, marked_.size() - marked));
      case Kind::all: return static_cast<double>(std::max(nodes, nodes_ - nodes));
      case Kind::from_root: return static_cast<double>(marked > 0 ? nodes_ - nodes : nodes);
      case Kind::pairs: return static_cast<double>(nodes) * static_cast<double>(nodes_ - nodes);
    }
    return 0;
  }
  /// The same where k of the nodes are on a side, whichever are marked: the least.
  double units_of_any(std::uint64_t nodes) const noexcept {
    if (kind_ == Kind::sources) return std::ceil(static_cast<double>(marked_.size()) / 2);
    return kind_ == Kind::from_root ? static_cast<double>(std::min(nodes, nodes_ - nodes)) : units(nodes, 0);
  }

  /// For find_flow_cuts().
  FlowSupply supply(const Topology& topology) const {
    FlowSupply supply{std::vector<std::int64_t>(topology.nodes(), 0), {}};
    const bool by_source = kind_ == Kind::sources;
    for (NodeId node = 0; node < topology.nodes(); ++node) {
      if (!topology.living(node)) continue;
      if (kind_ == Kind::from_root) {
        supply.of[node] = node == marked_.front() ? 0 : 1;
        if (node == marked_.front()) supply.sinks.push_back(node);
      } else {
        supply.of[node] = by_source ? 0 : kind_ == Kind::once ? (supply.sinks.empty() ? 1 : 0) : 1;
        supply.sinks.push_back(node);
      }
    }
    if (by_source) {
      for (const NodeId source : marked_) supply.of[source] = 1;
    }
    if (kind_ == Kind::once) supply.sinks.erase(supply.sinks.begin());
    return supply;
  }

  /// `the data`, `3 blocks`.
  std::string text(double units) const {
    if (kind_ == Kind::once) return "the data";
    const auto count = static_cast<std::uint64_t>(units);
    return counted(count, kind_ == Kind::sources ? "message" : "block");
  }

 private:
  enum class Kind : std::uint8_t { once, sources, all, from_root, pairs };
  Kind kind_ = Kind::once;
  std::uint64_t nodes_;
  std::vector<NodeId> marked_;
};

class CutBounds {
 public:
  CutBounds(const Machine& machine, const Request& request, Bounds& bounds)
      : machine_{machine}, topology_{machine.topology}, request_{request}, bounds_{bounds}, crossing_(machine, request) {
    double least_byte_s = machine.cost.byte_s;
    for (const Factor& f : factors(topology_)) least_byte_s = std::min(least_byte_s, machine.cost.byte_s_of(f.dimension));
    fastest_ = 1 / least_byte_s;
    in_seconds_ = !machine.cost.one_speed() && std::isfinite(fastest_);
  }

  void each_node() {
    if (topology_.nodes() > most_nodes_of_layers) return these_nodes(touched_nodes(topology_));
    std::vector<NodeId> all(topology_.nodes());
    std::iota(all.begin(), all.end(), NodeId{0});
    these_nodes(all);
  }

  /// Ascending.
  void these_nodes(const std::vector<NodeId>& nodes) {
    std::vector<double> rates;
    std::size_t mark = 0;
    const auto ports = static_cast<std::size_t>(machine_.ports);
    for (const NodeId node : nodes) {
      if (!topology_.living(node)) continue;
      rates.clear();
      topology_.each_link(node, [&](Dimension d, std::int32_t hop, NodeId) { rates.push_back(1 / machine_.byte_s(node, d, hop)); });
      if (rates.size() > ports) std::partial_sort(rates.begin(), rates.begin() + machine_.ports, rates.end(), std::greater<>());
      CutSet set{.nodes = 1, .marked = 0, .channels = std::min(rates.size(), ports), .rate = 0};
      for (std::size_t j = 0; j < set.channels; ++j) set.rate += rates[j];
      const std::vector<NodeId>& marked = crossing_.marked();
      while (mark < marked.size() && marked[mark] < node) ++mark;
      if (mark < marked.size() && marked[mark] == node) set.marked = 1;
      consider(set, [&] { return "node " + std::to_string(node); });
    }
  }

  void layers() {
    find_layer_cuts(machine_, crossing_.marked(), [&](const CutSet& set, const Layers& layers) {
      consider(set, [&] {
        const std::string first = std::to_string(layers.first), last = std::to_string(layers.last);
        return (first == last ? "layer " + first : "layers " + first + " to " + last) + " of dimension " + std::to_string(layers.dimension);
      });
    });
  }

  /// What max flows find: once for bytes, once for seconds. In seconds the capacities are rates, rounded; the bound takes the rates as they
  /// are.
  void flows() {
    const FlowSupply supply = crossing_.supply(topology_);
    const auto found = [&](const std::vector<bool>& inside) { consider_set(inside); };
    if (!topology_.whole())
      find_flow_cuts(
          topology_, supply, [](NodeId, Dimension, std::int32_t) { return 1; }, found);
    if (!in_seconds_) return;
    const auto rate = [&](NodeId node, Dimension d, std::int32_t hop) {
      return std::max<std::int64_t>(1, std::llround(0x1p16 / (machine_.byte_s(node, d, hop) * fastest_)));
    };
    find_flow_cuts(topology_, supply, rate, found);
  }

  /// The halves of each dimension of a whole shape without slow channels. Those of a long dimension of a twisted torus are left out: hops
  /// over the ends of short ones lead across, too.
  void halves() {
    for (const Factor& f : factors(topology_)) {
      if (topology_.twisted() && static_cast<std::int32_t>(f.n) == topology_.circle(f.dimension)) continue;
      const std::uint64_t lines = topology_.nodes() / f.n, nodes = lines * (f.n / 2);
      const double rate = static_cast<double>(f.middle_cut() * lines) / machine_.cost.byte_s_of(f.dimension);
      raise_seconds(crossing_.units_of_any(nodes), rate);
    }
  }

  bool in_seconds() const noexcept { return in_seconds_; }
  /// Flows from many nodes to each of many take tens of times as long as those from one, or to one.
  bool flows_are_worth_it() const noexcept {
    return topology_.nodes() * topology_.channels() <= (crossing_.from_or_to_one() ? most_flow_effort : most_flow_effort_of_all);
  }

 private:
  // What the channels of a set carry. The ports of its nodes, or of those on the other side, may carry less. Where they do, a single node
  // is a stronger bound, and it is tried: a side of k nodes with p ports each passes p k messages a step, and none of the collectives
  // brings over it more than k times what one of its nodes sends or receives.

  void raise_seconds(double units, double rate) {
    bounds_.channel_time_s = std::max(bounds_.channel_time_s.value_or(0), units * static_cast<double>(request_.bytes) / rate);
  }

  template <class Where>
  void consider(const CutSet& set, Where&& where) {
    const double units = crossing_.units(set.nodes, set.marked);
    const double bytes = units * static_cast<double>(request_.bytes) / static_cast<double>(set.channels);
    const auto why = [&] {
      return "cut of " + counted(set.nodes, "node") + ", " + where() + ": " + crossing_.text(units) + over(set.channels);
    };
    if (above(bytes, bounds_.channel_bytes)) {
      bounds_.channel_bytes = bytes;
      bounds_.bytes_reason = why();
    }
    if (in_seconds_) raise_seconds(units, set.rate);
    if (machine_.contention == Contention::share || !whole_blocks()) return;
    const auto steps = static_cast<std::uint64_t>(std::ceil(units / static_cast<double>(set.channels)));
    if (steps <= bounds_.single_block_steps) return;
    bounds_.single_block_steps = steps;
    bounds_.single_block_reason = why();
  }

  bool whole_blocks() const noexcept {
    return request_.collective == Collective::multinode_broadcast || request_.collective == Collective::total_exchange;
  }

  void consider_set(const std::vector<bool>& inside) {
    CutSet set;
    NodeId first = topology_.nodes();
    for (NodeId node = 0; node < topology_.nodes(); ++node) {
      if (!inside[node]) continue;
      first = std::min(first, node);
      ++set.nodes;
      topology_.each_link(node, [&](Dimension d, std::int32_t hop, NodeId to) {
        if (inside[to]) return;
        ++set.channels;
        set.rate += 1 / machine_.byte_s(node, d, hop);
      });
    }
    for (const NodeId node : crossing_.marked()) set.marked += inside[node] ? 1U : 0U;
    consider(set, [&] { return "node " + std::to_string(first) + " among them"; });
  }

  const Machine& machine_;
  const Topology& topology_;
  const Request& request_;
  Bounds& bounds_;
  Crossing crossing_;
  double fastest_ = 0;  // bytes a second over the fastest channel
  bool in_seconds_ = false;
};

}  // namespace

void bound_cuts(const Machine& machine, const Request& request, Bounds& bounds) {
  const Topology& topology = machine.topology;
  if (!facts_of(request.collective).carries_bytes()) return;
  CutBounds cuts(machine, request, bounds);
  if (topology.whole() && !topology.has_slow_links()) {
    if (!cuts.in_seconds()) return;
    cuts.halves();
    if (topology.nodes() > most_nodes_of_speeds) return cuts.these_nodes({0});
  }
  cuts.each_node();
  if (topology.nodes() <= most_nodes_of_layers) cuts.layers();
  if (cuts.flows_are_worth_it()) cuts.flows();
}

}  // namespace torus
