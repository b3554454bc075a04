#include "algorithms/multinode_broadcast/joint_swath/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "algorithms/common/integers.hpp"
#include "algorithms/common/shapes.hpp"

namespace torus::multinode_broadcast::joint_swath {
namespace {

using lines::LineSpread;
using lines::Ways;

/// Two blocks a piece where the classes are as many as the shortest ring allows, since a gather may split a piece; and of long parts more,
/// for shares. No block is empty that need not be, and the blocks of all nodes have room.
std::uint32_t blocks_of_part(Bytes bytes, std::uint32_t parts, std::uint32_t pieces, double copies) {
  constexpr std::uint64_t most = 64, most_of_shares = 128;
  constexpr Bytes long_block = 1024;
  const Bytes part = bytes / std::max(1U, parts);
  const std::uint64_t wish = std::max(std::min<std::uint64_t>(2 * std::uint64_t{pieces}, std::max<std::uint64_t>(most, pieces)),
                                      std::min<std::uint64_t>(most_of_shares, part / long_block / pieces * pieces));
  const std::uint64_t filled = std::max<std::uint64_t>(1, part);
  const auto room = static_cast<std::uint64_t>(std::max(1.0, static_cast<double>(most_blocks) / copies / std::max(1U, parts)));
  return static_cast<std::uint32_t>(std::min({wish, filled, room}));
}

/// The most nodes for which, if all are sources, the forecast is that of the schedule that they follow.
constexpr NodeId most_nodes_foreseen = 4096;

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

JointFrame::JointFrame(const Machine& machine, Bytes message, std::uint32_t pieces, double sources)
    : topology{machine.topology},
      form{machine},
      ways{machine.ports == 1 ? Ways::forward : Ways::both},
      linked{canonical_dimensions(machine)},
      parts{ways == Ways::forward ? 1 : static_cast<std::uint32_t>(machine.ports) / 2},
      shortest{largest_extent(machine.topology)},
      cost{machine.cost},
      bytes{message},
      h{pieces} {
  parts = std::min(parts, static_cast<std::uint32_t>(linked.size()));
  for (const Dimension d : linked) shortest = std::min(shortest, topology.extent(d));
  part_blocks = blocks_of_part(bytes, parts, h > 0 ? h : static_cast<std::uint32_t>(shortest), topology.nodes() * std::max(1.0, sources));
}

std::vector<std::int32_t> JointFrame::candidates() const {
  if (h > 0) return {static_cast<std::int32_t>(h)};
  std::vector<std::int32_t> found;
  const std::int32_t most = most_pieces();
  for (std::int32_t pieces = 1; pieces <= most; pieces += pieces < 8 ? 1 : pieces / (pieces < 24 ? 4 : 2)) found.push_back(pieces);
  for (std::int32_t sources = 1; sources <= 8; ++sources) found.push_back(std::clamp(shortest / sources, 1, most));
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::int32_t JointFrame::rounds(std::int32_t sources, std::int32_t pieces) const noexcept {
  return ceil_div(sources, std::max(1, shortest / pieces));
}

Bytes JointFrame::schedule_bytes(std::int32_t sources) const noexcept {
  constexpr Bytes at_once = 3;  // the best, another, and its rounds
  const auto most_rounds = static_cast<Bytes>(rounds(sources, h > 0 ? static_cast<std::int32_t>(h) : most_pieces()));
  Bytes sends = 0;  // of a round: a place of the rings lies in one class, and has a column at most
  for (std::uint32_t part = 0; part < parts; ++part) sends += 2 * static_cast<Bytes>(topology.extent(along(part, 0)));
  return at_once * most_rounds * sends * (sizeof(ScatterSend) + 2 * sizeof(std::int32_t));
}

JointSchedule::JointSchedule(const JointFrame& frame, std::span<const NodeId> sources, std::int32_t h, bool by_columns)
    : parts_{frame.parts}, part_blocks_{frame.part_blocks}, h_{h}, by_columns_{by_columns} {
  const auto s = static_cast<std::int32_t>(sources.size());
  const std::int32_t rounds = frame.rounds(s, h);
  at_once_ = std::max(1, ceil_div(s, std::max(1, rounds)));
  for (const Dimension d : frame.linked) {
    const std::int32_t n = frame.topology.extent(d);
    rows_.push_back(LineSpread::over_ring(n, frame.ways));
    shares_.emplace_back(n, n, frame.ways);
  }
  for (std::uint32_t part = 0; part < parts_; ++part)
    classes_.emplace_back(frame.topology.extent(frame.along(part, 0)), at_once_ * h, frame.ways);
  for (std::int32_t r = 0; r < rounds; ++r) {
    std::vector<NodeId> now;
    for (std::int32_t i = r; i < s; i += rounds) now.push_back(sources[static_cast<std::size_t>(i)]);
    rounds_.push_back(make_joint_round(frame, classes_, {h, by_columns, rounds > 4 ? 1U : 8U}, now));
  }
  for (std::size_t e = 0; e < rows_.size(); ++e) {
    row_steps_.push_back(0);
    for (std::uint32_t part = 0; part < parts_; ++part) row_steps_[e] = std::max(row_steps_[e], row(part, e).steps());
  }
  for (std::uint32_t part = 0; part < parts_ && !rounds_.empty(); ++part)
    gather_steps_ = std::max(gather_steps_, classes_[part].gather_steps());
}

JointSchedule JointSchedule::with_shares() const {
  JointSchedule schedule = *this;
  schedule.in_shares_ = true;
  for (std::uint32_t part = 0; part < parts_ && !rounds_.empty(); ++part)
    schedule.share_steps_ = std::max(schedule.share_steps_, shares(part).gather_steps());
  return schedule;
}

std::uint64_t JointSchedule::steps() const noexcept {
  std::uint64_t sum = std::uint64_t{gather_steps()} + share_steps(), rows = 0;
  for (std::size_t e = 1; e < rows_.size(); ++e) rows += row_steps(e);
  for (const Round& round : rounds_) sum += round.scatter_steps + rows;
  return sum;
}

double JointSchedule::row_blocks(double piece) const noexcept {
  double blocks = 0;
  for (std::size_t e = 1; e < rows_.size(); ++e) {
    std::vector<double> most(row_steps(e), 0);
    for (std::uint32_t part = 0; part < parts_; ++part) {
      const double share = in_shares_ ? std::ceil(piece / row(part, 1).places()) : piece;
      row(part, e).for_all_sends([&](Step step, const LineSpread::StretchSend& send) {
        const double shares = in_shares_ && e == 1 ? send.high - send.low + 1 : 1;
        most[step] = std::max(most[step], std::min(piece, shares * share));
      });
    }
    blocks = std::accumulate(most.begin(), most.end(), blocks);
  }
  return blocks;
}

double JointSchedule::gather_blocks(double piece) const noexcept {
  if (rounds_.empty()) return 0;
  std::vector<double> most(gather_steps(), 0), most_of_shares(share_steps(), 0);
  // Both ways a piece comes to the middle between two places that have it, by halves where the middle is a place.
  const auto take = [](const lines::RowClasses& classes, double whole, std::vector<double>& by_step) {
    const bool both = classes.ways() == Ways::both;
    const auto others = static_cast<std::size_t>(classes.longest_gap() - 1), full = both ? others / 2 : others;
    for (std::size_t step = 0; step < full; ++step) by_step[step] = std::max(by_step[step], whole);
    if (both && others % 2 == 1) by_step[full] = std::max(by_step[full], std::ceil(whole / 2));
  };
  for (std::uint32_t part = 0; part < parts_; ++part) {
    const double share = in_shares_ ? std::ceil(piece / row(part, 1).places()) : piece;
    take(classes_[part], share, most);
    if (in_shares_) take(shares(part), share * at_once_ * h_, most_of_shares);
  }
  return std::accumulate(most.begin(), most.end(), std::accumulate(most_of_shares.begin(), most_of_shares.end(), 0.0));
}

double JointSchedule::channel_blocks() const noexcept {
  const double piece = ceil_div(static_cast<std::int32_t>(part_blocks_), h_);
  double blocks = static_cast<double>(rounds_.size()) * (row_blocks(piece) + gather_blocks(piece));
  for (const Round& round : rounds_) {
    std::vector<std::size_t> most(round.scatter_steps);
    for (const ScatterSend& send : round.scatter) most[send.step] = std::max(most[send.step], send.pieces.size());
    for (const std::size_t pieces : most) blocks += piece * static_cast<double>(pieces);
  }
  return blocks;
}

JointSchedule::Blocks JointSchedule::cut(const Blocks& whole, std::int32_t i, std::int32_t n) const noexcept {
  const auto before = [&](std::int32_t parts) {
    return static_cast<std::uint32_t>(std::uint64_t{whole.count} * static_cast<std::uint32_t>(parts) / static_cast<std::uint32_t>(n));
  };
  return {whole.first + before(i), before(i + 1) - before(i)};
}

JointSchedule::Blocks JointSchedule::piece(NodeId source, std::uint32_t part, std::int32_t piece) const noexcept {
  return cut({(source * parts_ + part) * part_blocks_, part_blocks_}, piece, h_);
}

JointSchedule::Blocks JointSchedule::share(const Blocks& piece, std::uint32_t part, std::int32_t place) const noexcept {
  return cut(piece, place, row(part, 1).places());
}

JointSchedule choose_joint_schedule(const JointFrame& frame, std::span<const NodeId> names) {
  std::vector<NodeId> sources(names.begin(), names.end());
  std::sort(sources.begin(), sources.end(), [&](NodeId a, NodeId b) { return frame.form.inside(a) < frame.form.inside(b); });
  constexpr std::size_t most_weighed = 128;
  if (sources.size() <= most_weighed) return choose_among_all(frame, sources);
  std::vector<NodeId> some;
  for (std::size_t i = 0; i < most_weighed; ++i) some.push_back(sources[i * sources.size() / most_weighed]);
  const JointSchedule of_some = choose_among_all(frame, some);
  JointSchedule schedule(frame, sources, of_some.h(), of_some.by_columns());
  return of_some.in_shares() ? schedule.with_shares() : schedule;
}

std::int32_t most_forecast_sources(const JointFrame& frame, double s) noexcept {
  const NodeId nodes = frame.topology.nodes();
  if (s >= nodes && nodes <= most_nodes_foreseen) return static_cast<std::int32_t>(nodes);
  const std::int32_t rounds = ceil_div(16, frame.shortest);
  return static_cast<std::int32_t>(std::min<NodeId>(nodes, static_cast<NodeId>(std::min(128, frame.shortest * rounds))));
}

JointForecast joint_forecast(const JointFrame& frame, double s) {
  if (s <= 0) return {};
  const NodeId nodes = frame.topology.nodes();
  const double block = static_cast<double>(ceil_div(frame.bytes, Bytes{frame.segments()}));  // the longest
  if (s >= nodes && nodes <= most_nodes_foreseen) {
    std::vector<NodeId> all(nodes);
    std::iota(all.begin(), all.end(), NodeId{0});
    const JointSchedule schedule = choose_joint_schedule(frame, all);
    return {schedule.steps(), schedule.channel_blocks() * block};
  }
  const auto sources = static_cast<std::size_t>(std::min<double>(std::ceil(s), most_forecast_sources(frame, s)));
  const double more = std::ceil(s) / static_cast<double>(sources);
  const int sets = sources <= 16 ? 3 : 1;
  double steps = 0, blocks = 0;
  std::mt19937 random(1);
  for (int i = 0; i < sets; ++i) {
    std::set<NodeId> names;
    while (names.size() < sources) names.insert(frame.form.outside(static_cast<NodeId>(random() % nodes)));
    const JointSchedule schedule = choose_joint_schedule(frame, std::vector<NodeId>(names.begin(), names.end()));
    const double gather = schedule.gather_steps() + schedule.share_steps();
    steps += gather + more * (static_cast<double>(schedule.steps()) - gather);
    blocks += more * schedule.channel_blocks();
  }
  return {static_cast<std::uint64_t>(std::lround(steps / sets)), blocks / sets * block};
}

std::uint64_t most_joint_steps(const JointFrame& frame, double s) {
  if (s <= 0) return 0;
  const bool both = frame.ways == lines::Ways::both;
  const auto n = static_cast<std::uint64_t>(largest_extent(frame.topology));
  const std::uint64_t one = (frame.linked.size() + 1) * ceil_log(both ? 3 : 2, n);  // columns, rows of classes, and all other dimensions
  return static_cast<std::uint64_t>(std::ceil(s)) * one + std::min<std::uint64_t>(2, frame.linked.size()) * (both ? n / 2 : n - 1);
}

}  // namespace torus::multinode_broadcast::joint_swath
