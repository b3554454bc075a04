// One search, hence one source: who owns what, a matching a step, tries by several seeds, and the table of what they find.
#include "algorithms/reduction/reduce_scatter/packed_gather.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>

#include "algorithms/bounds/growth.hpp"
#include "runtime/base/words.hpp"

namespace torus::reduction {
namespace {

struct Delivery {
  NodeId from, to;
  Leg leg;
  std::uint32_t block;  ///< its place among the owners
};

/// A channel into a node.
struct Inlet {
  NodeId from;
  Leg leg;
};

class RoundSearch {
 public:
  RoundSearch(const Topology& topology, std::span<const NodeId> owners, std::uint32_t chunk)
      : chunk_{chunk}, inlets_(topology.nodes()), owners_(owners.begin(), owners.end()), living_{living_ranks(topology)} {
    for (const NodeId node : living_) {
      topology.each_link(node, [&](Dimension d, std::int32_t hop, NodeId to) { inlets_[to].push_back({node, {d, hop}}); });
    }
    blocks_ = static_cast<std::uint32_t>(owners_.size());
    words_ = (blocks_ + 63) / 64;
  }

  std::uint64_t blocks() const noexcept { return blocks_; }
  std::vector<std::vector<Delivery>> attempt(std::uint64_t seed) {
    seed_ = seed;
    copies_.assign(blocks_, 1);
    held_.assign(inlets_.size() * words_, 0);
    std::uint64_t missing = std::uint64_t{blocks_} * (living_.size() - 1);
    for (std::uint32_t b = 0; b < blocks_; ++b) hold(owners_[b], b);
    std::vector<std::vector<Delivery>> steps;
    while (missing > 0) {
      std::vector<Delivery>& step = steps.emplace_back();
      for (const NodeId node : living_) deliver_to(node, step);
      for (const Delivery& each : step) {
        hold(each.to, each.block);
        ++copies_[each.block];
      }
      missing -= step.size();
    }
    return steps;
  }

 private:
  void hold(NodeId node, std::uint32_t block) { held_[node * words_ + block / 64] |= std::uint64_t{1} << (block % 64); }
  bool holds(NodeId node, std::uint32_t block) const { return (held_[node * words_ + block / 64] >> (block % 64) & 1U) != 0; }

  /// The most urgent blocks that the node's channels can bring together.
  void deliver_to(NodeId node, std::vector<Delivery>& step) {
    find_candidates(node);
    const std::vector<Inlet>& inlets = inlets_[node];
    brings_.assign(inlets.size(), {});
    std::size_t room = inlets.size() * chunk_;
    const auto later = std::greater<>();
    std::make_heap(candidates_.begin(), candidates_.end(), later);
    for (auto end = candidates_.end(); room > 0 && end != candidates_.begin(); --end) {
      std::pop_heap(candidates_.begin(), end, later);
      tried_.assign(inlets.size(), false);
      if (place((end - 1)->block, inlets)) --room;
    }
    for (std::size_t i = 0; i < inlets.size(); ++i) {
      for (const std::uint32_t block : brings_[i]) step.push_back({inlets[i].from, node, inlets[i].leg, block});
    }
  }

  /// What some neighbour has and the node lacks, with its urgency.
  void find_candidates(NodeId node) {
    candidates_.clear();
    for (std::uint32_t w = 0; w < words_; ++w) {
      std::uint64_t bits = 0;
      for (const Inlet& inlet : inlets_[node]) bits |= held_[inlet.from * words_ + w];
      bits &= ~held_[node * words_ + w];
      for (std::uint32_t b = 64 * w; bits != 0; ++b, bits >>= 1U) {
        if ((bits & 1U) != 0) candidates_.push_back({copies_[b], detail::mixed((seed_ << 48U) + (std::uint64_t{node} << 24U) + b), b});
      }
    }
  }

