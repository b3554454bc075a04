/// Plays a circuit schedule on the bare rules of the machine, without payload: fast enough for thousands of shapes.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "algorithms/broadcast/circuit/schedule.hpp"

namespace torus::support {

struct Judgement {
  std::string violation;         ///< the first one; empty if none
  std::vector<NodeId> informed;  ///< at the end, ascending
  std::uint64_t idle_steps = 0;
  std::uint64_t messages = 0;
  std::uint64_t hops = 0;
};

/// Places stand for ranks: the root is node 0, and a torus looks alike from everywhere.
inline Judgement judge(const Topology& topology, std::int32_t ports, const broadcast::CircuitSchedule& schedule,
                       std::vector<NodeId> informed = {0}) {
  Judgement result;
  const NodeId nodes = topology.nodes();
  std::vector<bool> has(nodes, false);
  for (const NodeId node : informed) has[node] = true;
  std::vector<std::uint32_t> channel(static_cast<std::size_t>(nodes) * static_cast<std::size_t>(std::max(1, topology.channel_slots())), 0);
  std::vector<std::uint32_t> received_in(nodes, 0);
  std::vector<std::int32_t> received(nodes, 0);
  for (std::uint32_t step = 0; step < schedule.steps(); ++step) {
    std::vector<NodeId> fresh;
    bool traffic = false;
    const auto offend = [&](const std::string& what, NodeId node) {
      if (result.violation.empty())
        result.violation = what + " in step " + std::to_string(step) + " (" + schedule.phase(step) + ") at node " + std::to_string(node);
    };
    for (const NodeId from : informed) {
      std::int32_t sent = 0;
      schedule.rule(step).routes(topology.coordinates(from), [&](RouteView route) {
        traffic = true;
        ++result.messages;
        if (++sent > ports) offend("too many sends", from);
        NodeId at = from;
        for (const Leg& leg : route) {
          for (std::int32_t h = 0; h < std::abs(leg.hops); ++h) {
            const std::int32_t direction = leg.hops > 0 ? 1 : -1;
            std::uint32_t& stamp = channel[static_cast<std::size_t>(at) * static_cast<std::size_t>(topology.channel_slots()) +
                                           static_cast<std::size_t>(topology.slot(leg.dimension, direction))];
            if (stamp == step + 1) offend("channel used twice", at);
            stamp = step + 1;
            at = topology.neighbour(at, leg.dimension, direction).value();
            ++result.hops;
          }
        }
        if (at == from) offend("route to itself", from);
        if (received_in[at] != step + 1) {
          received_in[at] = step + 1;
          received[at] = 0;
        }
        if (++received[at] > ports) offend("too many receives", at);
        if (!has[at]) fresh.push_back(at);
        has[at] = true;
      });
    }
    if (!traffic) ++result.idle_steps;
    informed.insert(informed.end(), fresh.begin(), fresh.end());
  }
  std::sort(informed.begin(), informed.end());
  result.informed = std::move(informed);
  return result;
}

}  // namespace torus::support
