#include "algorithms/multinode_broadcast/joint_round.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace torus::multinode {
namespace {

using broadcast::RowClasses;

/// The rows of each class.
SharedLines rows_of(const JointFrame& frame, std::uint32_t part, const RowClasses& classes, std::int32_t h) {
  SharedLines rows{frame.topology, frame.ways, frame.along(part, 0), {}, h};
  for (std::int32_t class_ = 0; class_ < classes.classes(); ++class_) rows.places.push_back(classes.places_of(class_));
  return rows;
}

/// A column for each class.
SharedLines columns_of(const JointFrame& frame, std::uint32_t part, std::int32_t classes, std::int32_t h) {
  SharedLines columns{frame.topology, frame.ways, frame.along(part, 1), {}, h};
  const std::int64_t n = frame.topology.extent(columns.along);
  for (std::int32_t class_ = 0; class_ < classes; ++class_) columns.places.push_back({static_cast<std::int32_t>(class_ * n / classes)});
  return columns;
}

/// The first class of a source's run.
std::int32_t first_class(const std::vector<NodeId>& owners, NodeId source, std::int32_t h) {
  return static_cast<std::int32_t>(std::find(owners.begin(), owners.end(), source) - owners.begin()) * h;
}

Step steps_of(const std::vector<ScatterSend>& sends) {
  Step steps = 0;
  for (const ScatterSend& send : sends) steps = std::max(steps, send.step + 1);
  return steps;
}

/// From the columns to the rows: piece by piece.
std::vector<ScatterSend> columns_to_rows(const SharedLines& rows, std::uint32_t part, std::span<const NodeId> owners,
                                         const SharedLines& columns, std::span<const std::int32_t> holders) {
  std::vector<ScatterSend> sends;
  RingTimetable timetable(rows.topology.extent(rows.along));
  for (std::size_t class_ = 0; class_ < holders.size(); ++class_) {
    const NodeId source = owners[class_ / static_cast<std::size_t>(rows.h)];
    if (source == no_source) continue;
    const std::int32_t hops = holders[class_] - rows.topology.coordinate(source, columns.along);
    const NodeId holder = *rows.topology.neighbour(source, columns.along, hops);
    add_scatter(rows, {source, holder, part, static_cast<std::int32_t>(class_), 1}, timetable, sends);
  }
  return sends;
}

}  // namespace

JointRound make_joint_round(const JointFrame& frame, std::span<const RowClasses> classes, const JointWay& way,
                            std::span<const NodeId> sources) {
  const std::int32_t h = way.h;
  JointRound round;
  std::vector<ScatterSend> later;  // from the columns
  for (std::uint32_t part = 0; part < frame.parts; ++part) {
    const SharedLines rows = rows_of(frame, part, classes[part], h);
    const std::vector<NodeId>& owners = round.owners.emplace_back(deal_runs(rows, part, sources, way.rotations));
    std::vector<std::int32_t>& holders = round.holders.emplace_back(rows.places.size(), 0);
    std::vector<ScatterSend> sends;
    if (way.by_columns) {
      const SharedLines columns = columns_of(frame, part, classes[part].classes(), h);
      const std::vector<NodeId> column_owners = deal_runs(columns, part, sources, way.rotations);
      for (const NodeId source : sources) {
        const std::int32_t row = first_class(owners, source, h), column = first_class(column_owners, source, h);
        for (std::int32_t piece = 0; piece < h; ++piece)
          holders[static_cast<std::size_t>(row + piece)] = columns.places[static_cast<std::size_t>(column + piece)].front();
      }
      sends = shared_scatter(columns, part, column_owners);
      std::vector<ScatterSend> to_rows = columns_to_rows(rows, part, owners, columns, holders);
      std::move(to_rows.begin(), to_rows.end(), std::back_inserter(later));
    } else {
      for (std::size_t class_ = 0; class_ < holders.size() && frame.linked.size() > 1; ++class_) {
        const NodeId source = owners[class_ / static_cast<std::size_t>(h)];
        if (source != no_source) holders[class_] = frame.topology.coordinate(source, frame.along(part, 1));
      }
      sends = shared_scatter(rows, part, owners);
    }
    std::move(sends.begin(), sends.end(), std::back_inserter(round.scatter));
  }
  const Step first = steps_of(round.scatter);
  for (ScatterSend& send : later) send.step += first;
  std::move(later.begin(), later.end(), std::back_inserter(round.scatter));
  round.scatter_steps = steps_of(round.scatter);
  std::stable_sort(round.scatter.begin(), round.scatter.end(),
                   [](const ScatterSend& a, const ScatterSend& b) { return std::pair(a.step, a.from) < std::pair(b.step, b.from); });
  return round;
}

}  // namespace torus::multinode
