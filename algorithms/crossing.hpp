/// What a collective must bring over a cut of the living nodes: see cut_bounds.hpp for the proofs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <torus/algorithm.hpp>
#include <torus/machine.hpp>

namespace torus {

class Crossing {
 public:
  explicit Crossing(const Machine& machine, const Request& request) : nodes_{machine.topology.living_nodes()} {
    switch (request.collective) {
      case Collective::multinode_broadcast:
        kind_ = Kind::sources;
        marked_ = request.sources;
        break;
      case Collective::reduce_scatter: kind_ = Kind::all; break;
      case Collective::scatter:
      case Collective::gather:
        kind_ = Kind::from_root;
        marked_ = request.sources;
        break;
      case Collective::total_exchange: kind_ = Kind::pairs; break;
      default: kind_ = Kind::once; break;
    }
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

  /// For flow_cuts.hpp: what each node gives to a flow, and the nodes that it must reach.
  struct Supply {
    std::vector<std::int64_t> of;  ///< by node
    std::vector<NodeId> sinks;
  };
  Supply supply(const Topology& topology) const {
    Supply supply{std::vector<std::int64_t>(topology.nodes(), 0), {}};
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
    return std::to_string(count) + (kind_ == Kind::sources ? " message" : " block") + (count == 1 ? "" : "s");
  }

 private:
  enum class Kind : std::uint8_t { once, sources, all, from_root, pairs };
  Kind kind_;
  std::uint64_t nodes_;
  std::vector<NodeId> marked_;
};

}  // namespace torus
