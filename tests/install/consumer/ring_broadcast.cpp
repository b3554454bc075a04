#include "ring_broadcast.hpp"

using namespace torus;

Program ring_broadcast(Node& self, NodeId root) {
  if (self.rank() != root) co_await self.arrival();
  if (self.neighbour({0, +1}) != root) self.send({{0, +1}}, self.blocks());
}
