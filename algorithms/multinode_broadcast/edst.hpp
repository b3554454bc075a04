/// Multi-node broadcast over arc-disjoint spanning trees: 2k trees a source, each message cut in 2k U segments, segment y on tree y mod 2k.
///
/// The trees of a source are those of node 0, moved: node v stands in source o's trees at displacement v - o, which a node reads off the
/// identity of an arriving block. Whatever the sources, almost every link carries s m / 2k bytes in all.
///   edst            synchronous: all that a step brought goes on in the next, one bundle a channel.       height steps
///   edst, chunk C   pipelined: at most C segments a channel and step, first in, first out. To end without a global eye the sources
///   edst-pipelined  are counted first (ternary along each dimension, and back); a node is through when it holds 2k U s segments and has
///                   none to pass on.                       2 sum L3(n_t) + height + ceil(s U / C) steps as a rule
/// Limit of the pipelined steps: 2 sum L3(n_t) + ceil(U/C) + (height-1) ceil(s U / C). As the 2k trees of a source enter a node by 2k
/// channels, a channel carries one tree's segments of each source, s U in all, and each of them once. Every step in which one of them waits
/// takes C others away, so it crosses the channel within ceil(s U / C) steps of reaching it; on the first channel of its way it stands
/// behind no more than the U of its own source. The rule above is an estimate: most runs end below it, on some shapes a run takes a third
/// more.
/// Machine  torus of 1..8 dimensions of more than one node, packet (single hops; the counting: wormhole), all ports, no channel shared.
/// Memory   6 N k bytes of tables, 14 N k while they are made; a node queues at most all segments.
/// Header   counting: one word; data: none.
/// Source   Varvarigos & Bertsekas, partial multinode broadcast; the trees and the counting: this project.
#pragma once

#include <torus/algorithm.hpp>

#include "algorithms/multinode_broadcast/forest.hpp"

namespace torus::multinode {

extern const Algorithm edst;

Program edst_program(Node& self, const Forest& forest);

}  // namespace torus::multinode
