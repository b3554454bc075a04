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

/// Two messages over one channel in one step: a violation, or allowed and charged for by the model time.
enum class Contention : std::uint8_t { forbid, share };

/// The model time of a step is start_up_s + L * byte_s + H * hop_s: L the most bytes on one channel, H the hops of the longest route.
struct CostModel {
  double start_up_s = 1e-6;  ///< T_s, seconds a step
  double byte_s = 1e-10;     ///< T_c, seconds a byte (the default is 10 GB/s a channel)
  double hop_s = 0;          ///< T_h, seconds a hop
  /// Seconds that steps take: how many they are; the sum over them of the most bytes on a channel; the sum of the hops of the longest
  /// route.
  double steps(double count, double channel_bytes, double route_hops) const noexcept {
    return count * start_up_s + channel_bytes * byte_s + route_hops * hop_s;
  }
  double step(Bytes most_bytes_on_a_channel, std::uint64_t longest_route) const noexcept {
    return steps(1, static_cast<double>(most_bytes_on_a_channel), static_cast<double>(longest_route));
  }
};

/// An immutable value: what every node of the machine knows.
struct Machine {
  /// Ports 0 means all of them; routing empty means ascending. Throws InputError on ports outside 1..max_ports() or a routing that is no
  /// permutation of the dimensions.
  explicit Machine(Topology shape, int port_count = 0, Switching switching_mode = Switching::wormhole,
                   Contention contention_rule = Contention::forbid, std::vector<Dimension> routing_order = {}, CostModel costs = {});

  Topology topology;
  int ports;  ///< messages a node may send, and receive, in one step
  Switching switching;
  Contention contention;
  std::vector<Dimension> routing;  ///< wormhole: the order in which dimensions are routed
  CostModel cost;

  bool all_port() const noexcept { return ports == topology.max_ports(); }
  bool ascending_routing() const noexcept;
};

std::string_view name(Switching switching) noexcept;
std::string_view name(Contention contention) noexcept;
/// Throw InputError on another word than packet, wormhole, circuit; forbid, share.
Switching parse_switching(std::string_view text);
Contention parse_contention(std::string_view text);

}  // namespace torus
