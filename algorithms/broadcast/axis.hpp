/// An axis: a row of places that a broadcast halves or goes along. One dimension, or all nodes of the machine as one linear array.
///
/// Routes along an axis are mesh routes: they never cross a wrap-around link, so that on a torus they are those of the mesh inside it.
///
/// The order of the linear array and the rule by which halves find their new holder belong together. Let i < j < k < l be places of the
/// array. With the dimension that is routed first the least significant, the routes i->j and k->l, j->i and l->k, i->j and l->k
/// (towards each other) share no channel; with the dimension that is routed first the most significant, "away from each other" takes the
/// place of "towards". Target::far makes all messages flow towards the root, Target::near away from it.
/// Source: Barnett, Payne, van de Geijn & Watts, "Avoiding Network Conflicts on General Meshes", for two dimensions and X-first routing;
/// the same argument serves for any number of dimensions.
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
  /// All nodes in one row: by rank if the machine routes in ascending (near) or descending order (far), else by the
  /// coordinates in the order of routing (near).
  static Axis linear_array(const Machine& machine);

  Place places() const noexcept { return places_; }
  Target target() const noexcept { return target_; }
  /// A node's place in its row.
  Place place(const Topology& topology, NodeId node) const noexcept;
  /// Hops of the route between two places of a row.
  std::int64_t hops(const Topology& topology, Place from, Place to) const noexcept;
  /// From a node to another place of its row, in the machine's routing order, without wrap-around links. O(dimensions).
  Route route(const Machine& machine, NodeId from, Place to) const;

 private:
  Axis(const Machine& machine, std::vector<Dimension> order, Target target);

  std::vector<Dimension> order_;  // most significant first
  Place places_;
  Target target_;
};

}  // namespace torus::broadcast
