#include "algorithms/broadcast/circuit/ring_tree.hpp"

#include <algorithm>

#include "algorithms/common/segment.hpp"

namespace torus::broadcast {
namespace {

class RingTreeStep : public StepRule {
 public:
  RingTreeStep(std::shared_ptr<const RingTree> tree, std::size_t step, std::shared_ptr<const RingGeometry> geometry)
      : tree_{std::move(tree)}, step_{step}, geometry_{std::move(geometry)} {}

  void routes(const Coordinates& place, const RouteSink& send) const override {
    for (const RingTree::Child& child : tree_->children(step_, geometry_->index(place))) {
      Route route;
      geometry_->route(place, child, route);
      send(route);
    }
  }
  Bytes table_bytes() const override { return tree_->bytes(step_); }

 private:
  std::shared_ptr<const RingTree> tree_;
  std::size_t step_;
  std::shared_ptr<const RingGeometry> geometry_;
};

}  // namespace

RingTree::RingTree(std::int32_t places, std::int32_t ports) {
  std::vector<std::int32_t> length(static_cast<std::size_t>(places), 0);  // of the segment that a place owns; 0: not informed
  length[0] = places;
  const auto owns_more = [](std::int32_t l) { return l > 1; };
  while (std::any_of(length.begin(), length.end(), owns_more)) {
    std::vector<std::vector<Child>> rows(length.size());
    std::vector<std::int32_t> next = length;
    for (std::size_t r = 0; r < length.size(); ++r) {
      if (length[r] < 2) continue;
      next[r] = segment::split(length[r], ports, [&](const segment::Child& child) {
        rows[r].push_back({child.offset, child.track});
        next[static_cast<std::size_t>(modulo(static_cast<std::int32_t>(r) + child.offset, places))] = child.length;
      });
    }
    length = std::move(next);
    steps_.emplace_back(rows);
  }
}

void add_ring_tree(CircuitSchedule& schedule, const char* phase, std::int32_t places, std::int32_t ports, RingGeometry geometry) {
  const auto tree = std::make_shared<const RingTree>(places, ports);
  const auto shared = std::make_shared<const RingGeometry>(std::move(geometry));
  for (std::size_t step = 0; step < tree->steps(); ++step) schedule.add(phase, std::make_unique<RingTreeStep>(tree, step, shared));
}

}  // namespace torus::broadcast
