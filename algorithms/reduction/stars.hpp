/// All-reduce in few steps and few bytes where no channel is shared: windows, then stars of worms, then windows.
///
/// The vector is cut into w pieces, and the nodes are in as many classes, which repeat over the torus (window_classes).
///   windows   hop by hop every node gives to nodes near by all pieces but that of its class
///   stars     the nodes of each class all-reduce their piece by worms, which shrink in number as they grow in length (star_trees)
///   windows   the first phase backwards: every node takes the other pieces
/// The more pieces, the fewer bytes; w = 1: stars alone. Worms of all classes share the channels; who sends when is searched for, by every
/// node for itself with the same result, or by plan() once for all.
/// Machine  torus of any sides, wormhole in any routing order, any ports, no channel shared.
/// Steps    2 rounds of windows + levels up + exchange + levels down, as found: about 2 to 3 log_{p+1} N.
/// Bytes    2 (w-1)/(w p) m or more in the windows, m/w in each other step.   Memory  the tables of who sends when.   Header  none.
/// Source   this project.
#pragma once

#include <torus/algorithm.hpp>

namespace torus::reduction {

extern const Algorithm stars_allreduce;

}  // namespace torus::reduction
