#include <string>

#include <torus/error.hpp>
#include <torus/message.hpp>
#include <torus/node.hpp>

namespace torus::detail {

void no_such_arrival(std::size_t i, std::size_t count) {
  throw RunError("arrival " + std::to_string(i) + " of " + std::to_string(count) +
                 (count == 0 ? ": nothing has arrived; ask empty() first" : ": they are numbered from 0; ask size() first"));
}

void no_such_dimension(const Topology& topology, Dimension d) {
  throw RunError("dimension " + std::to_string(d) + ": the dimensions of " + topology.text() + " are 0 to " +
                 std::to_string(topology.dimensions() - 1));
}

}  // namespace torus::detail
