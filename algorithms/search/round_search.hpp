/// Which block crosses which channel in each step, so that all living nodes get all blocks: any topology, with holes or without, any ports.
///
/// It grows step by step. In a step every channel may bring its head a few blocks that the tail has and the head lacks, and no block comes
/// to a node twice; so the ways of a block are a spanning tree from its owner, and in time and space no two trees meet.
///
/// *Channels*: where nodes have fewer ports than channels, a matching over the whole machine says which channels work. The receivers that
/// lack the most choose first, each the channel with the rarest block, and augmenting paths move earlier choices until the messages are as
/// many as can be. *Blocks*: which come to a node is a matching of blocks to its channels, the blocks with the fewest copies first, ties by
/// a random number; what is rare is thus spread early, and channels seldom stand idle for want of a block.
///
/// Cost     O(nodes^2 channels) a try with a block of each node, times the square of the pieces.
/// Source   the growing of steps: Won et al., TACOS; rarest first, as in BitTorrent (Cohen 2003); the augmenting paths: Kuhn 1955; the
///          matching of blocks, and of channels over the whole machine: this project.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include <torus/machine.hpp>
#include <torus/route.hpp>

#include "algorithms/common/link_capacities.hpp"

namespace torus {

class RoundSearch {
 public:
  struct Delivery {
    NodeId from, to;
    Leg leg;
    std::uint32_t block;  ///< its place among the owners
  };
  using Rounds = std::vector<std::vector<Delivery>>;  ///< by step

  /// owners: by block. Counts of copies are brought up to date at once or, `by_step`, after each step.
  RoundSearch(const Machine& machine, std::span<const NodeId> owners, const LinkCapacities& capacities, bool by_step = false);

  std::uint64_t blocks() const noexcept { return blocks_; }
  /// The deliveries of each step. Deterministic. urgency: of receivers, by node; without it those that lack the most are the most urgent.
  Rounds attempt(std::uint64_t seed, std::span<const double> urgency = {});
  /// The attempt with the fewest steps, of up to `tries`: no more are made once one takes `least`.
  Rounds best_attempt(std::uint64_t tries, std::size_t least);

 private:
  /// A channel into a node.
  struct Inlet {
    NodeId from, to;
    Leg leg;
    std::uint32_t chunk;  ///< what it brings in a step at most
  };
  using Words = std::vector<std::uint64_t>;

  std::span<const Inlet> inlets(NodeId node) const noexcept { return {inlets_.data() + first_[node], first_[node + 1] - first_[node]}; }
  bool holds(NodeId node, std::uint32_t block) const noexcept { return (held_[node * words_ + block / 64] >> (block % 64) & 1U) != 0; }
  void hold(NodeId node, std::uint32_t block);
  void copied(std::uint32_t block);
  std::uint64_t tie(NodeId node, std::uint32_t of) const noexcept;

  void match_channels(std::span<const double> urgency);
  double score(std::size_t inlet) const;
  void let_work(std::size_t inlet);
  bool find_sender(NodeId receiver, int depth);
  void deliver_to(NodeId node, std::vector<Delivery>& step);
  bool place(std::uint32_t block, NodeId node);

  std::uint32_t blocks_ = 0, words_ = 0;
  std::uint64_t seed_ = 0;
  int ports_;
  bool by_step_, few_ports_ = false, limited_ = false;  // limited: by the chunks of some channels
  std::vector<Inlet> inlets_;                           // by receiver
  std::vector<std::size_t> first_;                      // by node, in inlets_
  std::vector<NodeId> owners_;                          // by block
  std::vector<NodeId> living_;
  std::vector<std::uint32_t> copies_;      // by block
  std::map<std::uint32_t, Words> rarity_;  // by number of copies, a bit a block
  Words held_;                             // by node, a bit a block
  std::vector<std::uint32_t> lacks_;       // by node
  std::vector<NodeId> open_;               // nodes that lack a block, beside one that has some
  std::vector<bool> is_open_;
  // What is known of one step: which channels work.
  std::vector<char> works_;                       // by inlet
  std::vector<std::vector<std::size_t>> useful_;  // by receiver, the best first
  std::vector<std::vector<std::size_t>> out_;     // by sender: the inlets of others that it sends by
  std::vector<std::uint64_t> seen_;               // by sender: the last search that met it
  std::uint64_t search_ = 0;
  // What is known of one node in one step:
  Words reach_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> candidates_;
  std::vector<std::vector<std::uint32_t>> brings_;  // by inlet of the node
  std::vector<bool> tried_;
};

/// Whether some living node has fewer ports than channels.
bool few_ports(const Machine& machine);

/// The deliveries of one block from a root to all, in few steps. The first urgency of a node is its height, the longest way on along
/// shortest routes from the root; then the steps that its subtree took in the tree before. Fewer tries on larger machines.
RoundSearch::Rounds one_block_rounds(const Machine& machine, NodeId root);

}  // namespace torus
