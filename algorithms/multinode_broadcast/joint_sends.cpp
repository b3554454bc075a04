#include "algorithms/multinode_broadcast/joint_sends.hpp"

#include <utility>

#include "algorithms/multinode_broadcast/bundle.hpp"

namespace torus::multinode {
namespace {

using broadcast::LineSpread;
using broadcast::RowClasses;
using Round = JointSchedule::Round;

void add(Bundle& bundle, JointSchedule::Blocks blocks) { append(bundle, blocks.first, blocks.count); }

/// Halves of blocks, or all of them. Of several the first half and the second are the larger one in turn.
class Halves {
 public:
  explicit Halves(RowClasses::Share share) : share_{share} {}
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

}  // namespace

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
    row.for_sends(modulo(self.coordinate(d) - root(e), n), step, [&](const LineSpread::Send& send) {
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
    Halves halves(take->share);
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

}  // namespace torus::multinode
