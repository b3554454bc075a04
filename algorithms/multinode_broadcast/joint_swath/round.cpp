/// The rounds of `joint-swath`: scatters of several sources along the rings of one dimension, where some may share a ring.
///
/// Each source scatters its pieces over its own ring in the tree of LineSpread. Its worms enter one after the other, a parent's before its
/// children's, each in the first step in which all of its way is free. So the scatters of different rings take place at once, and those of
/// one ring as far as their ways allow: they take no more steps than one after the other. All nodes that know the sources find the same.
#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "algorithms/multinode_broadcast/joint_swath/schedule.hpp"

namespace torus::multinode_broadcast::joint_swath {
namespace {

using lines::LineSpread;
using lines::RowClasses;

/// Which channels of the rings along a dimension are taken when.
class RingTimetable {
 public:
  explicit RingTimetable(std::int32_t n) noexcept : n_{n} {}
  /// The first step, `ready` or later, in which a worm finds its way free. From then on it is taken.
  Step enter(NodeId ring, std::int32_t from, std::int32_t hops, Step ready);

 private:
  std::int32_t n_;
  std::map<NodeId, std::vector<std::vector<bool>>> taken_;  // by ring, step, and channel
};

Step RingTimetable::enter(NodeId ring, std::int32_t from, std::int32_t hops, Step ready) {
  std::vector<std::vector<bool>>& steps = taken_[ring];
  const auto channel = [&](std::int32_t hop) {
    return static_cast<std::size_t>(hops > 0 ? 2 * modulo(from + hop, n_) : 2 * modulo(from - hop, n_) + 1);
  };
  const std::int32_t length = hops > 0 ? hops : -hops;
  for (Step step = ready;; ++step) {
    if (steps.size() <= step) steps.resize(step + std::size_t{1}, std::vector<bool>(2 * static_cast<std::size_t>(n_)));
    std::vector<bool>& taken = steps[step];
    bool free = true;
    for (std::int32_t hop = 0; hop < length && free; ++hop) free = !taken[channel(hop)];
    if (!free) continue;
    for (std::int32_t hop = 0; hop < length; ++hop) taken[channel(hop)] = true;
    return step;
  }
}

/// The places along a dimension to which pieces go, by class. A run of h classes serves one source.
struct SharedLines {
  const Topology& topology;
  lines::Ways ways;
  Dimension along;
  std::vector<std::vector<std::int32_t>> places;
  std::int32_t h;

  std::int32_t runs() const noexcept { return static_cast<std::int32_t>(places.size()) / h; }
};

/// Pieces of a source that leave a node for the places of as many classes.
struct Leaving {
  NodeId source, from;
  std::uint32_t part;
  std::int32_t first_class, classes;
};

/// Adds the sends of one tree to a timetable and a list.
void add_scatter(const SharedLines& lines, const Leaving& leaving, RingTimetable& timetable, std::vector<ScatterSend>& sends) {
  const std::int32_t n = lines.topology.extent(lines.along), home = lines.topology.coordinate(leaving.from, lines.along);
  const auto at = [&](std::int32_t offset) { return *lines.topology.neighbour(leaving.from, lines.along, offset); };
  std::vector<std::int32_t> offsets, piece_at(static_cast<std::size_t>(n), -1);
  for (std::int32_t i = leaving.first_class; i < leaving.first_class + leaving.classes; ++i) {
    for (const std::int32_t place : lines.places[static_cast<std::size_t>(i)]) {
      offsets.push_back(modulo(place - home, n));
      piece_at[static_cast<std::size_t>(offsets.back())] = i % lines.h;
    }
  }
  std::sort(offsets.begin(), offsets.end());
  const LineSpread tree(offsets, n, lines.ways);
  std::vector<Step> ready(static_cast<std::size_t>(n), 0);  // by offset: when its pieces have come
  for (Step step = 0; step < tree.steps(); ++step) {
    for (std::int32_t index = 0; index < tree.places(); ++index) {
      const std::int32_t offset = modulo(tree.offset(index), n);
      tree.for_sends(offset, step, [&](const LineSpread::StretchSend& send) {
        const Step enters = timetable.enter(at(-home), modulo(home + offset, n), send.hops, ready[static_cast<std::size_t>(offset)]);
        ready[static_cast<std::size_t>(modulo(offset + send.hops, n))] = enters + 1;
        std::vector<std::int32_t> pieces;
        for (std::int32_t served = send.low; served <= send.high; ++served)
          pieces.push_back(piece_at[static_cast<std::size_t>(modulo(tree.offset(served), n))]);
        std::sort(pieces.begin(), pieces.end());
        pieces.erase(std::unique(pieces.begin(), pieces.end()), pieces.end());
        sends.push_back({enters, at(offset), {lines.along, send.hops}, leaving.source, leaving.part, std::move(pieces)});
      });
    }
  }
}

/// The scatters of all sources, each from itself to its run. owners: by run, a source or no_source.
std::vector<ScatterSend> shared_scatter(const SharedLines& lines, std::uint32_t part, std::span<const NodeId> owners) {
  std::vector<ScatterSend> sends;
  RingTimetable timetable(lines.topology.extent(lines.along));
  for (std::size_t run = 0; run < owners.size(); ++run) {
    const NodeId source = owners[run];
    if (source != no_source)
      add_scatter(lines, {source, source, part, static_cast<std::int32_t>(run) * lines.h, lines.h}, timetable, sends);
  }
  return sends;
}

/// The steps, and the sum over them of the most pieces in a message.
std::pair<std::size_t, std::size_t> length_of(const std::vector<ScatterSend>& sends) {
  std::vector<std::size_t> most;
  for (const ScatterSend& send : sends) {
    if (most.size() <= send.step) most.resize(send.step + std::size_t{1});
    most[send.step] = std::max(most[send.step], send.pieces.size());
  }
  std::size_t sum = 0;
  for (const std::size_t pieces : most) sum += pieces;
  return {most.size(), sum};
}

/// A run for each of at most runs() sources: in the order in which they stand along the dimension, so that what shares a ring crosses
/// little. Tries `rotations` of that order, and takes the one with the shortest scatter.
std::vector<NodeId> deal_runs(const SharedLines& lines, std::uint32_t part, std::span<const NodeId> sources, std::size_t rotations) {
  std::vector<NodeId> order(sources.begin(), sources.end());
  std::stable_sort(order.begin(), order.end(), [&](NodeId a, NodeId b) {
    return lines.topology.coordinate(a, lines.along) < lines.topology.coordinate(b, lines.along);
  });
  order.resize(static_cast<std::size_t>(lines.runs()), no_source);
  if (rotations < 2 || order.size() < 2) return order;
  const std::size_t stride = (order.size() + rotations - 1) / rotations;
  std::vector<NodeId> best = order;
  auto shortest = length_of(shared_scatter(lines, part, order));
  for (std::size_t places = stride; places < order.size(); places += stride) {
    std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(stride), order.end());
    const auto length = length_of(shared_scatter(lines, part, order));
    if (length >= shortest) continue;
    shortest = length;
    best = order;
  }
  return best;
}

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

}  // namespace torus::multinode_broadcast::joint_swath
