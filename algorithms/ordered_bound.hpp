/// How many steps a broadcast takes at least by worms in dimension order that share no channel: more, at times, than counting ports says.
///
/// A *cell* is a line of nodes along the dimension that routes take last. A message to a cell from outside leaves its sender by a channel
/// of another dimension. Let s_x(t) be the nodes of cell x that are informed after step t, rows the nodes of a cell, r_x(t) those that step
/// t informs from outside, and D the most channels that a node has in the other dimensions. Then
///
///     s_x(t) <= min(rows, 3 s_x(t-1) + r_x(t)),   sum over x of r_x(t) <= D times the sum over x of s_x(t-1).
///
/// Take any prices l_t >= 0. In a broadcast of T steps the sum over t of l_t (sum r(t) - D sum s(t-1)) is at most 0. The same sum is a sum
/// over cells, and each cell adds at least the least value among all ways to fill it: a small dynamic programme, one for the cell of the
/// source and one for all others, which are alike. If these minima add up to more than 0, no broadcast of T steps exists. Prices are whole
/// numbers, so that the comparison is exact.
///
/// Every collective in which each node hears from one given node has this bound: those with a source, and those that bring data of all to
/// all. Source: ours.
#pragma once

#include <cstdint>

#include <torus/machine.hpp>

namespace torus {

/// At least `least`, the bound of the caller. Returns `least` where routes may take any order, channels are shared, or a dimension is
/// complete, and where cells have more than 1,024 nodes. About 12 tries of prices for each step, O(steps rows) each: 0.1 ms on 64x64.
std::uint64_t least_ordered_steps(const Machine& machine, std::uint64_t least);

}  // namespace torus