  /// Finds a channel for a block, moving others to other channels if need be.
  bool place(std::uint32_t block, const std::vector<Inlet>& inlets) {
    for (std::size_t i = 0; i < inlets.size(); ++i) {
      if (brings_[i].size() >= chunk_ || !holds(inlets[i].from, block)) continue;
      brings_[i].push_back(block);
      return true;
    }
    for (std::size_t i = 0; i < inlets.size(); ++i) {
      if (tried_[i] || !holds(inlets[i].from, block)) continue;
      tried_[i] = true;
      for (std::size_t k = 0; k < brings_[i].size(); ++k) {
        if (!place(brings_[i][k], inlets)) continue;
        brings_[i][k] = block;
        return true;
      }
    }
    return false;
  }

  struct Candidate {
    std::uint32_t copies;
    std::uint64_t tie;
    std::uint32_t block;
    friend auto operator<=>(const Candidate&, const Candidate&) = default;
  };

  std::uint32_t chunk_, blocks_ = 0, words_ = 0;
  std::uint64_t seed_ = 0;
  std::vector<std::vector<Inlet>> inlets_;  // by node
  std::vector<NodeId> owners_;              // by block
  std::vector<NodeId> living_;
  std::vector<std::uint32_t> copies_;  // by block
  std::vector<std::uint64_t> held_;    // by node, a bit a block
  // Of one node in one step.
  std::vector<Candidate> candidates_;
  std::vector<std::vector<std::uint32_t>> brings_;  // by inlet
  std::vector<bool> tried_;
};

/// The owners of a vector's blocks: all living nodes, ascending. Around holes, nodes that have lost channels own more than one, since a
/// node need not get its own; at most half as many blocks again in all. Source: this project.
std::vector<NodeId> owners_of_vector(const Topology& topology) {
  const std::vector<NodeId> living = living_ranks(topology);
  std::vector<NodeId> owners = living;
  if (topology.whole()) return owners;
  std::vector<std::uint64_t> channels(topology.nodes()), blocks(topology.nodes(), 1);
  for (const NodeId node : owners) channels[node] = channels_of(topology, node);
  const std::uint64_t most = *std::max_element(channels.begin(), channels.end());
  // The node that has the most to get for each channel owns one more, as long as others have more channels.
  const auto slower = [&](NodeId a, NodeId b) {
    return (owners.size() - blocks[a]) * channels[b] < (owners.size() - blocks[b]) * channels[a];
  };
  while (owners.size() < living.size() + living.size() / 2) {
    const NodeId slowest = *std::max_element(living.begin(), living.end(), slower);
    if (channels[slowest] == most) break;
    ++blocks[slowest];
    owners.push_back(slowest);
  }
  std::sort(owners.begin(), owners.end());
  return owners;
}

/// What keeps some node from getting the blocks of all others sooner: the most blocks to get for each channel.
double blocks_a_channel(const Topology& topology, std::span<const NodeId> owners) {
  std::vector<std::uint32_t> blocks(topology.nodes());
  for (const NodeId owner : owners) ++blocks[owner];
  double most = 0;
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    if (blocks[node] == 0 || blocks[node] == owners.size()) continue;
    most = std::max(most, static_cast<double>(owners.size() - blocks[node]) / static_cast<double>(channels_of(topology, node)));
  }
  return most;
}

/// The deliveries of each step, at most `chunk` over a channel, for the owners of the blocks: all living nodes, ascending. Deterministic.
std::vector<std::vector<Delivery>> gather_rounds(const Topology& topology, std::span<const NodeId> owners, std::uint32_t chunk) {
  constexpr std::uint64_t most_tries = 8, effort = std::uint64_t{1} << 18U;
  RoundSearch search(topology, owners, chunk);
  const auto least_steps = static_cast<std::size_t>(std::ceil(blocks_a_channel(topology, owners) / chunk));
  const std::uint64_t tries = std::clamp<std::uint64_t>(effort / (search.blocks() * search.blocks()), 1, most_tries);
  std::vector<std::vector<Delivery>> best = search.attempt(0);
  for (std::uint64_t seed = 1; seed < tries && best.size() > least_steps; ++seed) {
    std::vector<std::vector<Delivery>> found = search.attempt(seed);
    if (found.size() < best.size()) best = std::move(found);
  }
  return best;
}

}  // namespace

