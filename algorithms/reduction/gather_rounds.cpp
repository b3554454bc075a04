// One search, hence one file: who owns what, a matching a step, and tries by several seeds.
#include "algorithms/reduction/gather_rounds.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "algorithms/common/growth.hpp"
#include "runtime/model/words.hpp"

namespace torus::reduction {
namespace {

/// A channel into a node.
struct Inlet {
  NodeId from;
  Leg leg;
};

class Search {
 public:
  Search(const Topology& topology, std::span<const NodeId> owners, std::uint32_t chunk)
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

}  // namespace

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

std::vector<std::vector<Delivery>> gather_rounds(const Topology& topology, std::span<const NodeId> owners, std::uint32_t chunk) {
  constexpr std::uint64_t most_tries = 8, effort = std::uint64_t{1} << 18U;
  Search search(topology, owners, chunk);
  const auto least_steps = static_cast<std::size_t>(std::ceil(blocks_a_channel(topology, owners) / chunk));
  const std::uint64_t tries = std::clamp<std::uint64_t>(effort / (search.blocks() * search.blocks()), 1, most_tries);
  std::vector<std::vector<Delivery>> best = search.attempt(0);
  for (std::uint64_t seed = 1; seed < tries && best.size() > least_steps; ++seed) {
    std::vector<std::vector<Delivery>> found = search.attempt(seed);
    if (found.size() < best.size()) best = std::move(found);
  }
  return best;
}

}  // namespace torus::reduction
