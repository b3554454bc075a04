/// Multi-node broadcast of few sources: all nodes learn which nodes are sources, then all messages go out in one swath.
///
/// Once the sources are known (source_names.hpp), every node knows all of the rest. A message is cut in k parts, which work in different
/// dimensions at the same time (one port: one part), a part in h pieces. Along the part's first dimension the rows of the torus are dealt
/// into classes, as in `swath` (lines/deal.hpp): s h classes, a run of h for each source.
///   scatter   each source gives its pieces to the rows of its classes: on its own ring, or by columns (round.cpp)
///   rows      dimension by dimension each piece goes to all nodes of its rows (lines/spread.hpp)
///   gather    every node takes the pieces of the other classes from its neighbours
/// With shares, for long messages, each place along the rows' first dimension is given a share of the piece, and these are gathered last.
/// If there are more than fit, s h > the shortest ring, sources go out in rounds, with the gathers in common. h, the way of the scatter and
/// shares or not are those of the least model time for the sources that there are.
/// Machine  torus of any sides, wormhole in any routing order, any ports, no channel shared.
/// Memory   O(s) words a node beside its blocks, and a schedule of O(s h k) messages for all.
/// Steps    learn + rounds (scatter + sum over the dimensions but one of ceil(log_b n_d)) + gather. scatter = ceil(log_b (h c + 1)) where
///          no ring is shared, with c rows a class, at most s times as much. gather = about s h / 2, and with shares floor(n / 2) more.
///          b = 3. One port: b = 2, gather < s h, with shares n - 1 more.
/// Bytes    in units of m / (2k): about 1 + 2 (steps of the rows) / h + s, with shares about 1 + 1 / h + s. One port, in m: 1 + (steps of
///          the rows) / h + s, with shares 1 + 1 / h + s.
/// Header   the names.   Source  this project.

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/common/integers.hpp"
#include "algorithms/common/shapes.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"
#include "algorithms/multinode_broadcast/joint_swath/schedule.hpp"
#include "algorithms/multinode_broadcast/line_tree.hpp"
#include "algorithms/multinode_broadcast/source_names.hpp"
#include "algorithms/program_memory.hpp"

namespace torus::multinode_broadcast::joint_swath {
namespace {

using lines::LineSpread;
using lines::RowClasses;
using Round = JointSchedule::Round;

void add(Bundle& bundle, JointSchedule::Blocks blocks) { append(bundle, blocks.first, blocks.count); }

/// Halves of blocks, or all of them. Of several the first half and the second are the larger one in turn.
class TakenHalves {
 public:
  explicit TakenHalves(RowClasses::Share share) : share_{share} {}
  JointSchedule::Blocks of(JointSchedule::Blocks blocks) {
    const std::uint32_t half = (blocks.count + odd_) / 2;
    odd_ = 1 - odd_;
    if (share_ == RowClasses::Share::whole) return blocks;
    if (share_ == RowClasses::Share::first_half) return {blocks.first, half};
    return {blocks.first + half, blocks.count - half};
  }

 private:
  RowClasses::Share share_;
  std::uint32_t odd_ = 0;
};

/// One node's view of the schedule, which it knows from the names of the sources.
class JointView {
 public:
  JointView(Node& node, const JointFrame& known, const JointSchedule& found) : self{node}, frame{known}, schedule{found} {}

  Node& self;
  const JointFrame& frame;
  const JointSchedule& schedule;

  void scatter(const JointSchedule::Round& round, Step step) const;
  /// Along the dimensions along(part, e).
  void spread_along_row(const JointSchedule::Round& round, std::size_t e, Step step) const;
  /// Gives the neighbours what they take from here of the pieces, or of the shares.
  void gather(Step step) const;
  void gather_shares(Step step) const;

