/// Which schedule `joint-swath` takes.
#include <limits>
#include <optional>
#include <utility>

#include "algorithms/multinode_broadcast/joint_schedule.hpp"

namespace torus::multinode {
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

}  // namespace torus::multinode
