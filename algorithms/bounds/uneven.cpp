/// Lower bounds where blocks have sizes of their own: what single nodes send and receive, bytes times hops, and where each block goes to
/// one node, what crosses the intervals of layers of each dimension (cuts.cpp has the proof). They assume the true sizes; a block of no
/// bytes need not move. Of a total exchange O(nodes^2): none above most_nodes nodes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <torus/bounds.hpp>

#include "algorithms/bounds/cut_search.hpp"
#include "algorithms/bounds/growth.hpp"
#include "algorithms/bounds/raise.hpp"
#include "algorithms/common/integers.hpp"
#include "algorithms/common/living_channels.hpp"
#include "runtime/base/figures.hpp"

namespace torus {
namespace {

constexpr NodeId most_nodes = 4096;

/// Distances from a node to living ones.
class Distances {
 public:
  Distances(const Topology& topology, NodeId from) : topology_{topology}, from_{from} {
    if (!topology.whole()) hops_ = living_hops(topology, from);
  }
  std::int32_t operator()(NodeId to) const { return hops_.empty() ? topology_.distance(from_, to) : hops_[to]; }

 private:
  const Topology& topology_;
  NodeId from_;
  std::vector<std::int32_t> hops_;  // around holes; else empty
};

/// What a node sends or receives at least: bytes, blocks, and the nodes that these are for or from.
struct Load {
  double bytes = 0;
  std::uint64_t blocks = 0;
};

/// Bytes from each layer of a dimension to each.
class LayerBytes {
 public:
  explicit LayerBytes(std::int32_t layers) : layers_{static_cast<std::size_t>(layers)}, sums_((layers_ + 1) * (layers_ + 1)) {}
  void move(std::int32_t from, std::int32_t to, Bytes bytes) noexcept {
    sums_[at(static_cast<std::size_t>(from) + 1, static_cast<std::size_t>(to) + 1)] += static_cast<double>(bytes);
  }
  /// After all moves: to the sums over all layers below.
  void sum_up() noexcept {
    for (std::size_t from = 1; from <= layers_; ++from) {
      for (std::size_t to = 1; to <= layers_; ++to)
        sums_[at(from, to)] += sums_[at(from - 1, to)] + sums_[at(from, to - 1)] - sums_[at(from - 1, to - 1)];
    }
  }
  /// What must leave the layers first .. last, or enter them, whichever is more.
  double crossing(std::int32_t first, std::int32_t last) const noexcept {
    const auto low = static_cast<std::size_t>(first), high = static_cast<std::size_t>(last) + 1;
    const auto sum = [&](std::size_t from, std::size_t from_end, std::size_t to, std::size_t to_end) {
      return sums_[at(from_end, to_end)] - sums_[at(from, to_end)] - sums_[at(from_end, to)] + sums_[at(from, to)];
    };
    const double within = sum(low, high, low, high);
    return std::max(sum(low, high, 0, layers_), sum(0, layers_, low, high)) - within;
  }

 private:
  std::size_t at(std::size_t from, std::size_t to) const noexcept { return from * (layers_ + 1) + to; }

  std::size_t layers_;
  std::vector<double> sums_;
};

struct Loads {
  explicit Loads(const Topology& topology) : out(topology.nodes()), in(topology.nodes()), topology_{&topology} {
    for (Dimension d = 0; d < topology.dimensions(); ++d) layers.emplace_back(topology.extent(d) <= most_layers ? topology.extent(d) : 0);
  }

  /// A block that must get from one node to another, `hops` away.
  void move(NodeId from, NodeId to, std::int32_t hops, Bytes bytes) {
    if (from == to || bytes == 0) return;
    send(from, bytes);
    receive(to, bytes);
    farthest = std::max(farthest, hops);
    byte_hops += static_cast<double>(bytes) * hops;
    for (Dimension d = 0; d < topology_->dimensions(); ++d) {
      if (topology_->extent(d) <= most_layers)
        layers[static_cast<std::size_t>(d)].move(topology_->coordinate(from, d), topology_->coordinate(to, d), bytes);
    }
  }
  void send(NodeId node, Bytes bytes) { add(out[node], bytes); }
  void receive(NodeId node, Bytes bytes) { add(in[node], bytes); }

