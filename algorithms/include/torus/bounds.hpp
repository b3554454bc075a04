/// Lower bounds of every collective on a machine, and the figures of a shape that they are computed from.
///
/// Product formulas, exact in integers: O(dimensions) for a shape and O(sources) for a request, without enumeration. On a machine with
/// faults of up to 2^20 nodes channels are looked at one by one, and cuts are tried: milliseconds to about a second.
/// On a twisted torus O(nodes).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <torus/algorithm.hpp>
#include <torus/machine.hpp>

namespace torus {

/// A message for all nodes: what bounds its steps and its bytes together.
struct BroadcastPoints {
  std::uint64_t nodes = 0;
  int ports = 0;  ///< of the node that has most
  Bytes bytes = 0;
  std::vector<double> within = {};  ///< packet switching: nodes at most 0, 1, .. hops from the source; else empty
  /// Where dimensions differ in speed: the T_c of a channel of which `ports` carry as much as the fastest ports of a node (the harmonic
  /// mean of these). All that the bound assumes of bytes is how much a node sends or receives in a step.
  std::optional<double> byte_s = {};
  /// The least that the fullest channels carry, whatever the steps, in units of bytes / ports: more than 1 where it is one message of
  /// several.
  double least_load = 1;
};

/// All steps of an all-reduce or a scan except any `hops` in a row have byte terms of at least `bytes_s` seconds: what two nodes, `hops` +
/// 1 apart, send or receive at least (bounds/allreduce.cpp has the proof).
struct Filling {
  std::uint64_t hops = 0;
  double bytes_s = 0;
};

/// Bounds of one collective. Different algorithms may meet them: few steps and few bytes often exclude each other. So the bound of the
/// model time is not always a minimum.
struct Bounds {
  std::uint64_t steps = 0;  ///< minimum of the steps, with messages of any length
  std::string steps_reason;
  double channel_bytes = 0;  ///< minimum of the sum over the steps of the most bytes on a channel
  std::string bytes_reason;
  std::uint64_t single_block_steps = 0;  ///< the same if no message carries more than one source's (exchange: one pair's) data
  std::string single_block_reason;

  double combined_bytes = 0;  ///< minimum of the sum over the steps of the most bytes that a node combines

  std::uint64_t route_hops = 0;  ///< minimum of the sum over the steps of the hops of the longest route

  /// Where no channel is shared: of broadcasts; of reduces, which are broadcasts backwards; of scans and all-reduces, which broadcast the
  /// first node's part; of multi-node broadcasts, of one of the sources.
  std::optional<BroadcastPoints> points = {};

  /// All-reduce and scan under packet switching, up to 1,024 nodes; the pairs that are farthest apart first.
  std::vector<Filling> filling = {};

  /// Where dimensions differ in speed: the minimum of the sum over the steps of the byte terms, seconds. Else channel_bytes times T_c is.
  std::optional<double> channel_time_s = {};

