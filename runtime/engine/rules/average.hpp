/// The end of an average: until then nodes hold sums.
#pragma once

#include <torus/executor.hpp>

#include "runtime/engine/members.hpp"
#include "runtime/engine/payload/payload.hpp"

namespace torus::detail {

/// Divides what each node of the payload's slab holds of the segments that it wants by the number of nodes whose contributions that should
/// have: all living ones of its group, or those up to itself. On all workers. Does nothing for other operators.
void divide_averages(const Members& members, Payload& payload, Executor& executor);

}  // namespace torus::detail
