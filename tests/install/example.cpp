#include <iostream>

#include <torus/engine.hpp>
using namespace torus;

Program ring_broadcast(Node& self, NodeId root) {
  if (self.rank() != root) co_await self.arrival();  // sleep until a message arrives
  if (self.neighbour({0, +1}) != root) self.send({{0, +1}}, self.blocks());
}

int main() {
  const Machine machine(Topology::parse("16"), 1, Switching::packet);
  Engine engine(machine, Placement::replicated(machine.topology, {3}, 65536), {});
  const RunResult result = engine.run([](Node& self) { return ring_broadcast(self, 3); });
  std::cout << result.steps << " steps, " << (result.verified ? "every byte verified" : "wrong") << '\n';
}
