/// Observer of the multi-node broadcasts that balance: blocks in each dilated subnetwork (DDN), before the balancing and after it.
#pragma once

#include <functional>
#include <memory>

#include <torus/algorithm.hpp>

namespace torus::multinode {

/// For Plan::observe. Node (i, j) of the diagonals i = j (mod h) belongs to DDN i mod h. `aggregated` and `balanced` are the numbers of
/// steps after which the aggregation and the balancing are over; until then a block is in one place. None where h is 1 or the machine is no
/// torus n x n.
std::function<std::unique_ptr<RunObserver>()> subnetwork_loads(const Machine& machine, const Request& request, std::uint32_t segments,
                                                               std::int32_t h, std::int32_t aggregated, std::int32_t balanced);

}  // namespace torus::multinode
