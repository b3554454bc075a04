/// From the nodes of the DDNs into the windows of h nodes around them, in balanced ternary, part by part along different dimensions.
///
/// The windows are centred on the DDN's nodes and cross the borders of the DCNs: inside an h x h mesh a corner cannot reach its row in
/// ceil(log3 h) steps, but the torus repeats every bundle h places on. Part t of the payload starts at nodes whose coordinates are all
/// congruent modulo h; a node's DDN along the way is given by its coordinate in dimension t.
///   broadcast  part t along one dimension: every node of a window ends with the whole bundle.
///   scatter    part t along dimensions t+1, .., t+k-1 in turn: the bundle is cut in h^(k-1) runs, one for each node of the
///              window. All nodes of a DDN must hold its bundle in one order before: copies are cut alike.
/// Machine  torus of any dimension, h | every extent, wormhole (single legs), all ports.
/// Steps    broadcast ceil(log3 h); scatter (k-1) ceil(log3 h).   Header  none.
/// Source   Chen, Chen & Tseng, section 3.2.2 (row broadcasting); the scatter: this project.
#pragma once

#include <torus/program.hpp>

#include "algorithms/multinode_broadcast/bundle.hpp"
#include "algorithms/multinode_broadcast/line_tree.hpp"
#include "algorithms/multinode_broadcast/stations.hpp"

namespace torus::multinode {

/// The row broadcast of the paper: the bundle of the DCN-diagonal nodes of a 2-D torus along dimension 1.
Program broadcast_row(Node& self, const LineTree& window, Bundle& bundle);

/// The other way, for tori of three and more dimensions: all bundles of a window end at its node with congruent coordinates, dimension
/// 1 first. (k-1) ceil(log3 h) steps; others' bundles are empty then.
Program gather_windows(Node& self, const LineTree& window, Bundle& bundle);

/// Part 0 along dimension 1 and part 1 along dimension 0, whole.
Program broadcast_cross(Node& self, const LineTree& window, std::vector<Bundle>& parts);

/// As many parts as dimensions; each ends cut. station: where the node stands on a grid, if the windows are of one.
Program scatter_windows(Node& self, const LineTree& window, std::vector<Bundle>& parts, const Station* station = nullptr);

}  // namespace torus::multinode
