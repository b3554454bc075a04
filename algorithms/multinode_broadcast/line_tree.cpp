#include "algorithms/multinode_broadcast/line_tree.hpp"

#include <algorithm>

namespace torus::multinode_broadcast {

LineTree LineTree::window(std::int32_t base, std::int32_t n) { return {window_low(n), window_high(n), 0, base}; }
LineTree LineTree::line(std::int32_t base, std::int32_t n) { return {0, n - 1, (n - 1) / 2, base}; }

LineTree LineTree::halving(std::int32_t n) { return {0, n - 1, 0, 2}; }

LineTree::LineTree(std::int32_t low, std::int32_t high, std::int32_t root, std::int32_t base)
    : low_{low}, root_{root}, arms_{base / 2}, vertices_(static_cast<std::size_t>(high - low + 1)) {
  const std::int32_t farthest = std::max(root - low, high - root);
  const bool above = base == 2;
  for (std::int64_t reach = 1; (above ? reach - 1 : (reach - 1) / 2) < farthest; reach *= base) ++levels_;
  children_.assign(2 * static_cast<std::size_t>(arms_) * vertices_.size() * static_cast<std::size_t>(levels_), none);
  vertices_[static_cast<std::size_t>(root - low)] = {levels_, root, 0, low, high};
  if (above)
    halve(low, high, levels_);
  else
    cut(low, high, root, levels_);
}

void LineTree::add_child(std::int32_t centre, std::int32_t level, std::int32_t slot, std::int32_t child, std::int32_t low,
                         std::int32_t high) {
  vertices_[static_cast<std::size_t>(child - low_)] = {level, centre, slot, low, high};
  children_[children_index(centre, level) + static_cast<std::size_t>(slot < 0 ? arms_ + slot : arms_ - 1 + slot)] = child;
}

void LineTree::halve(std::int32_t low, std::int32_t high, std::int32_t rounds) {
  if (low == high) return;
  const std::int32_t middle = low + (high - low) / 2 + 1;
  add_child(low, rounds - 1, 1, middle, middle, high);
  halve(middle, high, rounds - 1);
  halve(low, middle - 1, rounds - 1);
}

void LineTree::cut(std::int32_t low, std::int32_t high, std::int32_t centre, std::int32_t rounds) {
  if (low == high) return;
  std::int64_t reach = 1;
  for (std::int32_t r = 1; r < rounds; ++r) reach *= 2 * arms_ + 1;
  const auto half = static_cast<std::int32_t>(std::min<std::int64_t>((reach - 1) / 2, high - low));
  for (const std::int32_t side : {-1, +1}) {
    const std::int32_t extent = side < 0 ? centre - low : high - centre;
    const std::int32_t inner = std::min(extent, half);
    std::int32_t rest = extent - inner;
    std::int32_t at = inner + 1;
    for (std::int32_t arm = 1; arm <= arms_ && rest > 0; ++arm) {
      const std::int32_t size = (rest + arms_ - arm) / (arms_ - arm + 1);
      const std::int32_t first = side < 0 ? centre - (at + size - 1) : centre + at;
      const std::int32_t child = first + (size - 1) / 2;
      add_child(centre, rounds - 1, side * arm, child, first, first + size - 1);
      cut(first, first + size - 1, child, rounds - 1);
      at += size;
      rest -= size;
    }
  }
  cut(centre - std::min(centre - low, half), centre + std::min(high - centre, half), centre, rounds - 1);
}

std::vector<std::int32_t> LineTree::level_sizes() const {
  std::vector<std::int32_t> sizes(static_cast<std::size_t>(levels_), 0);
  for (const Vertex& v : vertices_) {
    if (v.slot == 0) continue;
    std::int32_t& size = sizes[static_cast<std::size_t>(v.level)];
    size = std::max(size, v.high - v.low + 1);
  }
  return sizes;
}

void hand_up(Node& self, Dimension along, const LineTree& tree, std::int32_t position, std::int32_t level, Bundle& bundle, Cargo cargo) {
  const LineTree::Vertex& v = tree.at(position);
  if (v.level != level || v.slot == 0) return;
  send_bundle(self, {{along, v.parent - position}}, bundle, cargo);
  bundle.clear();
}

void hand_down(Node& self, Dimension along, const LineTree& tree, std::int32_t position, std::int32_t level, const Bundle& bundle,
               Cargo cargo) {
  if (!tree.holds_at(position, level)) return;
  tree.for_children(position, level, [&](std::int32_t child, std::int32_t) {
    send_bundle(self, {{along, child - position}}, bundle, cargo);
  });
}

}  // namespace torus::multinode_broadcast