 private:
  /// What the node itself has, after the rows, of a piece that its row has.
  JointSchedule::Blocks kept(NodeId source, std::uint32_t part, std::int32_t piece) const;
  /// One step of a gather along(part, e). add_class(round, class, f) calls f(blocks) for what a class has of a round.
  template <class F>
  void give(std::uint32_t part, std::size_t e, const lines::RowClasses& classes, Step step, F&& add_class) const;
};

void JointView::scatter(const Round& round, Step step) const {
  const std::pair now(step, self.rank());
  auto send = std::lower_bound(round.scatter.begin(), round.scatter.end(), now,
                               [](const ScatterSend& a, const std::pair<Step, NodeId>& b) { return std::pair(a.step, a.from) < b; });
  for (; send != round.scatter.end() && std::pair(send->step, send->from) == now; ++send) {
    Bundle leaving;
    for (const std::int32_t piece : send->pieces) add(leaving, schedule.piece(send->source, send->part, piece));
    send_bundle(self, {send->leg}, leaving);
  }
}

JointSchedule::Blocks JointView::kept(NodeId source, std::uint32_t part, std::int32_t piece) const {
  const JointSchedule::Blocks all = schedule.piece(source, part, piece);
  return schedule.in_shares() ? schedule.share(all, part, self.coordinate(frame.along(part, 1))) : all;
}

void JointView::spread_along_row(const Round& round, std::size_t e, Step step) const {
  for (std::uint32_t part = 0; part < frame.parts; ++part) {
    const std::int32_t class_ = schedule.classes(part).class_of(self.coordinate(frame.along(part, 0)));
    const NodeId source = schedule.owner(round, part, class_);
    if (source == no_source) continue;
    const auto root = [&](std::size_t i) {
      return i == 1 ? round.holders[part][static_cast<std::size_t>(class_)] : frame.topology.coordinate(source, frame.along(part, i));
    };
    bool level = true;  // with the source, or the holder, in the dimensions to come
    for (std::size_t i = e + 1; i < frame.linked.size(); ++i) level = level && self.coordinate(frame.along(part, i)) == root(i);
    if (!level) continue;
    const Dimension d = frame.along(part, e);
    const std::int32_t n = self.extent(d), piece = class_ % schedule.h();
    const LineSpread& row = schedule.row(part, e);
    row.for_sends(modulo(self.coordinate(d) - root(e), n), step, [&](const LineSpread::StretchSend& send) {
      Bundle leaving;
      if (schedule.in_shares() && e == 1) {
        for (std::int32_t i = send.low; i <= send.high; ++i)
          add(leaving, schedule.share(schedule.piece(source, part, piece), part, modulo(root(e) + row.offset(i), n)));
      } else {
        add(leaving, kept(source, part, piece));
      }
      send_bundle(self, {{d, send.hops}}, leaving);
    });
  }
}

template <class F>
void JointView::give(std::uint32_t part, std::size_t e, const RowClasses& classes, Step step, F&& add_class) const {
  const Dimension d = frame.along(part, e);
  for (const std::int32_t direction : {+1, -1}) {
    const std::int32_t neighbour = modulo(self.coordinate(d) + direction, self.extent(d));
    const auto take = classes.taken(neighbour, -direction, static_cast<std::int32_t>(step) + 1);
    if (!take) continue;
    Bundle leaving;
    TakenHalves halves(take->share);
    for (const Round& round : schedule.rounds()) {
      add_class(round, take->piece, [&](JointSchedule::Blocks blocks) { add(leaving, halves.of(blocks)); });
    }
    send_bundle(self, {{d, direction}}, leaving);
  }
}

void JointView::gather(Step step) const {
  for (std::uint32_t part = 0; part < frame.parts; ++part) {
    give(part, 0, schedule.classes(part), step, [&](const Round& round, std::int32_t class_, auto&& add_blocks) {
      const NodeId source = schedule.owner(round, part, class_);
      if (source != no_source) add_blocks(kept(source, part, class_ % schedule.h()));
    });
  }
}

void JointView::gather_shares(Step step) const {
  for (std::uint32_t part = 0; part < frame.parts; ++part) {
    give(part, 1, schedule.shares(part), step, [&](const Round& round, std::int32_t place, auto&& add_blocks) {
      for (const NodeId source : round.owners[part]) {
        for (std::int32_t piece = 0; piece < schedule.h() && source != no_source; ++piece)
          add_blocks(schedule.share(schedule.piece(source, part, piece), part, place));
      }
    });
  }
}

/// A schedule that the first node to ask computes, and that others with the same names of sources share.
class SharedSchedule {
 public:
  /// None where the schedule is for other names.
  std::shared_ptr<const JointSchedule> of(const JointFrame& frame, const Bundle& names) {
    for (State now = state_.load(std::memory_order_acquire); now != State::ready; now = state_.load(std::memory_order_acquire)) {
      if (now == State::claimed) {
        state_.wait(State::claimed, std::memory_order_acquire);  // pairs with the release in leave()
      } else if (state_.compare_exchange_strong(now, State::claimed, std::memory_order_acquire)) {
        compute(frame, names);
      }
    }
    return names_ == names ? schedule_ : nullptr;
  }

 private:
  enum class State : int { empty, claimed, ready };

  void compute(const JointFrame& frame, const Bundle& names) {
    try {
      names_ = names;
      schedule_ = std::make_shared<const JointSchedule>(choose_joint_schedule(frame, names));
    } catch (...) {  // no memory: the next node tries again
      leave(State::empty);
      throw;
    }
    leave(State::ready);
  }
  void leave(State next) {
    state_.store(next, std::memory_order_release);
    state_.notify_all();
  }

  std::atomic<State> state_{State::empty};
  Bundle names_;
  std::shared_ptr<const JointSchedule> schedule_;
};

/// The schedules that the nodes of a run find from the names of the sources: one, unless a fault makes nodes disagree. It depends on the
/// frame and the names, which are compared, and on no earlier run.
class FoundSchedules {
 public:
  std::shared_ptr<const JointSchedule> of(const JointFrame& frame, const Bundle& names) {
    for (SharedSchedule& shared : shared_) {
      if (auto schedule = shared.of(frame, names)) return schedule;
    }
    return std::make_shared<const JointSchedule>(choose_joint_schedule(frame, names));
  }

