#include <string>

#include <torus/error.hpp>
#include <torus/message.hpp>
#include <torus/node.hpp>

namespace torus::detail {

void no_such_arrival(std::size_t i, std::size_t count) {
  throw RunError("arrival " + std::to_string(i) + " of " + std::to_string(count) +
                 (count == 0 ? ": nothing has arrived; ask empty() first" : ": they are numbered from 0; ask size() first"));
}

void not_listed(Listed what, std::size_t first, std::size_t count, std::size_t size) {
  const std::string name = what == Listed::words ? "control word" : what == Listed::blocks ? "block" : "leg";
  const std::string asked = count == 1  ? name + " " + std::to_string(first)
                            : count > 1 ? name + "s " + std::to_string(first) + " to " + std::to_string(first + (count - 1))
                                        : name + "s from " + std::to_string(first) + " on";
  throw RunError(asked + " of " + std::to_string(size) +
                 (size == 0 ? ": there is none; ask empty() first" : ": they are numbered from 0; ask size() first"));
}

void no_such_dimension(const Topology& topology, Dimension d) {
  throw RunError("dimension " + std::to_string(d) + ": the dimensions of " + topology.text() + " are 0 to " +
                 std::to_string(topology.dimensions() - 1));
}

}  // namespace torus::detail
