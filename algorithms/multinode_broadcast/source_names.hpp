/// All nodes learn which nodes are sources, in control words.
///
/// Either along one dimension after the other: a ring is cut in arcs, the names of an arc gather at its root, the roots pass them on all
/// round the ring, each to the next root both ways, and spread them over their arcs; with one port forwards only. Or, on n x .. x n nodes
/// with all ports, where that takes fewer steps, by way of the plane (hyperplane.hpp).
/// Machine  torus of any sides, wormhole in any routing order, any ports, no channel shared.
/// Steps    sum over the dimensions of min over r of 2 ceil(log_3 ceil(n_d / r)) + floor(r / 2), one port: 2 ceil(log_2 ..) + r - 1; or
///          2 ceil(log_{2k+1} n) + ceil(log_{k+1} n^(k-1)).
/// Bytes    at most 4 s a step, a word for each source.   Header  the names.   Source  this project; folklore.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include <torus/machine.hpp>
#include <torus/program.hpp>

#include "algorithms/common/equal_parts.hpp"
#include "algorithms/multinode_broadcast/bundle.hpp"
#include "algorithms/multinode_broadcast/hyperplane_scheme.hpp"
#include "algorithms/multinode_broadcast/line_tree.hpp"

namespace torus::multinode {

/// A ring of n cut in arcs, as equal as whole numbers allow.
class RingArcs {
 public:
  RingArcs(Dimension along, std::int32_t n, bool one_port);

  Dimension along() const noexcept { return along_; }
  std::int32_t levels() const noexcept { return longer_.levels(); }
  std::int32_t rounds() const noexcept { return one_port_ ? arcs_.parts - 1 : arcs_.parts / 2; }
  std::int32_t steps() const noexcept { return 2 * levels() + rounds(); }
  bool one_port() const noexcept { return one_port_; }

  /// Of the arc that a place lies in.
  std::int32_t start_of(std::int32_t place) const noexcept { return arcs_.start(arcs_.part_of(place)); }
  const LineTree& tree_of(std::int32_t place) const noexcept {
    return arcs_.length(arcs_.part_of(place)) == longer_.positions() ? longer_ : shorter_;
  }
  bool is_root(std::int32_t place) const noexcept { return root(arcs_.part_of(place)) == place; }
  /// From a root to the next in a direction, in signed hops. There are two or more.
  std::int32_t hops_to_next(std::int32_t place, std::int32_t direction) const noexcept;

 private:
  std::int32_t root(std::int32_t arc) const noexcept { return arcs_.start(arc) + tree_of(arcs_.start(arc)).root(); }

  Dimension along_;
  bool one_port_;
  EqualParts arcs_;
  LineTree shorter_, longer_;
};

/// What every node knows beforehand.
class SourceNames {
 public:
  explicit SourceNames(const Machine& machine);

  std::uint64_t steps() const noexcept;
  Bytes table_bytes() const noexcept { return plane_ ? plane_->table_bytes() : 0; }
  const std::vector<RingArcs>& rings() const noexcept { return rings_; }
  const std::optional<HyperplaneScheme>& plane() const noexcept { return plane_; }

 private:
  std::vector<RingArcs> rings_;
  std::optional<HyperplaneScheme> plane_;
};

/// names: in the end those of all sources, ascending. A source is a node that has blocks.
Program learn_sources(Node& self, const SourceNames& scheme, Bundle& names);

}  // namespace torus::multinode
