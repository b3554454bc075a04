#include "algorithms/multinode_broadcast/column_ring.hpp"

namespace torus::multinode {

Program column_ring(Node& self, std::int32_t h, Bundle& bundle) {
  for (std::int32_t step = 1; step < h; ++step) {
    self.phase("column");
    send_bundle(self, {{0, column_ring_hop(self.coordinate(0) % h, h)}}, bundle);
    bundle.clear();
    for (const Message& m : co_await self.step()) append(bundle, m);
  }
}

}  // namespace torus::multinode
