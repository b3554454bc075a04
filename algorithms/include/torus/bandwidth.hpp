/// The bandwidths of a collective, defined as in the microbenchmarks that people compare: algbw and busbw of nccl-tests.
///
/// - algbw is the bytes that the collective asks for, over the time. They are the same for every algorithm, so that at one size the order
///   by algbw is the order by time.
/// - busbw is algbw times a factor that makes figures of different node counts comparable. It is the share of those bytes that a node
///   cannot have at the start.
///
/// | collective, n nodes | bytes asked for | factor |
/// |---|---|---|
/// | broadcast of m bytes | m | 1 |
/// | multi-node broadcast (all-gather), s sources of m bytes | s m, what a node holds at the end | (n-1)/n |
/// | total exchange (all-to-all), blocks of m bytes | n m, what a node sends and what it holds at the end | (n-1)/n |
///
/// One node alone has the factor 1 in a broadcast and else 0. The factor (n-1)/n of the multi-node broadcast assumes that all are sources.
#pragma once

#include <torus/algorithm.hpp>

namespace torus {

/// How many messages of Request::bytes the collective asks for, in the table above.
double asked_messages(const Request& request, std::uint64_t nodes) noexcept;

/// Sizes of a request that has a rule for them, as they are drawn: of the blocks of sources where these are named, else of all. More than
/// 2^22 are not looked at one by one: then the mean is the one that the rule aims at, and `longest` a limit.
struct DrawnSizes {
  double mean = 0;
  Bytes longest = 0;
  bool exact = true;
};
/// Throws InputError as sizes_of() does. Time: O(blocks).
DrawnSizes drawn_sizes(const Request& request, NodeId nodes);

/// Bytes that the collective asks for, in the table above; where blocks have sizes, m is the mean of those that are drawn. A double: the
/// sizes of large machines need not fit into 64 bits. Throws as drawn_sizes() does.
double asked_bytes(const Request& request, NodeId nodes);

/// busbw / algbw.
double bus_factor(Collective collective, std::uint64_t nodes) noexcept;

/// Bytes a second.
struct Bandwidth {
  double algorithm = 0;  ///< algbw
  double bus = 0;        ///< busbw
};
/// Both are 0 where no time has passed.
Bandwidth bandwidth_of(const Request& request, NodeId nodes, double seconds);

}  // namespace torus
