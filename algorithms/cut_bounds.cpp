#include "algorithms/cut_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "algorithms/common/factor.hpp"
#include "algorithms/common/growth.hpp"
#include "algorithms/crossing.hpp"
#include "algorithms/flow_cuts.hpp"
#include "algorithms/layer_cuts.hpp"

namespace torus {
namespace {

constexpr std::uint64_t most_nodes_of_layers = std::uint64_t{1} << 20U;
constexpr std::uint64_t most_flow_effort = std::uint64_t{1} << 22U, most_flow_effort_of_all = std::uint64_t{1} << 18U;

/// Better than a bound by more than rounding.
bool above(double value, double bound) { return value > bound * (1 + 1e-12); }

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
    std::vector<double> rates;
    std::size_t mark = 0;
    const auto ports = static_cast<std::size_t>(machine_.ports);
    const bool all = topology_.nodes() <= most_nodes_of_layers;
    const std::vector<NodeId> touched = all ? std::vector<NodeId>{} : touched_nodes(topology_);
    const std::size_t count = all ? topology_.nodes() : touched.size();
    for (std::size_t i = 0; i < count; ++i) {
      const NodeId node = all ? static_cast<NodeId>(i) : touched[i];
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
    const Crossing::Supply supply = crossing_.supply(topology_);
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

  /// The halves of each dimension of a machine without dead or slow channels.
  void halves() {
    for (const Factor& f : factors(topology_)) {
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
      return "cut of " + std::to_string(set.nodes) + (set.nodes == 1 ? " node, " : " nodes, ") + where() + ": " + crossing_.text(units) +
             " over " + std::to_string(set.channels) + (set.channels == 1 ? " channel" : " channels");
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
  if (request.collective == Collective::barrier) return;
  CutBounds cuts(machine, request, bounds);
  if (topology.whole() && !topology.has_slow_links()) {
    if (cuts.in_seconds()) cuts.halves();
    return;
  }
  cuts.each_node();
  if (topology.nodes() <= most_nodes_of_layers) cuts.layers();
  if (cuts.flows_are_worth_it()) cuts.flows();
}

}  // namespace torus
