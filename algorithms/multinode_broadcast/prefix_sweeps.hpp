/// The sweeps of the prefix sums: partial sums up a tree, bases down again, across the diagonals or along one.
#pragma once

#include <array>
#include <vector>

#include <torus/program.hpp>

#include "algorithms/common/received.hpp"
#include "algorithms/multinode_broadcast/diagonal.hpp"
#include "algorithms/multinode_broadcast/line_tree.hpp"

namespace torus::multinode {

constexpr std::size_t slot_index(std::int32_t slot) noexcept { return static_cast<std::size_t>(slot < 0 ? 2 + slot : 1 + slot); }

/// One node's part in a prefix sum over a tree: what it held before each level, and what each child of the level brought.
class TreeSum {
 public:
  TreeSum(const LineTree& tree, std::uint32_t own) : levels_(static_cast<std::size_t>(tree.levels())), held_{own} {}

  std::uint32_t held() const noexcept { return held_; }
  void open(std::int32_t level) noexcept { levels_[static_cast<std::size_t>(level)].inner = held_; }
  void take(std::int32_t level, std::int32_t slot, std::uint32_t sum) {
    checked_at(levels_[static_cast<std::size_t>(level)].child, slot_index(slot)) = sum;
    held_ += sum;
  }
  /// Shares out a base among the slots of a level in the order -2, -1, itself, +1, +2; leaves the node its own.
  std::array<std::uint32_t, 4> share(std::int32_t level, std::uint32_t& base) const noexcept {
    const Level& l = levels_[static_cast<std::size_t>(level)];
    std::array<std::uint32_t, 4> bases{};
    bases[0] = base;
    bases[1] = bases[0] + l.child[0];
    base = bases[1] + l.child[1];
    bases[2] = base + l.inner;
    bases[3] = bases[2] + l.child[2];
    return bases;
  }

 private:
  struct Level {
    std::uint32_t inner = 0;
    std::array<std::uint32_t, 4> child{};
  };
  std::vector<Level> levels_;
  std::uint32_t held_;
};

// Quinary moves along a diagonal are two legs in two steps, over a relay; ternary ones are single routes.
Program sum_up_across(Node& self, const LineTree& tree, DiagonalSite site, TreeSum& sum);
Program base_down_across(Node& self, const LineTree& tree, DiagonalSite site, const TreeSum& sum, std::uint32_t& base);
Program sum_up_along(Node& self, const LineTree& tree, bool quinary, DiagonalSite site, TreeSum& sum);
Program base_down_along(Node& self, const LineTree& tree, bool quinary, DiagonalSite site, const TreeSum& sum, std::uint32_t& base);

}  // namespace torus::multinode
