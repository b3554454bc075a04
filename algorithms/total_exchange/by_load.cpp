/// Total exchange of blocks of any sizes, by a list: in each step every channel carries what waits for it, farthest blocks first, up to a
/// budget of bytes.
///
/// The whole exchange is played through before the run, so that all sizes must be known to all. A block takes a shortest way; at each node
/// it chooses, of the dimensions that it has yet to travel, the channel with the fewest bytes waiting. Where nodes have fewer ports than
/// channels, the channels with most bytes waiting go first. A block of no bytes, of a request with sizes, is not sent. A small budget evens
/// the channels of a step out and takes more steps: several are tried, and the one of the least model time is taken.
///
/// Machine  packet, any ports; rings, lines and complete dimensions, up to 512 nodes.
/// Steps    as many as the list has; bytes and steps are known after planning.   Header  none.
/// Memory   16 bytes a hop of a block, shared by all nodes.
/// Source   this project.

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>
#include <torus/schedule.hpp>

#include "algorithms/common/shapes.hpp"
#include "algorithms/entries.hpp"

namespace torus::total_exchange::by_load {
namespace {

constexpr NodeId most_nodes = 512;
constexpr Bytes no_budget = std::numeric_limits<Bytes>::max();

/// A block on its way.
struct Waiting {
  std::int32_t hops;  ///< left
  Bytes bytes;
  BlockId id;

  /// The farthest goes first, then the largest; ids settle ties.
  friend bool operator<(const Waiting& a, const Waiting& b) noexcept {
    return std::tuple(a.hops, a.bytes, b.id) < std::tuple(b.hops, b.bytes, a.id);
  }
};

/// The exchange, step by step.
class List {
 public:
  /// schedule: gets all sends; null where they are only counted.
  List(const Machine& machine, const Placement& placement, Bytes budget, Schedule* schedule)
      : machine_{machine},
        topology_{machine.topology},
        nodes_{topology_.nodes()},
        slots_{static_cast<std::size_t>(topology_.channel_slots())},
        budget_{budget},
        schedule_{schedule},
        channels_(nodes_ * slots_),
        sent_(nodes_),
        received_(nodes_) {
    for (NodeId from = 0; from < nodes_; ++from) {
      for (NodeId to = 0; to < nodes_; ++to) {
        const BlockId id = from * nodes_ + to;
        if (from != to && !placement.empty(id)) wait_at(from, {topology_.distance(from, to), placement.bytes(id), id});
      }
    }
    while (!active_.empty()) play_step();
  }

  Step steps() const noexcept { return step_; }
  double bytes() const noexcept { return bytes_; }
  double time_s() const noexcept { return step_ * machine_.cost.start_up_s + bytes_ * machine_.cost.byte_s; }

 private:
  struct Channel {
    std::vector<Waiting> blocks;  // a heap
    Bytes bytes = 0;
    bool active = false;
  };

  std::size_t channel_of(NodeId node, Dimension d, std::int32_t hop) const noexcept {
    return node * slots_ + static_cast<std::size_t>(topology_.slot(d, hop));
  }

  /// The hop that a block makes next in a dimension; 0: none. Half way round a ring both directions are as short: blocks alternate.
  std::int32_t next_hop(NodeId at, BlockId id, Dimension d) const noexcept {
    const NodeId origin = id / nodes_, to = id % nodes_;
    const std::int32_t n = topology_.extent(d), difference = topology_.coordinate(to, d) - topology_.coordinate(at, d);
    if (difference == 0) return 0;
    const std::int32_t up = difference > 0 ? difference : difference + n;
    if (topology_.wiring(d) == Wiring::complete) return up;
    if (topology_.wiring(d) == Wiring::line) return difference > 0 ? 1 : -1;
    if (2 * up == n) return (origin + to) % 2 == 0 ? 1 : -1;
    return 2 * up < n ? 1 : -1;
  }

  void wait_at(NodeId at, const Waiting& block) {
    Dimension best = 0;
    std::size_t best_channel = 0;
    bool found = false;
    for (Dimension d = 0; d < topology_.dimensions(); ++d) {
      const std::int32_t hop = next_hop(at, block.id, d);
      if (hop == 0) continue;
      const std::size_t channel = channel_of(at, d, hop);
      if (found && channels_[channel].bytes >= channels_[best_channel].bytes) continue;
      found = true;
      best = d;
      best_channel = channel;
    }
    Channel& channel = channels_[best_channel];
    channel.blocks.push_back(block);
    std::push_heap(channel.blocks.begin(), channel.blocks.end());
    channel.bytes += block.bytes;
    if (channel.active) return;
    channel.active = true;
    active_.push_back({at, best, next_hop(at, block.id, best)});
  }