  /// Few steps and few bytes at once: of a broadcast and a reduce, the minimum over the steps R of R steps with the bytes that R steps need
  /// (broadcast_bounds.hpp has the proof); of a multi-node broadcast the same with the bytes of one message, or those of all if they are
  /// more, of an all-reduce and a scan with those of the first node, and also the minimum over the steps R of R steps with the bytes that a
  /// pipeline of R steps needs to fill; else as simple_model_time_s(). Up to some milliseconds.
  double model_time_s(const CostModel& cost) const;
  /// The same of the plans of an algorithm that offers so much.
  double model_time_s(const CostModel& cost, const Offer& offer) const;
  /// The minimum of the steps with the minimum of the bytes, as if they did not exclude each other.
  double simple_model_time_s(const CostModel& cost) const noexcept {
    const double bytes_s = channel_time_s.value_or(channel_bytes * cost.byte_s);
    return cost.timed_steps(static_cast<double>(steps), bytes_s, static_cast<double>(route_hops), combined_bytes);
  }
};

/// Steps.
///  - A node informs at most min(ports, its channels) others in a step. So a message reaches N nodes in ceil(log_{ports+1} N) steps or
///    more. Where border nodes have fewer channels than ports the bound is higher; it assumes that the nodes with the most channels are
///    informed first. (Not where wormhole or circuit messages may share a channel.) The bound holds for every collective here: each node of
///    a total exchange is the source of a message whose influence must reach all. Wang, Tseng, Ni & Sheu, section 1.
///  - On a line with two ports or more and no channel shared, a side of r nodes takes the smallest t with (3^t-1)/2 >= r. Of the messages
///    to one side only one passes a channel. So in a step a gap between informed nodes loses at most two nodes, and the gap at the end one
///    (broadcast/synthesis/search.hpp).
///  - Worms in dimension order that share no channel: what can enter each line of the last dimension (bounds/broadcast_bounds.hpp).
///  - Where all nodes' data must reach all nodes and no channel is shared: what the messages over the middle cut of a dimension can know,
///    and how many can hear of it (bounds/bounds.cpp has the proof).
///  - Packet switching: also the eccentricity of the sources (total exchange: the diameter).
/// Bytes.
///  - A node receives all that it must over at most min(ports, its channels) channels a step.
///  - Total exchange: every cut must carry |V1||V2| blocks each way over its links, under any switching: (4) of Dimakopoulos & Dimopoulos,
///    for the middle cuts of all dimensions.
///  - Total exchange: the shortest routes of all blocks together must fit into what a step can carry. Under packet switching that is
///    min(ports, channels) channels of each node, with one port (3) of the same paper; else all channels.
///  - A line with one port under packet switching: node v must send n-1 + 2v(n-1-v) blocks.
///  - Reductions, scatter, gather: bounds/reductions.cpp; all-reduce: also bounds/allreduce.cpp.
/// Seconds, where dimensions differ in speed: each argument about bytes once more, with what its channels carry in a second
/// (bounds/bounds.cpp has the proof), and the middle cut of each dimension with that dimension's own speed.
/// Dead links and nodes: the living nodes with their living channels take the places of all. Of a total exchange only the arguments about
/// single nodes and about the shortest routes, around what is dead, hold then.
/// Cuts, where links or nodes are dead or links slow: for each set S of nodes that is tried, what must leave or enter it over what its
/// channels carry, in bytes and in seconds: single nodes, layers of each dimension, and the sets that max flows find. Where dimensions
/// differ in speed: the halves of each dimension, in seconds (bounds/cuts.cpp has the proof and the limits).
/// Hops: the message that goes farthest crosses as many channels as the eccentricity of a source (total exchange: the diameter), and every
/// message of a step crosses at least one.
/// Sizes that differ: the same arguments about single nodes, shortest routes and, of total exchange, scatter and gather, layers of each
/// dimension, with the true sizes (bounds/uneven.cpp). Of a total exchange above 4,096 nodes none.
/// Single-block steps: the same arguments with a block as the unit and the messages of a step as the limit. Where channels are shared, only
/// the ports limit them.
Bounds lower_bounds(const Machine& machine, const Request& request);

/// Figures of a shape.
struct ShapeFacts {
  std::int32_t diameter = 0;
  double average_distance = 0;        ///< over ordered pairs of different nodes
  std::uint64_t least_status = 0;     ///< of the most central node; the status of a node is the sum of its distances to all nodes
  std::uint64_t greatest_status = 0;  ///< of the most remote node
  double average_status = 0;          ///< AS, over all nodes
  std::uint64_t channels = 0;
  std::int32_t least_channels_of_a_node = 0;
  std::int32_t most_channels_of_a_node = 0;
  /// Links over a narrow cut into halves (sizes differ by at most one node): across the middle of a dimension and, where its extent is odd,
  /// that layer is cut in the next dimension. The bisection width of tori and of meshes (Aroca & Fernandez Anta 2014); where wirings are
  /// mixed, the width is at most that. Of a twisted torus: of the cuts across the middle of one dimension.
  std::uint64_t bisection_links = 0;
  /// Total exchange, one block a message, packet switching: bound (3), one port: ceil(average status); and bound (4), all ports:
  /// the maximum over the dimensions' middle cuts of ceil(|V1||V2| / links).
  std::uint64_t bound3 = 0;
  std::uint64_t bound4 = 0;
};

ShapeFacts shape_facts(const Topology& topology);

}  // namespace torus
