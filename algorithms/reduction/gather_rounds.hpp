/// An all-gather of blocks from every living node in few steps, found by search: any topology, with holes or without.
///
/// It grows step by step. In a step every channel may bring its head a few blocks that the tail has and the head lacks, and no block comes
/// to a node twice; so the ways of a block are a spanning tree from its owner, and in time and space no two trees meet. Which blocks come
/// to a node is a matching of blocks to its channels, the blocks with the fewest copies first, ties by a random number; what is rare is
/// thus spread early, and channels seldom stand idle for want of a block. A few seeds are tried until one meets the bound of the node with
/// the fewest channels, and the fewest steps taken.
///
/// Cost     O(nodes^2 channels) a try, and several tries up to 512 nodes.
/// Source   the growing of steps: Won et al., TACOS; rarest first, as in BitTorrent (Cohen 2003); the matching: this project.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <torus/route.hpp>
#include <torus/topology.hpp>

namespace torus::reduction {

struct Delivery {
  NodeId from, to;
  Leg leg;
  std::uint32_t block;  ///< its place among the owners
};

/// The owners of a vector's blocks: all living nodes, ascending. Around holes, nodes that have lost channels own more than one, since a
/// node need not get its own; at most half as many blocks again in all. Source: this project.
std::vector<NodeId> owners_of_vector(const Topology& topology);
/// What keeps some node from getting the blocks of all others sooner: the most blocks to get for each channel.
double blocks_a_channel(const Topology& topology, std::span<const NodeId> owners);

/// The deliveries of each step, at most `chunk` over a channel, for the owners of the blocks: all living nodes, ascending. Deterministic.
std::vector<std::vector<Delivery>> gather_rounds(const Topology& topology, std::span<const NodeId> owners, std::uint32_t chunk);

}  // namespace torus::reduction
