/// Cuts along the layers of a dimension, on a machine whose channels are looked at one by one.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <torus/machine.hpp>

namespace torus {

/// A set of living nodes and the channels that leave it.
struct CutSet {
  std::uint64_t nodes = 0;
  std::uint64_t marked = 0;  ///< of them
  std::uint64_t channels = 0;
  double rate = 0;  ///< the sum of 1 / T_c over the channels
};

/// Layers first .. last of a dimension.
struct Layers {
  Dimension dimension;
  std::int32_t first, last;
};

/// Calls found(set, layers) for every interval of layers of every dimension that holds some of the living nodes and not all. A dimension of
/// more than 256 layers counts as 256 groups of them. `marked`: living nodes. O((channels + marked) * dimensions + 2^22 * dimensions).
void find_layer_cuts(const Machine& machine, const std::vector<NodeId>& marked,
                     const std::function<void(const CutSet& set, const Layers& layers)>& found);

}  // namespace torus
