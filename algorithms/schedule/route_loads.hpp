/// What crosses the fullest channel of a step, and how far its messages go.
#pragma once

#include <cstdint>
#include <vector>

#include <torus/machine.hpp>
#include <torus/route.hpp>

namespace torus {

/// Counts the routes of a step over every channel. A leg takes the same time however long it is: what crosses a channel is counted where it
/// begins and where it ends, and summed up along each line at the end.
class RouteLoads {
 public:
  explicit RouteLoads(const Topology& topology);
  static Bytes bytes(const Topology& topology) noexcept;

  /// A message, which counts as so many: a whole number, as messages or bytes are.
  void add(NodeId from, RouteView route, double weight = 1);
  struct StepLoad {
    double most = 0;         ///< on a channel
    std::uint64_t hops = 0;  ///< of the longest route
  };
  /// The next step begins with empty channels.
  StepLoad end_step();

 private:
  double& change(NodeId node, std::int32_t slot) noexcept {
    return changes_[static_cast<std::size_t>(node) * static_cast<std::size_t>(topology_->channel_slots()) + static_cast<std::size_t>(slot)];
  }
  double most_of_line(NodeId first, Dimension d, std::int32_t direction);

  const Topology* topology_;
  std::int32_t longest_ = 0;     // route
  std::vector<double> changes_;  // by node and slot: of a complete dimension the load itself, else its change from the place before
};

}  // namespace torus
