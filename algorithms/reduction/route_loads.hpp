/// How many messages cross the fullest channel of a step.
#pragma once

#include <cstdint>
#include <vector>

#include <torus/machine.hpp>
#include <torus/route.hpp>

namespace torus::reduction {

/// Counts the routes of a step over every channel. A leg takes the same time however long it is: what crosses a channel is counted where it
/// begins and where it ends, and summed up along each line at the end.
class RouteLoads {
 public:
  explicit RouteLoads(const Topology& topology);
  static Bytes bytes(const Topology& topology) noexcept;

  void add(NodeId from, RouteView route);
  /// Of the fullest channel. The next step begins with empty channels.
  std::uint64_t most_and_clear();

 private:
  std::int32_t& change(NodeId node, std::int32_t slot) noexcept {
    return changes_[static_cast<std::size_t>(node) * static_cast<std::size_t>(topology_->channel_slots()) + static_cast<std::size_t>(slot)];
  }
  std::int32_t most_of_line(NodeId first, Dimension d, std::int32_t direction);

  const Topology* topology_;
  std::vector<std::int32_t> changes_;  // by node and slot: of a complete dimension the load itself, else its change from the place before
};

}  // namespace torus::reduction
