#include "algorithms/multinode_broadcast/joint_forecast.hpp"

#include <cmath>
#include <random>
#include <set>
#include <vector>

#include "algorithms/common/integers.hpp"
#include "algorithms/common/linked_dimensions.hpp"

namespace torus::multinode {

std::int32_t most_forecast_sources(const JointFrame& frame) noexcept {
  const NodeId nodes = frame.topology.nodes();
  const std::int32_t rounds = ceil_div(16, frame.shortest);
  return static_cast<std::int32_t>(std::min<NodeId>(nodes, static_cast<NodeId>(std::min(128, frame.shortest * rounds))));
}

JointForecast joint_forecast(const JointFrame& frame, double s) {
  if (s <= 0) return {};
  const NodeId nodes = frame.topology.nodes();
  const auto sources = static_cast<std::size_t>(std::min<double>(std::ceil(s), most_forecast_sources(frame)));
  const double more = std::ceil(s) / static_cast<double>(sources);
  const int sets = sources <= 16 ? 3 : 1;
  double steps = 0, blocks = 0;
  std::mt19937 random(1);
  for (int i = 0; i < sets; ++i) {
    std::set<NodeId> names;
    while (names.size() < sources) names.insert(static_cast<NodeId>(random() % nodes));
    const JointSchedule schedule = choose_joint_schedule(frame, std::vector<NodeId>(names.begin(), names.end()));
    const double gather = schedule.gather_steps() + schedule.share_steps();
    steps += gather + more * (static_cast<double>(schedule.steps()) - gather);
    blocks += more * schedule.channel_blocks();
  }
  return {static_cast<std::uint64_t>(std::lround(steps / sets)), blocks / sets * static_cast<double>(frame.bytes) / frame.segments()};
}

std::uint64_t most_joint_steps(const JointFrame& frame, double s) {
  if (s <= 0) return 0;
  const bool both = frame.ways == broadcast::Ways::both;
  const auto n = static_cast<std::uint64_t>(largest_extent(frame.topology));
  const std::uint64_t one = (frame.linked.size() + 1) * ceil_log(both ? 3 : 2, n);  // columns, rows of classes, and all other dimensions
  return static_cast<std::uint64_t>(std::ceil(s)) * one + std::min<std::uint64_t>(2, frame.linked.size()) * (both ? n / 2 : n - 1);
}

}  // namespace torus::multinode
