/// Which schedule `joint-swath` takes, and what is to be expected of it.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "algorithms/common/integers.hpp"
#include "algorithms/common/shapes.hpp"
#include "algorithms/multinode_broadcast/joint_swath/schedule.hpp"

namespace torus::multinode_broadcast::joint_swath {
namespace {

JointSchedule choose_among_all(const JointFrame& frame, std::span<const NodeId> sources) {
  const double block = static_cast<double>(frame.bytes) / frame.segments();
  std::optional<JointSchedule> best;
  double least = std::numeric_limits<double>::infinity();
  const auto consider = [&](JointSchedule schedule) {
    const double time = frame.cost.steps(static_cast<double>(schedule.steps()), schedule.channel_blocks() * block, 0);
    if (best && time >= least) return;
    least = time;
    best = std::move(schedule);
  };
  for (const std::int32_t h : frame.candidates()) {
    for (const bool by_columns : {false, true}) {
      if (by_columns && frame.linked.size() < 2) continue;
      JointSchedule schedule(frame, sources, h, by_columns);
      const std::int64_t shares = std::int64_t{h} * frame.shortest;  // that are not without a block
      if (frame.linked.size() > 1 && shares <= std::int64_t{frame.part_blocks}) consider(schedule.with_shares());
      consider(std::move(schedule));
    }
  }
  return std::move(*best);
}

}  // namespace

JointSchedule choose_joint_schedule(const JointFrame& frame, std::span<const NodeId> sources) {
  constexpr std::size_t most_weighed = 128;
  if (sources.size() <= most_weighed) return choose_among_all(frame, sources);
  std::vector<NodeId> some;
  for (std::size_t i = 0; i < most_weighed; ++i) some.push_back(sources[i * sources.size() / most_weighed]);
  const JointSchedule of_some = choose_among_all(frame, some);
  JointSchedule schedule(frame, sources, of_some.h(), of_some.by_columns());
  return of_some.in_shares() ? schedule.with_shares() : schedule;
}

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
  const bool both = frame.ways == lines::Ways::both;
  const auto n = static_cast<std::uint64_t>(largest_extent(frame.topology));
  const std::uint64_t one = (frame.linked.size() + 1) * ceil_log(both ? 3 : 2, n);  // columns, rows of classes, and all other dimensions
  return static_cast<std::uint64_t>(std::ceil(s)) * one + std::min<std::uint64_t>(2, frame.linked.size()) * (both ? n / 2 : n - 1);
}

}  // namespace torus::multinode_broadcast::joint_swath