  static constexpr std::int32_t most_layers = 256;
  std::vector<Load> out, in;
  std::vector<LayerBytes> layers;  // by dimension, of most_layers or fewer
  double byte_hops = 0;
  std::int32_t farthest = 0;

 private:
  const Topology* topology_;

  static void add(Load& load, Bytes bytes) {
    load.bytes += static_cast<double>(bytes);
    ++load.blocks;
  }
};

/// Every source's message must reach all: a node sends its own at least once, and receives all others.
void replicate(const Topology& topology, const std::vector<NodeId>& living, const std::vector<NodeId>& sources, const Sizes& sizes,
               Loads& loads) {
  double all = 0;
  std::uint64_t blocks = 0;
  for (const NodeId source : sources) {
    if (sizes(source) == 0) continue;
    loads.send(source, sizes(source));
    all += static_cast<double>(sizes(source));
    ++blocks;
    if (topology.nodes() <= most_nodes) loads.farthest = std::max(loads.farthest, topology.eccentricity(source));
  }
  for (const NodeId node : living) loads.in[node] = {all, blocks};
  for (const NodeId source : sources) {
    if (sizes(source) == 0) continue;
    loads.in[source].bytes -= static_cast<double>(sizes(source));
    --loads.in[source].blocks;
  }
  loads.byte_hops = all * static_cast<double>(living.size() - 1);  // each node is one hop from somewhere that has it
}

/// A node's contributions to the parts of others leave it, alone or combined; the others' contributions to its own part come.
void reduce_scatter(const std::vector<NodeId>& living, const Sizes& sizes, Loads& loads, Bounds& bounds) {
  double all = 0;
  std::uint64_t blocks = 0;
  for (const NodeId node : living) {
    all += static_cast<double>(sizes(node));
    blocks += sizes(node) > 0 ? 1U : 0U;
  }
  for (const NodeId node : living) {
    const Bytes own = sizes(node);
    loads.out[node] = {all - static_cast<double>(own), blocks - (own > 0 ? 1U : 0U)};
    if (own > 0) loads.receive(node, own);
    loads.byte_hops += loads.out[node].bytes;
  }
  const auto nodes = static_cast<double>(living.size());
  bounds.combined_bytes = all * (nodes - 1) / nodes;  // N - 1 combinations of each byte, by N nodes
}

}  // namespace

void bound_uneven(const Machine& machine, const Request& request, Bounds& bounds) {
  const Topology& topology = machine.topology;
  const Sizes sizes = sizes_of(topology.nodes(), request);
  const std::vector<NodeId> living = living_ranks(topology);
  const NodeId root = facts_of(request.collective).rooted() ? request.sources.front() : living.front();
  const Distances from_root(topology, root);
  Loads loads(topology);
  bounds.steps_reason = bounds.bytes_reason = bounds.single_block_reason = "no node must send anything";
  switch (request.collective) {
    case Collective::total_exchange:
      if (topology.nodes() > most_nodes) {
        bounds.steps_reason = bounds.bytes_reason = bounds.single_block_reason =
            "above " + std::to_string(most_nodes) + " nodes the sizes of all pairs are not looked at";
        return;
      }
      for (const NodeId from : living) {
        const Distances hops(topology, from);
        for (const NodeId to : living) loads.move(from, to, hops(to), sizes(std::uint64_t{from} * topology.nodes() + to));
      }
      break;
    case Collective::multinode_broadcast: replicate(topology, living, request.sources, sizes, loads); break;
    case Collective::scatter:
      for (const NodeId to : living) loads.move(root, to, from_root(to), sizes(to));
      break;
    case Collective::gather:
      for (const NodeId from : living) loads.move(from, root, from_root(from), sizes(from));
      break;
    default: reduce_scatter(living, sizes, loads, bounds); break;
  }

  const auto ports = static_cast<std::uint64_t>(machine.ports);
  const bool shared = machine.contention == Contention::share, packet = machine.switching == Switching::packet;
  double carried = 0;  // channels that a step can use
  std::uint64_t most_parties = 0;
  for (const NodeId node : living) {
    const std::uint64_t channels = channels_of(topology, node), usable = std::min(channels, ports);
    carried += static_cast<double>(packet ? usable : channels);
    for (const bool sends : {true, false}) {
      const Load& load = sends ? loads.out[node] : loads.in[node];
      if (load.blocks == 0) continue;
      most_parties = std::max(most_parties, load.blocks);
      const std::string what = "node " + std::to_string(node) + (sends ? " sends " : " receives ");
      raise(bounds.channel_bytes, bounds.bytes_reason, load.bytes / static_cast<double>(usable),
            what + counted(load.blocks, "block") + " of " + counted(static_cast<Bytes>(load.bytes), "byte") + over(usable));
      const std::uint64_t at_once = shared ? ports : usable;
      raise(bounds.single_block_steps, bounds.single_block_reason, ceil_div(load.blocks, at_once),
            what + counted(load.blocks, "block") + ", " + std::to_string(at_once) + " a step");
    }
  }
  if (loads.byte_hops > 0)
    raise(bounds.channel_bytes, bounds.bytes_reason, loads.byte_hops / carried,
          "the shortest routes of all blocks, bytes times hops, over " + std::to_string(static_cast<std::uint64_t>(carried)) +
              " channels a step");
  if (loads.byte_hops > 0 && request.collective != Collective::multinode_broadcast && request.collective != Collective::reduce_scatter) {
    for (LayerBytes& layers : loads.layers) layers.sum_up();
    find_layer_cuts(machine, {}, [&](const CutSet& set, const Layers& cut) {
      if (topology.extent(cut.dimension) > Loads::most_layers) return;
      const double bytes = loads.layers[static_cast<std::size_t>(cut.dimension)].crossing(cut.first, cut.last);
      if (bytes / static_cast<double>(set.channels) <= bounds.channel_bytes) return;
      bounds.channel_bytes = bytes / static_cast<double>(set.channels);
      bounds.bytes_reason = "cut of " + counted(set.nodes, "node") + ", layers " + std::to_string(cut.first) + " to " +
                            std::to_string(cut.last) + " of dimension " + std::to_string(cut.dimension) + ": " +
                            counted(static_cast<Bytes>(bytes), "byte") + over(set.channels);
    });
  }
  // A node that hears of r others, or is heard of by them: what is known of it grows (ports + 1)-fold a step.
  const bool replicated = request.collective == Collective::multinode_broadcast && most_parties > 0;
  const std::uint64_t parties = replicated ? living.size() : most_parties + 1;
  if (request.collective != Collective::reduce_scatter && parties > 1)
    raise<std::uint64_t>(bounds.steps, bounds.steps_reason, ceil_log(ports + 1, parties),
                         "ceil(log_" + std::to_string(ports + 1) + " " + std::to_string(parties) + "): a node's news reach at most " +
                             counted(ports, "other") + " a step for each node that has them");
  if (request.collective == Collective::reduce_scatter && most_parties > 0)
    raise<std::uint64_t>(
        bounds.steps, bounds.steps_reason, ceil_log(ports + 1, living.size()),
        "ceil(log_" + std::to_string(ports + 1) + " " + std::to_string(living.size()) + "): a part has a contribution of every node");
  if (packet)
    raise(bounds.steps, bounds.steps_reason, static_cast<std::uint64_t>(loads.farthest),
          "the farthest block: a packet makes one hop a step");
  bounds.route_hops = std::max(bounds.steps, static_cast<std::uint64_t>(loads.farthest));
  raise(bounds.single_block_steps, bounds.single_block_reason, bounds.steps, bounds.steps_reason);
  if (!machine.cost.one_speed())  // each byte takes at least the T_c of the fastest dimension
    bounds.channel_time_s =
        bounds.channel_bytes * *std::min_element(machine.cost.dimension_byte_s.begin(), machine.cost.dimension_byte_s.end());
}

}  // namespace torus
