/// 2k arc-disjoint spanning trees rooted at node 0 of a k-dimensional torus. The trees of another root are their translates.
///
/// A tree is given by its entries: the direction of the arc by which it enters each node (parent = node minus direction). The trees are
/// arc-disjoint if the 2k entries of every node differ.
///   closed form  2-D; height D + 2 for n x n (D = 2 floor(n/2)), D + 2 .. D + 4 for similar sides; not for every shape.
///   product      any dimensions, any sides >= 2; height at most the sum of the sides plus k.
/// Source   this project; the closed form is checked before it is used.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <torus/topology.hpp>

namespace torus {

/// An arc's direction: 2 * axis for +, 2 * axis + 1 for -.
using Direction = std::uint8_t;
constexpr Direction reverse(Direction d) noexcept { return d ^ 1U; }

/// A family of 2k trees over the displacements of a torus with the given sides (row-major).
class SpanningTrees {
 public:
  static constexpr Direction root_entry = 0xff;

  /// The lower of the forms that are valid. Sides >= 2, at most 8 of them; no side: no tree, one node.
  static SpanningTrees of(std::span<const std::int32_t> sides);
  /// One form; none if it does not give arc-disjoint spanning trees of this shape.
  static std::optional<SpanningTrees> closed_form(std::int32_t rows, std::int32_t columns);

  std::uint32_t trees() const noexcept { return trees_; }
  std::uint32_t nodes() const noexcept { return nodes_; }
  std::span<const std::int32_t> sides() const noexcept { return sides_; }
  /// The direction by which tree r enters a node; root_entry at node 0.
  Direction entry(std::uint32_t node, std::uint32_t tree) const noexcept { return entries_[std::size_t{node} * trees_ + tree]; }
  /// The node one arc on, or back, from another.
  std::uint32_t step(std::uint32_t node, Direction d) const noexcept;
  /// Arcs from the root in tree r; by node and tree. Empty if some tree does not span.
  std::vector<std::uint32_t> depths() const;
  /// Depth of the deepest node of the deepest tree.
  std::uint32_t height() const noexcept { return height_; }

 private:
  SpanningTrees(std::vector<std::int32_t> sides, std::uint32_t trees);
  static SpanningTrees ring(std::int32_t n);
  /// The family of one more ring: entries of `this` are copied, two trees are added.
  SpanningTrees times_ring(std::int32_t n) const;
  /// Finds the height. False if the trees are not arc-disjoint or one does not reach every node.
  bool measure();
  Direction& entry_at(std::uint32_t node, std::uint32_t tree) noexcept { return entries_[std::size_t{node} * trees_ + tree]; }

  std::vector<std::int32_t> sides_;
  std::vector<std::uint32_t> strides_;
  std::uint32_t nodes_ = 1;
  std::uint32_t trees_ = 0;
  std::uint32_t height_ = 0;
  std::vector<Direction> entries_;  // by node, tree
};

}  // namespace torus
