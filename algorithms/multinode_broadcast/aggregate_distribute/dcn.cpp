#include "algorithms/multinode_broadcast/aggregate_distribute/dcn.hpp"

#include "algorithms/common/integers.hpp"

namespace torus::multinode_broadcast::aggregate_distribute {

Program broadcast_row(Node& self, const LineTree& window, Bundle& bundle) {
  const std::int32_t position = centred(self.coordinate(1) - self.coordinate(0), window.positions());
  for (std::int32_t level = window.levels() - 1; level >= 0; --level) {
    self.phase("row");
    hand_down(self, 1, window, position, level, bundle);
    for (const Message& m : co_await self.step()) append(bundle, m);
  }
}

Program column_ring(Node& self, std::int32_t h, Bundle& bundle) {
  for (std::int32_t step = 1; step < h; ++step) {
    self.phase("column");
    send_bundle(self, {{0, column_ring_hop(self.coordinate(0) % h, h)}}, bundle);
    bundle.clear();
    for (const Message& m : co_await self.step()) append(bundle, m);
  }
}

}  // namespace torus::multinode_broadcast::aggregate_distribute
