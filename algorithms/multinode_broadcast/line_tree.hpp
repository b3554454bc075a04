/// Bundles (blocks that travel together), and the tree by which every phase gathers them to a node or spreads them from it.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <torus/node.hpp>

namespace torus::multinode_broadcast {

/// Blocks that a phase handles as one. The blocks' bytes lie with the node; a bundle only names them, in an order that may matter.
using Bundle = std::vector<BlockId>;

/// What travels: blocks, or control words in their place, one for each.
enum class Cargo : std::uint8_t { blocks, words };

/// The ids that a message brings.
inline std::span<const BlockId> brought(const Message& message, Cargo cargo) noexcept {
  return cargo == Cargo::words ? std::span<const BlockId>(message.header()) : std::span<const BlockId>(message.blocks());
}
inline void append(Bundle& bundle, const Message& message, Cargo cargo = Cargo::blocks) {
  const std::span<const BlockId> ids = brought(message, cargo);
  bundle.insert(bundle.end(), ids.begin(), ids.end());
}

/// Appends `count` consecutive ids.
inline void append(Bundle& bundle, BlockId first, std::uint32_t count) {
  bundle.resize(bundle.size() + count);
  std::iota(bundle.end() - count, bundle.end(), first);
}

/// Sends a bundle unless it is empty. Receivers treat no message as an empty bundle.
inline void send_bundle(Node& self, RouteView route, std::span<const BlockId> bundle, Cargo cargo = Cargo::blocks) {
  if (bundle.empty()) return;
  if (cargo == Cargo::words)
    self.send(route, {}, bundle);
  else
    self.send(route, bundle);
}
inline void send_bundle(Node& self, std::initializer_list<Leg> route, std::span<const BlockId> bundle, Cargo cargo = Cargo::blocks) {
  send_bundle(self, RouteView{route.begin(), route.size()}, bundle, cargo);
}

/// window(n), see common/integers.hpp.
constexpr std::int32_t window_low(std::int32_t n) noexcept { return -((n - 1) / 2); }
constexpr std::int32_t window_high(std::int32_t n) noexcept { return n / 2; }

constexpr std::int32_t sign(std::int32_t x) noexcept { return x > 0 ? 1 : x < 0 ? -1 : 0; }

/// The tree over consecutive positions by which every phase gathers to, or spreads from, one of them.
///
/// In a step of a gather the root of a segment takes from at most `arms` roots of shorter segments on each side (base = 2 arms + 1: 3, 5,
/// 7, ..); the segments of a level are disjoint intervals, so that moves inside them share no channel. ceil(log_base n) levels for any n.
/// Base 2: one child a level, the first of the upper half. Source: this project; for n = 5^R it is the paper's aggregation pattern, which
/// the text gives for that case alone.
class LineTree {
 public:
  struct Vertex {
    std::int32_t level = 0;   ///< it hands over to its parent in this level of a gather; the root: levels()
    std::int32_t parent = 0;  ///< the root: itself
    std::int32_t slot = 0;    ///< rank among the children on its side (1 .. arms, nearest first), negative on the lower side; the root: 0
    std::int32_t low = 0;     ///< the segment that it hands over, itself in it
    std::int32_t high = 0;
  };

  /// W_base(n): positions -floor((n-1)/2) .. floor(n/2), root 0.
  static LineTree window(std::int32_t base, std::int32_t n);
  /// Positions -before .. after, root 0.
  static LineTree around(std::int32_t base, std::int32_t before, std::int32_t after) { return {-before, after, 0, base}; }
  /// Line_base(n): positions 0 .. n-1, root floor((n-1)/2).
  static LineTree line(std::int32_t base, std::int32_t n);
  /// Positions 0 .. n-1, root 0, one child a level, above: base 2, for one port.
  static LineTree halving(std::int32_t n);

  std::int32_t low() const noexcept { return low_; }
  std::int32_t high() const noexcept { return low_ + static_cast<std::int32_t>(vertices_.size()) - 1; }
  std::int32_t positions() const noexcept { return static_cast<std::int32_t>(vertices_.size()); }
  std::int32_t root() const noexcept { return root_; }
  std::int32_t levels() const noexcept { return levels_; }
  const Vertex& at(std::int32_t position) const noexcept { return vertices_[static_cast<std::size_t>(position - low_)]; }

  /// Whether a position takes part in a level as a parent: it has not handed over before.
  bool holds_at(std::int32_t position, std::int32_t level) const noexcept { return at(position).level > level; }

  /// Calls f(child's position, its slot) for the children that hand over in a level, in the order of their positions.
  template <class F>
  void for_children(std::int32_t position, std::int32_t level, F&& f) const {
    const std::size_t first = children_index(position, level);
    for (std::int32_t i = 0; i < 2 * arms_; ++i) {
      const std::int32_t child = children_[first + static_cast<std::size_t>(i)];
      if (child != none) f(child, i < arms_ ? i - arms_ : i - arms_ + 1);
    }
  }

  /// Positions of the longest segment that is handed over in each level: the worst payload of the level, in messages a position.
  std::vector<std::int32_t> level_sizes() const;

 private:
  static constexpr std::int32_t none = INT32_MIN;

  LineTree(std::int32_t low, std::int32_t high, std::int32_t root, std::int32_t base);
  void halve(std::int32_t low, std::int32_t high, std::int32_t rounds);
  void add_child(std::int32_t centre, std::int32_t level, std::int32_t slot, std::int32_t child, std::int32_t low, std::int32_t high);
  void cut(std::int32_t low, std::int32_t high, std::int32_t centre, std::int32_t rounds);
  std::size_t children_index(std::int32_t position, std::int32_t level) const noexcept {
    return 2 * static_cast<std::size_t>(arms_) *
           (static_cast<std::size_t>(position - low_) * static_cast<std::size_t>(levels_) + static_cast<std::size_t>(level));
  }

  std::int32_t low_, root_, arms_, levels_ = 0;
  std::vector<Vertex> vertices_;
  std::vector<std::int32_t> children_;  // by position, level, slot
};

/// How `items` for all places of a segment are cut in a scatter: of T items for L places, low .. high, a place y gets the items from
/// (y - low) T / L to before (y + 1 - low) T / L.
constexpr std::uint64_t first_item(const LineTree::Vertex& segment, std::uint64_t items, std::int32_t place) noexcept {
  return static_cast<std::uint64_t>(place - segment.low) * items / static_cast<std::uint64_t>(segment.high - segment.low + 1);
}

/// One level of a gather, or of a spread, over a tree whose positions lie along a dimension: what the node at a position sends. A bundle
/// that has been handed up is empty then.
void hand_up(Node& self, Dimension along, const LineTree& tree, std::int32_t position, std::int32_t level, Bundle& bundle,
             Cargo cargo = Cargo::blocks);
void hand_down(Node& self, Dimension along, const LineTree& tree, std::int32_t position, std::int32_t level, const Bundle& bundle,
               Cargo cargo = Cargo::blocks);

}  // namespace torus::multinode_broadcast
