/// Hops of routes: what plans sum over the steps to predict what a machine charges for the longest route of each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>

#include <torus/route.hpp>

#include "algorithms/common/segment.hpp"

namespace torus {

/// Channels that a route crosses.
inline std::int64_t hops_of(const Topology& topology, RouteView route) noexcept {
  std::int64_t hops = 0;
  for (const Leg& leg : route) hops += hops_of(topology, leg);
  return hops;
}

namespace segment {

/// One step of all holders of a line by the splitting rule, of whom it only matters how long their segments are. Calls f(child) for each
/// child of each different length and leaves the lengths after the step; two or three different ones, whatever the line.
template <class F>
void split_all(std::set<std::int32_t>& lengths, std::int32_t ports, F&& f) {
  std::set<std::int32_t> after;
  for (const std::int32_t length : lengths) {
    after.insert(split(length, ports, [&](const Child& child) {
      after.insert(child.length);
      f(child);
    }));
  }
  lengths = std::move(after);
}

}  // namespace segment
}  // namespace torus
