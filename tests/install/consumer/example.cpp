#include <iostream>

#include <torus/engine.hpp>
using namespace torus;

Program ring_broadcast(Node& self, NodeId root) {
  if (self.rank() != root) co_await self.arrival();  // sleep until a message arrives
  if (self.neighbour({0, +1}) != root) self.send({{0, +1}}, self.blocks());
}

int main() {
  const NodeId root = 3;
  const Machine machine = Machine::make({.topology = "16", .ports = 1, .switching = Switching::packet});
  Engine engine(machine, Placement::replicated(machine.topology, {root}, 65536));
  const RunResult result = engine.run(ring_broadcast, root);
  std::cout << result.steps << " steps, " << (result.verified ? "every byte verified" : "wrong") << '\n';
}