  void play_step() {
    std::sort(active_.begin(), active_.end(), [this](const Way& a, const Way& b) {
      return std::tuple(channels_[channel_of(b)].bytes, a.node, a.dimension, a.hop) <
             std::tuple(channels_[channel_of(a)].bytes, b.node, b.dimension, b.hop);
    });
    std::fill(sent_.begin(), sent_.end(), 0);
    std::fill(received_.begin(), received_.end(), 0);
    Bytes most = 0;
    for (const Way& way : active_) {
      const NodeId to = *topology_.neighbour(way.node, way.dimension, way.hop);
      if (sent_[way.node] == machine_.ports || received_[to] == machine_.ports) continue;
      ++sent_[way.node];
      ++received_[to];
      most = std::max(most, send(way, to));
    }
    std::erase_if(active_, [this](const Way& way) {
      Channel& channel = channels_[channel_of(way)];
      channel.active = !channel.blocks.empty();
      return !channel.active;
    });
    for (const auto& [node, block] : arrived_) {
      if (block.hops > 0) wait_at(node, block);
    }
    arrived_.clear();
    bytes_ += static_cast<double>(most);
    ++step_;
  }

  /// The channel of one of a node's ways.
  struct Way {
    NodeId node;
    Dimension dimension;
    std::int32_t hop;
  };
  std::size_t channel_of(const Way& way) const noexcept { return channel_of(way.node, way.dimension, way.hop); }

  Bytes send(const Way& way, NodeId to) {
    Channel& channel = channels_[channel_of(way)];
    Bytes bytes = 0;
    ids_.clear();
    while (!channel.blocks.empty() && (ids_.empty() || channel.blocks.front().bytes <= budget_ - std::min(budget_, bytes))) {
      std::pop_heap(channel.blocks.begin(), channel.blocks.end());
      Waiting block = channel.blocks.back();
      channel.blocks.pop_back();
      bytes += block.bytes;
      ids_.push_back(block.id);
      --block.hops;
      arrived_.emplace_back(to, block);
    }
    channel.bytes -= bytes;
    if (schedule_ != nullptr) {
      const Leg leg{way.dimension, way.hop};
      schedule_->add(step_, way.node, to, {&leg, 1}, ids_, Manner::give);
    }
    return bytes;
  }

  const Machine& machine_;
  const Topology& topology_;
  const NodeId nodes_;
  const std::size_t slots_;
  const Bytes budget_;
  Schedule* const schedule_;
  std::vector<Channel> channels_;  // by node and slot
  std::vector<Way> active_;        // channels that blocks wait for
  std::vector<int> sent_, received_;
  std::vector<std::pair<NodeId, Waiting>> arrived_;
  std::vector<BlockId> ids_;
  Step step_ = 0;
  double bytes_ = 0;  // of the fullest channels, summed over the steps
};

/// The budget of the least model time of those tried: from the mean of the bytes a step without a budget, halved until twice in a row no
/// time is won.
Bytes best_budget(const Machine& machine, const Placement& placement) {
  const List free(machine, placement, no_budget, nullptr);
  if (free.steps() == 0) return no_budget;
  Bytes best = no_budget;
  double least_s = free.time_s();
  int in_vain = 0;
  for (auto budget = static_cast<Bytes>(2 * free.bytes() / free.steps()); budget > 0 && in_vain < 2; budget /= 2, ++in_vain) {
    const double time_s = List(machine, placement, budget, nullptr).time_s();
    if (time_s >= least_s) continue;
    least_s = time_s;
    best = budget;
    in_vain = -1;
  }
  return best;
}

std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  if (!request.sizes) return Refusal{Refusal::About::sizes, "left out", "by-load is made for blocks whose sizes differ", "uniform:0:128"};
  if (topology.nodes() <= most_nodes) return std::nullopt;
  return Refusal{Refusal::About::shape, topology.text(),
                 "by-load plays all blocks through, of at most " + std::to_string(most_nodes) + " nodes",
                 smaller(topology, [](const Topology& t) { return t.nodes() <= most_nodes; }).text()};
}

Plan plan(const Machine& machine, const Request& request) {
  const Placement placement = placement_of(machine, request, Plan{});
  auto schedule = std::make_shared<Schedule>(machine.topology.nodes());
  const List list(machine, placement, best_budget(machine, placement), schedule.get());
  schedule->sort();
  Plan plan;
  plan.start = [schedule](Node& self) { return follow(self, *schedule); };
  plan.steps = list.steps();
  plan.route_hops = plan.steps;
  plan.formula = "steps of the list";
  plan.channel_bytes = list.bytes();
  plan.table_bytes = schedule->table_bytes();
  return plan;
}

const Algorithm by_load{
    .name = "by-load",
    .collective = Collective::total_exchange,
    .source = "this project",
    .shapes = "any product of rings, lines and complete graphs, up to 512 nodes",
    .steps = "those of a list made for the sizes",
    .idea = {.first =
                 "Every channel carries in a step what waits for it, the farthest blocks first, and no more bytes than a budget allows.",
             .then = "A block that has arrived waits for the emptiest channel that brings it nearer, in whatever dimension.",
             .good = "The list is made with the size of every block, so that the fullest channels and ports have few pauses however much "
                     "sizes differ; but all nodes must know all sizes first."},
    .native = {.switching = Switching::packet},
    .also_requires = also_requires,
    .plan = plan,
};

}  // namespace

extern const Entries entries{by_load};

}  // namespace torus::total_exchange::by_load
