/// What a page says of a run before its first step: the machine with what is broken, why the algorithm works, and the bound of its steps.
#pragma once

#include <vector>

#include <torus/trace.hpp>

#include "tools/torus/cli/json.hpp"

namespace torus::command {

/// Members of the page's data. Of algorithms that the catalogue does not have there is no idea and no source; of collectives that it does
/// not know no bound, nor of groups. sources: the nodes.
Json page_facts(const TraceHeader& header, const std::vector<NodeId>& sources);

}  // namespace torus::command
