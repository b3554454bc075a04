/// Swath: scatters h pieces over a swath of rows around the source, spreads each over the rows of its class, and gathers in the end.
///
/// The message is split into k equal parts, one a dimension, which work at the same time in different dimensions, and each part into h
/// pieces. For the part that gathers along dimension a, with b the next dimension (cyclic) and places counted from the source:
///   scatter   along b: piece i goes to a column of its own, one of the h around the source
///   columns   along a: the column of piece i spreads it over the rows of class i (row_classes.hpp)
///   rows      along all dimensions but a, b first: every node of a row gets the piece of its class
///   gather    along a: every node takes the pieces that it lacks from both sides, a hop a step
/// With more pieces whole dimensions are scattered first: every place of a ring gets a bundle of pieces, all these phases go on for the
/// bundle in the dimensions that are left, and the bundles are gathered in the end. This takes parts with as many bundles: equal extents,
/// or all dimensions.
/// Small h: few steps; large h: few bytes. h = 1 is dimension-wise broadcasting of k parts in rotated orders.
/// Mesh lines: the source is where it is, so a spread may take a step more; the gather does not wrap, and near the ends it goes on to w-1.
/// Complete dimensions, with all ports: a step to scatter, a step to spread, a step to gather; no classes of rows.
/// Machine  wormhole with any routing order, any shape. All routes are straight. p ports: floor(p/2) parts, with all ports k;
///          on a torus with an odd p also a part of half the bytes, which sends forwards only, as strip does.
/// Steps    R = L3(h) + L3(rows of a class, and the source's) + (k-1) L3(n) + floor(w/2), L3(x) = ceil(log_3 x), n the longest extent;
///          w is the longest window of a row's classes, w = h where h divides the extents. A class has about n/h rows. L3(n) + floor(n/2)
///          for each dimension that is scattered whole, and R of the others.
/// Bytes    about (2/h) (ceil((h-1)/2) + the steps of columns and rows + (w-1)/2) m/2k on the fullest channel, for m bytes; the plan's are
///          exact. Near 2 m/2k for large h: the channels of the source carry the message once, and each node's carry it again.
/// Header   none. Nodes know the source, as in any broadcast call.   Memory  O(1) a node beside its blocks.
/// Source   this project.
#pragma once

#include <span>

#include <torus/algorithm.hpp>

#include "algorithms/broadcast/swath_schedule.hpp"

namespace torus::broadcast {

extern const Algorithm swath;

class SwathOutlet;

/// What a phase is called in reports.
const char* name_of(SwathSchedule::Stage stage);

/// What a node sends in a step of a phase: `blocks`, the ids of all segments, or through the outlet.
void swath_step(Node& self, const SwathSchedule& schedule, NodeId root, std::span<const BlockId> blocks, const SwathSchedule::Phase& phase,
                Step step, SwathOutlet* outlet = nullptr);

/// The program of a node. `blocks`: the ids of all segments. They and the schedule must outlive the run. What comes is left alone: a longer
/// frame would cost some per cent.
Program swath_program(Node& self, const SwathSchedule& schedule, NodeId root, std::span<const BlockId> blocks);

}  // namespace torus::broadcast
