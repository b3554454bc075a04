#include "algorithms/common/spanning_trees.hpp"

#include <algorithm>
#include <utility>

namespace torus {
SpanningTrees::SpanningTrees(std::vector<std::int32_t> sides, std::uint32_t trees)
    : sides_{std::move(sides)}, strides_(sides_.size()), trees_{trees} {
  for (std::size_t d = sides_.size(); d-- > 0;) {
    strides_[d] = nodes_;
    nodes_ *= static_cast<std::uint32_t>(sides_[d]);
  }
  entries_.assign(std::size_t{nodes_} * trees_, root_entry);
}

SpanningTrees SpanningTrees::ring(std::int32_t n) {
  SpanningTrees family({n}, 2);
  for (std::uint32_t x = 1; x < family.nodes_; ++x) {
    family.entry_at(x, 0) = 0;
    family.entry_at(x, 1) = 1;
  }
  return family;
}

SpanningTrees SpanningTrees::times_ring(std::int32_t n) const {
  std::vector<std::int32_t> sides = sides_;
  sides.push_back(n);
  const std::uint32_t old = trees_, up = trees_, down = trees_ + 1;
  SpanningTrees family(std::move(sides), trees_ + 2);
  const auto plus = static_cast<Direction>(trees_), minus = static_cast<Direction>(trees_ + 1);  // of the new axis, number trees_/2

  std::vector<std::uint32_t> first(old);  // the child of the root in each old tree
  for (std::uint32_t r = 0; r < old; ++r) {
    for (Direction d = 0; d < old; ++d) {
      if (entry(step(0, d), r) == d) first[r] = step(0, d);
    }
  }
  for (std::uint32_t g = 0; g < nodes_; ++g) {
    for (std::uint32_t z = 0; z < static_cast<std::uint32_t>(n); ++z) {
      if (g == 0 && z == 0) continue;
      const std::uint32_t node = g * static_cast<std::uint32_t>(n) + z;
      if (g == 0 || z == 0) {
        for (std::uint32_t r = 0; r < old; ++r) family.entry_at(node, r) = g == 0 ? reverse(entry(first[r], r)) : entry(g, r);
        family.entry_at(node, up) = plus;
        family.entry_at(node, down) = minus;
        continue;
      }
      family.entry_at(node, up) = entry(g, 0);
      family.entry_at(node, down) = entry(g, 1);
      family.entry_at(node, 0) = plus;
      family.entry_at(node, 1) = minus;
      for (std::uint32_t r = 2; r < old; ++r) family.entry_at(node, r) = entry(g, r);
      for (std::uint32_t r = 2; r < old; ++r) {
        if (g == first[r]) std::swap(family.entry_at(node, r), family.entry_at(node, r % 2));
      }
    }
  }
  return family;
}

SpanningTrees SpanningTrees::of(std::span<const std::int32_t> sides) {
  if (sides.empty()) return SpanningTrees({}, 0);
  SpanningTrees best = ring(sides[0]);
  for (std::size_t axis = 1; axis < sides.size(); ++axis) best = best.times_ring(sides[axis]);
  best.measure();
  if (sides.size() == 1) return best;
  // A product over the closed form is lower as a rule, but with sides of 2 it need not be valid.
  std::optional<SpanningTrees> closed = closed_form(sides[0], sides[1]);
  if (!closed) return best;
  for (std::size_t axis = 2; axis < sides.size(); ++axis) closed = closed->times_ring(sides[axis]);
  if (sides.size() > 2 && !closed->measure()) return best;
  if (closed->height() > best.height()) return best;
  return std::move(*closed);
}

std::uint32_t SpanningTrees::step(std::uint32_t node, Direction d) const noexcept {
  const std::uint32_t stride = strides_[d / 2];
  const auto side = static_cast<std::uint32_t>(sides_[d / 2]);
  const std::uint32_t at = node / stride % side;
  const std::uint32_t to = d % 2 == 0 ? (at + 1 == side ? 0 : at + 1) : (at == 0 ? side - 1 : at - 1);
  return node - at * stride + to * stride;
}

std::vector<std::uint32_t> SpanningTrees::depths() const {
  constexpr std::uint32_t unknown = 0xffffffff;
  std::vector<std::uint32_t> depths(entries_.size(), unknown);
  std::vector<std::uint32_t> way;
  for (std::uint32_t r = 0; r < trees_; ++r) {
    depths[r] = 0;
    for (std::uint32_t node = 0; node < nodes_; ++node) {
      way.clear();
      std::uint32_t at = node;
      while (depths[std::size_t{at} * trees_ + r] == unknown) {
        way.push_back(at);
        if (way.size() > nodes_) return {};  // a circle
        at = step(at, reverse(entry(at, r)));
      }
      std::uint32_t depth = depths[std::size_t{at} * trees_ + r];
      while (!way.empty()) {
        depths[std::size_t{way.back()} * trees_ + r] = ++depth;
        way.pop_back();
      }
    }
  }
  return depths;
}

bool SpanningTrees::measure() {
  for (std::uint32_t node = 1; node < nodes_; ++node) {
    std::uint32_t seen = 0;
    for (std::uint32_t r = 0; r < trees_; ++r) {
      if (entry(node, r) >= trees_ || (seen >> entry(node, r) & 1U) != 0) return false;
      seen |= 1U << entry(node, r);
    }
  }
  const std::vector<std::uint32_t> all = depths();
  if (all.empty()) return false;
  height_ = *std::max_element(all.begin(), all.end());
  return true;
}

}  // namespace torus