std::vector<NodeId> owners_of(BlockOwners owners, const Topology& topology) {
  return owners == BlockOwners::balanced_vector ? owners_of_vector(topology) : living_ranks(topology);
}

PackedGather::PackedGather(const Topology& topology, std::uint32_t chunk, BlockOwners owners) {
  std::vector<BlockId> ids = owners_of(owners, topology);
  const std::vector<std::vector<Delivery>> rounds = gather_rounds(topology, ids, chunk);
  blocks_ = static_cast<std::uint32_t>(ids.size());
  if (owners != BlockOwners::ranks) std::iota(ids.begin(), ids.end(), BlockId{0});
  steps_ = rounds.size();
  std::vector<std::vector<std::pair<Leg, BlockId>>> goes(steps_ * topology.nodes()), comes(goes.size());
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    const std::size_t first = (rounds.size() - 1 - round) * topology.nodes();
    for (const auto& [from, to, leg, block] : rounds[round]) {
      goes[first + from].emplace_back(leg, ids[block]);
      comes[first + to].emplace_back(Leg{leg.dimension, topology.reverse(leg.dimension, leg.hops)}, ids[block]);
    }
    std::uint64_t channel = 0, combined = 0;
    for (NodeId node = 0; node < topology.nodes(); ++node) {
      auto& sent = goes[first + node];
      combined = std::max<std::uint64_t>(combined, sent.size());
      const auto by_leg = [](const auto& a, const auto& b) {
        return std::pair(a.first.dimension, a.first.hops) < std::pair(b.first.dimension, b.first.hops);
      };
      std::stable_sort(sent.begin(), sent.end(), by_leg);
      for (auto at = sent.begin(); at != sent.end();) {
        const auto end = std::find_if(at, sent.end(), [&](const auto& other) { return other.first != at->first; });
        channel = std::max(channel, static_cast<std::uint64_t>(end - at));
        at = end;
      }
    }
    load_.channel += channel;
    load_.combined += combined;
  }
  goes_ = Table(goes);
  comes_ = Table(comes);
}

void PackedGather::append_row(const Table& table, const Node& self, std::uint64_t step, Sends& out) const {
  for (const auto& [leg, block] : table.row(step * self.topology().nodes() + self.rank())) out.by({leg}).push_back(block);
}

PackedGather PackedGather::pack(const Topology& topology, std::uint32_t chunk, BlockOwners owners) { return {topology, chunk, owners}; }

ChunkChoice choose_chunk(const Machine& machine, BlockOwners owners, Bytes block) {
  const Topology& topology = machine.topology;
  if (topology.living_nodes() == 1) return {1, 0};
  std::int32_t farthest = topology.whole() ? topology.diameter() : 0;
  for (NodeId node = 0; node < topology.nodes() && !topology.whole(); ++node) {
    if (topology.living(node)) farthest = std::max(farthest, topology.eccentricity(node));
  }
  const double all = blocks_a_channel(topology, owners_of(owners, topology));
  ChunkChoice best{0, 0};
  for (std::uint32_t chunk = 1;; chunk *= 2) {
    const double least = all / chunk;
    const double steps = std::round(std::pow(std::pow(farthest, 4) + std::pow(std::max(1.0, least), 4), 0.25));
    const double time = machine.cost.steps(steps, steps * chunk * static_cast<double>(block), steps);
    if (best.chunk == 0 || time < best.time_s) best = {chunk, time};
    if (2 * least <= farthest) return best;
  }
}

// A delivery is in two lists of steps while they are searched, and in two tables while they are made.
Bytes packed_gather_bytes(const Topology& topology) {
  const auto nodes = Bytes{topology.nodes()};
  const Bytes most_blocks = nodes + nodes / 2;
  return nodes * most_blocks * (4 * sizeof(Delivery) + 6 * sizeof(std::pair<Leg, BlockId>));
}

}  // namespace torus::reduction