 private:
  std::array<SharedSchedule, 4> shared_;  // more nodes that disagree compute their own
};

/// What every node knows beforehand.
struct Scheme {
  Scheme(const Machine& machine, const Request& request)
      : names{machine}, frame{machine, request.bytes, request.parameters.whole("h"), assumed_sources(machine, request)} {}

  SourceNames names;
  JointFrame frame;
  mutable FoundSchedules schedules;
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

constexpr std::string_view steps_in_words =
    "learn + s (k+1) ceil(log_b n) + 2 floor(n/2) at most, n the longest side, b = 3, one port: 2 and 2 (n-1); for few sources about "
    "learn + ceil(log_b (h+1)) + (k-1) ceil(log_b n) + s h / 2; learn as for swaths";

Plan plan(const Machine& machine, const Request& request) {
  const double s = assumed_sources(machine, request);
  const double most = most_sources(machine, request);
  const auto scheme = std::make_shared<const Scheme>(machine, request);
  const auto learning = scheme->names.steps();
  const JointForecast likely = joint_forecast(scheme->frame, s);
  Plan plan;
  plan.segments = scheme->frame.segments();
  plan.start = [scheme](Node& self) { return program(self, *scheme); };
  plan.node_bytes += scheme->names.frames(machine) + frames_of_calls(machine, [&](Node& self) {
                       const JointSchedule none(scheme->frame, {}, 1, false);
                       make(go_out(JointView(self, scheme->frame, none), {}));
                     });
  plan.steps = learning + most_joint_steps(scheme->frame, most);
  plan.steps_estimate = learning + likely.steps;
  plan.steps_exact = false;
  plan.formula = steps_in_words;
  plan.channel_bytes = 4.0 * s * static_cast<double>(learning) + likely.channel_bytes;
  plan.table_bytes = scheme->names.table_bytes() + scheme->frame.schedule_bytes(static_cast<std::int32_t>(request.sources.size()));
  plan.node_bytes += bytes_of_lists(1, request.sources.size());  // the names
  // Most blocks come to a node once. Those of several sources do not come at once.
  plan.message_bytes = std::max<Bytes>(bytes_of_messages(3), sizeof(BlockId) * plan.segments * (request.sources.size() + 1));
  plan.notes = {{"steps to learn the sources", std::to_string(learning)},
                {"sources assumed by the prediction", decimal(s)},
                {"sources assumed by the limit", decimal(most)}};
  return plan;
}

/// In each round the pieces go to all nodes of their rows, in every dimension but one.
Offer offer(const Machine& machine, const Request& request) {
  const std::uint64_t base = machine.ports == 1 ? 2 : 3;
  const auto longest = static_cast<std::uint64_t>(largest_extent(machine.topology));
  std::uint64_t rows = 0, shortest = longest;
  for (Dimension d = 0; d < machine.topology.dimensions(); ++d) {
    const auto extent = static_cast<std::uint64_t>(machine.topology.extent(d));
    rows += ceil_log(base, extent);
    if (extent > 1) shortest = std::min(shortest, extent);
  }
  const auto rounds = static_cast<std::uint64_t>(assumed_sources(machine, request)) / shortest;
  return {.steps = rounds * (rows - ceil_log(base, longest))};
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

/// The schedules that the forecast makes take it.
Bytes planning_bytes(const Machine& machine) {
  const JointFrame frame = longest_frame(machine);
  return frame.schedule_bytes(most_forecast_sources(frame, machine.topology.nodes()));
}

constexpr std::array parameters{Parameter{"h", "pieces that each part of a message is split into", {}, possible_pieces}};

constexpr std::array terms{Term{"n", "extent of the longest side"}, Term{"learn", "steps in which all nodes learn who is a source"},
                           Term{"s", "sources"}, Term{"h", "pieces that each part of a message is split into"},
                           Term{"b", "base of the logarithm: 3, with one port 2"}};

constexpr Algorithm joint_swath{
    .name = "joint-swath",
    .collective = Collective::multinode_broadcast,
    .source = "this project: the sources make themselves known, then one swath for all, its rows dealt to the sources",
    .shapes = "torus of any dimension, any sides; h up to the shortest ring",
    .steps = steps_in_words,
    .idea = {.first = "All nodes first learn which nodes are sources, and then each source scatters pieces of its message to rows of its "
                      "own among the rows of the torus.",
             .then = "All rows spread their pieces along themselves at the same time, and in the end each node takes the pieces of the "
                     "other rows from its neighbours.",
             .good = "One swath serves many sources at once, so that a few more sources take hardly more steps; where they have more "
                     "pieces than there are rows, they go in rounds."},
    .terms = terms,
    .native = {},
    .needs = {.shape = Requirements::Shape::torus, .switching = Switching::wormhole},
    .parameters = parameters,
    .also_requires = also_requires,
    .plan = plan,
    .offer = offer,
    .planning_bytes = planning_bytes,
};

}  // namespace

extern const Entries entries{joint_swath};

}  // namespace torus::multinode_broadcast::joint_swath
