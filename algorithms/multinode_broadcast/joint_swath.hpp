/// Multi-node broadcast of few sources: all nodes learn which nodes are sources, then all messages go out in one swath.
///
/// Once the sources are known (source_names.hpp), every node knows all of the rest. A message is cut in k parts, which work in different
/// dimensions at the same time (one port: one part), a part in h pieces. Along the part's first dimension the rows of the torus are dealt
/// into classes, as in `swath` (broadcast/row_classes.hpp): s h classes, a run of h for each source.
///   scatter   each source gives its pieces to the rows of its classes: on its own ring, or by columns (joint_round.hpp)
///   rows      dimension by dimension each piece goes to all nodes of its rows (broadcast/line_spread.hpp)
///   gather    every node takes the pieces of the other classes from its neighbours
/// Of long messages the rows' first dimension is given a share of the piece at each place instead, and the shares are gathered in the end.
/// If there are more than fit, s h > the shortest ring, sources go out in rounds, with the gathers in common. h, the way of the scatter and
/// shares or not are those of the least model time for the sources that there are.
/// Machine  torus of any sides, wormhole in any routing order, any ports, no channel shared.
/// Memory   O(s) words a node beside its blocks, and a schedule of O(s h k) messages for all.
/// Steps    learn + rounds (scatter + sum over the dimensions but one of ceil(log_b n_d)) + gather. scatter = ceil(log_b (h c + 1)) where
///          no ring is shared, with c rows a class, at most s times as much. gather = about s h / 2, and with shares floor(n / 2) more.
///          b = 3. One port: b = 2, gather < s h, with shares n - 1 more.
/// Bytes    in units of m / (2k): about 1 + 2 (steps of the rows) / h + s, with shares about 1 + 1 / h + s. One port, in m: 1 + (steps of
///          the rows) / h + s, with shares 1 + 1 / h + s.
/// Header   the names.   Source  this project.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::multinode {

extern const Algorithm joint_swath;

}  // namespace torus::multinode
