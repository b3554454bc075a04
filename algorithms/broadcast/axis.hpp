/// An axis: a row of places that a broadcast halves or runs along. It is one dimension, or all nodes as one linear array.
///
/// Routes along an axis never cross a wrap-around link: on a torus they are those of the mesh inside it.
///
/// The order of the linear array and the choice of the new holder of a half belong together. Let i < j < k < l be places of the array.
/// With the dimension that is routed first the least significant, no two of these routes share a channel: i->j and k->l, j->i and l->k,
/// i->j and l->k (towards each other). With that dimension the most significant, "away from each other" replaces "towards".
/// Target::far lets all messages flow towards the root, Target::near away from it.
/// Source: Barnett, Payne, van de Geijn & Watts, "Avoiding Network Conflicts on General Meshes", for two dimensions and X-first routing;
/// the argument holds for any number of dimensions.
#pragma once

#include <vector>

#include <torus/machine.hpp>
#include <torus/route.hpp>

#include "algorithms/broadcast/halving.hpp"

namespace torus::broadcast {

/// An immutable value, the same for all nodes.
class Axis {
 public:
  /// Each line of a dimension by itself.
  static Axis along(const Machine& machine, Dimension dimension);
  /// All nodes in one row. By rank if the machine routes in ascending (near) or descending order (far); else by the coordinates in the
  /// routing order (near).
  static Axis linear_array(const Machine& machine);

  Place places() const noexcept { return places_; }
  Target target() const noexcept { return target_; }
  /// A node's place in its row.
  Place place(const Topology& topology, NodeId node) const noexcept;
  /// From a node to another place of its row, in the machine's routing order, without wrap-around links. O(dimensions).
  Route route(const Machine& machine, NodeId from, Place to) const;

 private:
  Axis(const Machine& machine, std::vector<Dimension> order, Target target);

  std::vector<Dimension> order_;  // most significant first
  Place places_;
  Target target_;
};

}  // namespace torus::broadcast
