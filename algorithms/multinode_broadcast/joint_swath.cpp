#include "algorithms/multinode_broadcast/joint_swath.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <utility>

#include "algorithms/multinode_broadcast/forecast.hpp"
#include "algorithms/multinode_broadcast/joint_forecast.hpp"
#include "algorithms/multinode_broadcast/joint_schedule.hpp"
#include "algorithms/multinode_broadcast/joint_sends.hpp"
#include "algorithms/multinode_broadcast/source_names.hpp"

namespace torus::multinode {
namespace {

/// The schedules that the nodes of a run find from the names of the sources. All find the same, unless a fault struck: the first computes
/// it. It depends on the frame and the names, which are compared, and on no earlier run.
class Schedules {
 public:
  std::shared_ptr<const JointSchedule> of(const JointFrame& frame, const Bundle& sources) {
    const std::lock_guard lock(mutex_);
    for (const auto& [names, schedule] : found_) {
      if (names == sources) return schedule;
    }
    constexpr std::size_t most = 4;  // kept, of nodes that disagree
    if (found_.size() == most) found_.pop_front();
    return found_.emplace_back(sources, std::make_shared<const JointSchedule>(choose_joint_schedule(frame, sources))).second;
  }

 private:
  std::mutex mutex_;  // of the workers that miss the same schedule
  std::deque<std::pair<Bundle, std::shared_ptr<const JointSchedule>>> found_;
};

/// What every node knows beforehand.
struct Scheme {
  Scheme(const Machine& machine, const Request& request)
      : names{machine}, frame{machine, request.bytes, request.parameters.whole("h"), assumed_sources(machine, request)} {}

  SourceNames names;
  JointFrame frame;
  mutable Schedules schedules;
};

Program go_out(const JointView view, const JointSchedule::Round& round) {
  Node& self = view.self;
  for (Step step = 0; step < round.scatter_steps; ++step) {
    self.phase("scatter");
    view.scatter(round, step);
    co_await self.step();
  }
  for (std::size_t e = 1; e < view.frame.linked.size(); ++e) {
    for (Step step = 0; step < view.schedule.row_steps(e); ++step) {
      self.phase("rows");
      view.spread_along_row(round, e, step);
      co_await self.step();
    }
  }
}

Program program(Node& self, const Scheme& scheme) {
  Bundle sources;
  co_await learn_sources(self, scheme.names, sources);
  if (sources.empty()) co_return;
  const std::shared_ptr<const JointSchedule> schedule = scheme.schedules.of(scheme.frame, sources);
  const JointView view(self, scheme.frame, *schedule);
  for (const JointSchedule::Round& round : schedule->rounds()) co_await go_out(view, round);
  for (Step step = 0; step < schedule->gather_steps(); ++step) {
    self.phase("gather pieces");
    view.gather(step);
    co_await self.step();
  }
  for (Step step = 0; step < schedule->share_steps(); ++step) {
    self.phase("gather shares");
    view.gather_shares(step);
    co_await self.step();
  }
}

Plan plan(const Machine& machine, const Request& request) {
  const double s = assumed_sources(machine, request);
  const double most = most_sources(machine, request);
  const auto scheme = std::make_shared<const Scheme>(machine, request);
  const auto learning = scheme->names.steps();
  const JointForecast likely = joint_forecast(scheme->frame, s);
  Plan plan;
  plan.segments = scheme->frame.segments();
  plan.start = [scheme](Node& self) { return program(self, *scheme); };
  plan.steps = learning + most_joint_steps(scheme->frame, most);
  plan.steps_estimate = learning + likely.steps;
  plan.steps_exact = false;
  plan.formula = joint_swath.steps;
  plan.channel_bytes = 4.0 * s * static_cast<double>(learning) + likely.channel_bytes;
  plan.table_bytes = scheme->names.table_bytes() + scheme->frame.schedule_bytes(static_cast<std::int32_t>(request.sources.size()));
  plan.node_bytes = (4 + 2 * plan.segments) * sizeof(BlockId) * request.sources.size();
  plan.notes = {{"steps to learn the sources", std::to_string(learning)},
                {"sources assumed by the prediction", decimal(s)},
                {"sources assumed by the limit", decimal(most)}};
  return plan;
}

/// For a message as long as any.
JointFrame longest_frame(const Machine& machine) { return {machine, ~Bytes{0}, 0, 1}; }

std::vector<std::uint32_t> possible_pieces(const Machine& machine) {
  std::vector<std::uint32_t> found(static_cast<std::size_t>(longest_frame(machine).shortest));
  std::iota(found.begin(), found.end(), 1U);
  return found;
}

std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  const std::uint32_t h = request.parameters.whole("h"), most = static_cast<std::uint32_t>(longest_frame(machine).shortest);
  if (h <= most) return std::nullopt;
  return Refusal{Refusal::About::parameter, std::to_string(h), "joint-swath has at most as many pieces as the shortest ring has nodes",
                 std::to_string(most), "h"};
}

/// Of the schedules that the forecast makes.
Bytes planning_bytes(const Machine& machine) {
  const JointFrame frame = longest_frame(machine);
  return frame.schedule_bytes(most_forecast_sources(frame));
}

constexpr std::array parameters{Parameter{"h", "pieces that each part of a message is split into", {}, possible_pieces}};

}  // namespace

const Algorithm joint_swath{
    .name = "joint-swath",
    .collective = Collective::multinode_broadcast,
    .source = "this project: the sources make themselves known, then one swath for all, its rows dealt to the sources",
    .shapes = "torus of any dimension, any sides; h up to the shortest ring",
    .steps =
        "learn + s (k+1) ceil(log_b n) + 2 floor(n/2) at most, n the longest side, b = 3, one port: 2 and 2 (n-1); for few sources about "
        "learn + ceil(log_b (h+1)) + (k-1) ceil(log_b n) + s h / 2; learn as for swaths",
    .native = {},
    .needs = {.shape = Requirements::Shape::torus, .switching = Switching::wormhole},
    .parameters = parameters,
    .also_requires = also_requires,
    .plan = plan,
    .planning_bytes = planning_bytes,
};

}  // namespace torus::multinode
