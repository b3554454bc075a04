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

/// The model time of a step is start_up_s + L * byte_s + H * hop_s + G * combine_s, with L the most bytes on one channel, H the hops of the
/// longest route, and G the most bytes that one node combines out of the step's arrivals.
struct CostModel {
  double start_up_s = 1e-6;  ///< T_s, seconds a step
  double byte_s = 1e-10;     ///< T_c, seconds a byte (the default is 10 GB/s a channel)
  double hop_s = 0;          ///< T_h, seconds a hop
  double combine_s = 0;      ///< T_g, seconds a byte that is combined
  /// Model time of `count` steps, given the sums of L, H and G over them.
  double steps(double count, double channel_bytes, double route_hops, double combined_bytes = 0) const noexcept {
    return count * start_up_s + channel_bytes * byte_s + route_hops * hop_s + combined_bytes * combine_s;
  }
  double step(Bytes most_bytes_on_a_channel, std::uint64_t longest_route, Bytes most_combined = 0) const noexcept {
    return steps(1, static_cast<double>(most_bytes_on_a_channel), static_cast<double>(longest_route), static_cast<double>(most_combined));
  }
};

/// As many ports as the node with the most links has.
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

/// What every node of the machine knows: its topology, and the rules and costs of sending. Not changed once it is made.
struct Machine {
  /// Throws InputError on ports outside 1..max_ports() or a routing that is no permutation of the dimensions.
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

  bool all_port() const noexcept { return ports == topology.max_ports(); }
  bool ascending_routing() const noexcept;
};

std::string_view name(Switching switching) noexcept;
std::string_view name(Contention contention) noexcept;
/// Throw InputError on other words than packet, wormhole, circuit; forbid, share.
Switching parse_switching(std::string_view text);
Contention parse_contention(std::string_view text);

}  // namespace torus
