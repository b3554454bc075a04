/// The machine: a topology, and the rules and costs of sending on it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <torus/topology.hpp>

namespace torus {

using Bytes = std::uint64_t;
/// A step's number, from 0.
using Step = std::uint32_t;

/// packet: store and forward, one hop a step. wormhole: a dimension-ordered route of any length in one step. circuit: any route in one
/// step.
enum class Switching : std::uint8_t { packet, wormhole, circuit };

/// Two messages on one channel in one step. forbid: a violation. share: allowed, and the model time charges for it.
enum class Contention : std::uint8_t { forbid, share };

/// The model time of a step is T_s + B + H * T_h + G * T_g. B is the byte term: the max over the channels of the bytes on the channel times
/// its T_c, and so L * T_c with L the most bytes on one channel, where all have one T_c. H is the hops of the longest route, G the most
/// bytes that one node combines out of the step's arrivals.
struct CostModel {
  double start_up_s = 1e-6;  ///< T_s, seconds a step
  double byte_s = 1e-10;     ///< T_c, seconds a byte (the default is 10 GB/s a channel); of the slowest channel, where they differ
  double hop_s = 0;          ///< T_h, seconds a hop
  double combine_s = 0;      ///< T_g, seconds a byte that is combined
  /// T_c by dimension, where channels differ; empty: byte_s in all. Slow links multiply it. A Machine keeps it so: see Machine.
  std::vector<double> dimension_byte_s = {};

  friend bool operator==(const CostModel&, const CostModel&) = default;

  bool one_speed() const noexcept { return dimension_byte_s.empty(); }
  /// T_c of the channels of a dimension.
  double byte_s_of(Dimension d) const noexcept { return one_speed() ? byte_s : dimension_byte_s[static_cast<std::size_t>(d)]; }

  /// Model time of `count` steps, given the sums of L, H and G over them; an upper bound where the dimensions' T_c differ.
  double steps(double count, double channel_bytes, double route_hops, double combined_bytes = 0) const noexcept {
    return timed_steps(count, channel_bytes * byte_s, route_hops, combined_bytes);
  }
  double step(Bytes most_bytes_on_a_channel, std::uint64_t longest_route, Bytes most_combined = 0) const noexcept {
    return steps(1, static_cast<double>(most_bytes_on_a_channel), static_cast<double>(longest_route), static_cast<double>(most_combined));
  }
  /// Model time of `count` steps, given the sums of B, H and G over them.
  double timed_steps(double count, double channel_time_s, double route_hops, double combined_bytes = 0) const noexcept {
    return count * start_up_s + channel_time_s + route_hops * hop_s + combined_bytes * combine_s;
  }
};

/// A port for each channel of the node that has the most.
inline constexpr int all_ports = 0;

/// The parameters of a machine by name: Machine::make({.topology = "16x16", .ports = 1, .switching = Switching::packet}).
struct MachineSpec {
  Topology topology;      ///< or its text
  int ports = all_ports;  ///< messages a node may send, and receive, in one step
  Switching switching = Switching::wormhole;
  Contention contention = Contention::forbid;
  std::vector<Dimension> routing = {};  ///< wormhole: the order in which routes take the dimensions; empty: ascending
  CostModel cost = {};
};

/// What every node of the machine knows: its topology, and the rules and costs of sending. Immutable.
struct Machine {
  /// Throws InputError on ports outside 1..max_ports(), a routing that is no permutation of the dimensions, or speeds that are not one a
  /// dimension. Speeds that are all equal become one, if no link is slow: cost.byte_s is the largest T_c of a channel.
  static Machine make(MachineSpec spec);
  /// The same by position.
  explicit Machine(Topology shape, int port_count = all_ports, Switching switching_mode = Switching::wormhole,
                   Contention contention_rule = Contention::forbid, std::vector<Dimension> routing_order = {}, CostModel costs = {});

  Topology topology;
  int ports;  ///< messages a node may send, and receive, in one step; never all_ports
  Switching switching;
  Contention contention;
  std::vector<Dimension> routing;  ///< wormhole: the order in which routes take the dimensions
  CostModel cost;

  /// All of it: topology with its faults, rules and costs.
  friend bool operator==(const Machine&, const Machine&) = default;

  /// T_c of a channel.
  double byte_s(NodeId from, Dimension d, std::int32_t direction) const noexcept {
    return cost.byte_s_of(d) * topology.slowness(from, d, direction);
  }

  bool all_port() const noexcept { return ports == topology.max_ports(); }
  bool ascending_routing() const noexcept;
};

std::string_view name(Switching switching) noexcept;
std::string_view name(Contention contention) noexcept;
/// Throw InputError on other words than packet, wormhole, circuit; forbid, share.
Switching parse_switching(std::string_view text);
Contention parse_contention(std::string_view text);

}  // namespace torus
