#include "algorithms/multinode_broadcast/count.hpp"

#include "algorithms/multinode_broadcast/bundle.hpp"

namespace torus::multinode_broadcast {
namespace {

/// Whether a node takes part along an axis: in all earlier ones it stands where their sums went.
bool takes_part(const Node& self, std::span<const Dimension> axes, std::span<const LineTree> trees, std::size_t axis) {
  for (std::size_t earlier = 0; earlier < axis; ++earlier) {
    if (self.coordinate(axes[earlier]) != trees[earlier].root()) return false;
  }
  return true;
}

void hand_up(Node& self, Dimension d, const LineTree& tree, std::int32_t level, std::uint32_t sum) {
  const std::int32_t position = self.coordinate(d);
  if (tree.at(position).level == level) self.send({{d, tree.at(position).parent - position}}, {}, {Word{sum}});
}

void hand_down(Node& self, Dimension d, const LineTree& tree, std::int32_t level, std::uint32_t sum) {
  const std::int32_t position = self.coordinate(d);
  if (!tree.holds_at(position, level)) return;
  tree.for_children(position, level, [&](std::int32_t child, std::int32_t) { self.send({{d, child - position}}, {}, {Word{sum}}); });
}

}  // namespace

ProgramOf<std::uint32_t> count_everywhere(Node& self, std::span<const Dimension> axes, std::span<const LineTree> trees, std::uint32_t own) {
  std::uint32_t sum = own;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    const bool member = takes_part(self, axes, trees, axis);
    for (std::int32_t level = 0; level < trees[axis].levels(); ++level) {
      self.phase("count");
      if (member) hand_up(self, axes[axis], trees[axis], level, sum);
      for (const Message& m : co_await self.step()) sum += m.header().front();
    }
  }
  for (std::size_t axis = axes.size(); axis-- > 0;) {
    const bool member = takes_part(self, axes, trees, axis);
    for (std::int32_t level = trees[axis].levels() - 1; level >= 0; --level) {
      self.phase("count");
      if (member) hand_down(self, axes[axis], trees[axis], level, sum);
      for (const Message& m : co_await self.step()) sum = m.header().front();
    }
  }
  co_return sum;
}

}  // namespace torus::multinode_broadcast
