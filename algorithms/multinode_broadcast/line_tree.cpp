#include "algorithms/multinode_broadcast/line_tree.hpp"

#include <algorithm>

#include "algorithms/multinode_broadcast/bundle.hpp"

namespace torus::multinode {

LineTree LineTree::window(std::int32_t base, std::int32_t n) { return {window_low(n), window_high(n), 0, base}; }
LineTree LineTree::line(std::int32_t base, std::int32_t n) { return {0, n - 1, (n - 1) / 2, base}; }

LineTree::LineTree(std::int32_t low, std::int32_t high, std::int32_t root, std::int32_t base)
    : low_{low}, root_{root}, vertices_(static_cast<std::size_t>(high - low + 1)) {
  const std::int32_t farthest = std::max(root - low, high - root);
  for (std::int64_t reach = 1; (reach - 1) / 2 < farthest; reach *= base) ++levels_;
  children_.assign(4 * vertices_.size() * static_cast<std::size_t>(levels_), none);
  vertices_[static_cast<std::size_t>(root - low)] = {levels_, root, 0, low, high};
  cut(low, high, root, levels_, (base - 1) / 2);
}

void LineTree::cut(std::int32_t low, std::int32_t high, std::int32_t centre, std::int32_t rounds, std::int32_t arms) {
  if (low == high) return;
  std::int64_t reach = 1;
  for (std::int32_t r = 1; r < rounds; ++r) reach *= 2 * arms + 1;
  const auto half = static_cast<std::int32_t>(std::min<std::int64_t>((reach - 1) / 2, high - low));
  for (const std::int32_t side : {-1, +1}) {
    const std::int32_t extent = side < 0 ? centre - low : high - centre;
    const std::int32_t inner = std::min(extent, half);
    std::int32_t rest = extent - inner;
    std::int32_t at = inner + 1;
    for (std::int32_t arm = 1; arm <= arms && rest > 0; ++arm) {
      const std::int32_t size = (rest + arms - arm) / (arms - arm + 1);
      const std::int32_t first = side < 0 ? centre - (at + size - 1) : centre + at;
      const std::int32_t child = first + (size - 1) / 2;
      vertices_[static_cast<std::size_t>(child - low_)] = {rounds - 1, centre, side * arm, first, first + size - 1};
      const std::size_t slot = side < 0 ? static_cast<std::size_t>(2 - arm) : static_cast<std::size_t>(1 + arm);
      children_[children_index(centre, rounds - 1) + slot] = child;
      cut(first, first + size - 1, child, rounds - 1, arms);
      at += size;
      rest -= size;
    }
  }
  cut(centre - std::min(centre - low, half), centre + std::min(high - centre, half), centre, rounds - 1, arms);
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

}  // namespace torus::multinode
