#include "algorithms/multinode_broadcast/shared_scatter.hpp"

#include <algorithm>
#include <utility>

namespace torus::multinode {
namespace {

using broadcast::LineSpread;

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

}  // namespace

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
      tree.for_sends(offset, step, [&](const LineSpread::Send& send) {
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

std::vector<NodeId> deal_runs(const SharedLines& lines, std::uint32_t part, std::span<const NodeId> sources, std::size_t rotations) {
  std::vector<NodeId> order(sources.begin(), sources.end());
  std::sort(order.begin(), order.end(), [&](NodeId a, NodeId b) {
    return std::pair(lines.topology.coordinate(a, lines.along), a) < std::pair(lines.topology.coordinate(b, lines.along), b);
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

}  // namespace torus::multinode
