#include "algorithms/reduction/line_tree.hpp"

#include <algorithm>

#include "algorithms/common/linked_dimensions.hpp"

namespace torus::reduction {

LineTree::LineTree(const Machine& machine, NodeId root) {
  const Topology& topology = machine.topology;
  const std::vector<Dimension> dimensions = linked_dimensions(topology);
  for (auto d = dimensions.rbegin(); d != dimensions.rend(); ++d) {
    const std::int32_t n = topology.extent(*d);
    Line line{.dimension = *d, .extent = n, .root = topology.coordinate(root, *d), .wiring = topology.wiring(*d)};
    switch (line.wiring) {
      case Wiring::ring:
        line.up = machine.ports == 1 ? n - 1 : n / 2;
        line.down = n - 1 - line.up;
        break;
      case Wiring::line:
        line.up = n - 1 - line.root;
        line.down = line.root;
        break;
      case Wiring::complete:
        line.at_once = static_cast<std::uint32_t>(machine.ports);
        line.steps = (static_cast<std::uint32_t>(n) - 1 + line.at_once - 1) / line.at_once;
        break;
    }
    if (line.wiring != Wiring::complete) {
      const bool apart = machine.ports == 1 && line.up > 0 && line.down > 0;  // the last messages of both sides in different steps
      (line.up > line.down ? line.down_late : line.up_late) = apart ? 1 : 0;
      line.steps = static_cast<std::uint32_t>(
          std::max(line.up + static_cast<std::int32_t>(line.up_late), line.down + static_cast<std::int32_t>(line.down_late)));
    }
    lines_.push_back(line);
  }
}

std::uint32_t LineTree::all_steps() const noexcept {
  std::uint32_t sum = 0;
  for (const Line& line : lines_) sum += line.steps;
  return sum;
}

/// Places from the root's, + on its side up; in a complete dimension 0 .. n-1.
std::int32_t LineTree::offset(const Line& line, std::int32_t place) noexcept {
  if (line.wiring == Wiring::line) return place - line.root;
  const std::int32_t away = modulo(place - line.root, line.extent);
  return line.wiring == Wiring::ring && away > line.up ? away - line.extent : away;
}

bool LineTree::takes_part(const Topology& topology, NodeId node, std::uint32_t phase) const noexcept {
  return std::all_of(lines_.begin(), lines_.begin() + phase,
                     [&](const Line& line) { return topology.coordinate(node, line.dimension) == line.root; });
}

std::optional<LineTree::Move> LineTree::move(const Topology& topology, NodeId node, std::uint32_t phase) const noexcept {
  const Line& line = lines_[phase];
  const std::int32_t o = offset(line, topology.coordinate(node, line.dimension));
  if (o == 0) return std::nullopt;
  if (line.wiring == Wiring::complete) return Move{(static_cast<std::uint32_t>(o) - 1) / line.at_once, {line.dimension, line.extent - o}};
  const std::uint32_t late = o > 0 ? line.up_late : line.down_late;
  return Move{line.steps - late - static_cast<std::uint32_t>(std::abs(o)), {line.dimension, o > 0 ? -1 : +1}};
}

std::vector<NodeId> LineTree::children(const Topology& topology, NodeId node, std::uint32_t phase) const {
  const Line& line = lines_[phase];
  const std::int32_t o = offset(line, topology.coordinate(node, line.dimension));
  std::vector<NodeId> out;
  const auto add = [&](std::int32_t hops) { out.push_back(*topology.neighbour(node, line.dimension, hops)); };
  if (line.wiring == Wiring::complete) {
    for (std::int32_t away = 1; o == 0 && away < line.extent; ++away) add(away);
    return out;
  }
  if (o >= 0 && o < line.up) add(+1);
  if (o <= 0 && -o < line.down) add(-1);
  return out;
}

std::vector<NodeId> LineTree::subtree(const Topology& topology, NodeId node, std::uint32_t phase) const {
  const Line& line = lines_[phase];
  const std::int32_t place = topology.coordinate(node, line.dimension);
  const std::int32_t o = offset(line, place);
  const std::int32_t last = line.wiring == Wiring::complete ? o : o > 0 ? line.up : -line.down;
  const auto moved = [&topology](NodeId from, Dimension d, std::int32_t places) {
    return static_cast<NodeId>(std::int64_t{from} + std::int64_t{places} * topology.stride(d));
  };
  std::vector<NodeId> out;
  for (std::int32_t away = o;; away += o > 0 ? 1 : -1) {
    out.push_back(moved(node, line.dimension, modulo(line.root + away, line.extent) - place));
    if (away == last) break;
  }
  for (std::uint32_t before = 0; before < phase; ++before) {  // any place in the dimensions done, where the node is at the root's
    const Line& other = lines_[before];
    const std::size_t count = out.size();
    out.reserve(count * static_cast<std::size_t>(other.extent));
    for (std::int32_t to = 0; to < other.extent; ++to) {
      if (to == other.root) continue;
      for (std::size_t i = 0; i < count; ++i) out.push_back(moved(out[i], other.dimension, to - other.root));
    }
  }
  return out;
}

std::uint64_t LineTree::bundled() const noexcept {
  std::uint64_t sum = 0, nodes = 1;  // that a node at the root's places has collected
  for (const Line& line : lines_) {
    for (std::uint32_t step = 0; step < line.steps; ++step) {
      std::int64_t most = line.wiring == Wiring::complete ? 1 : 0;
      const auto side = [&](std::int32_t length, std::uint32_t late) {
        const std::int64_t away = std::int64_t{line.steps} - late - step;
        if (away >= 1 && away <= length) most = std::max(most, length - away + 1);
      };
      side(line.up, line.up_late);
      side(line.down, line.down_late);
      sum += static_cast<std::uint64_t>(most) * nodes;
    }
    nodes *= static_cast<std::uint64_t>(line.extent);
  }
  return sum;
}

std::uint64_t LineTree::received() const noexcept {
  std::uint64_t sum = 0;
  for (const Line& line : lines_) {
    if (line.wiring == Wiring::complete)
      sum += static_cast<std::uint64_t>(line.extent) - 1;
    else  // one a step, and in the last from both sides
      sum += line.steps + (line.up > 0 && line.down > 0 && line.up_late == 0 && line.down_late == 0 ? 1 : 0);
  }
  return sum;
}

}  // namespace torus::reduction
