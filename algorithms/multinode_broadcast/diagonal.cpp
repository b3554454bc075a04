#include "algorithms/multinode_broadcast/diagonal.hpp"

namespace torus::multinode {
namespace {

void hand_over(Node& self, const LineTree& tree, const DiagonalSite& site, Bundle& bundle) {
  const LineTree::Vertex& v = tree.at(site.position);
  send_bundle(self, {on_machine(site.on, diagonal_leg(site.position, v.parent, v.slot, site.unit))}, bundle);
  bundle.clear();
}

void spread(Node& self, const LineTree& tree, const DiagonalSite& site, std::int32_t level, const Bundle& bundle) {
  tree.for_children(site.position, level, [&](std::int32_t child, std::int32_t slot) {
    send_bundle(self, {on_machine(site.on, diagonal_leg(site.position, child, slot, site.unit))}, bundle);
  });
}

}  // namespace

DiagonalSite DiagonalSite::in_torus(const Node& self, std::int32_t h) {
  return {true, centred(self.coordinate(0) - self.coordinate(1), h), 1};
}

DiagonalSite DiagonalSite::in_grid(const Station& station, std::int32_t h) {
  return {station.member(), centred(station.coordinate(0) - station.coordinate(1), h), 1, &station};
}

DiagonalSite DiagonalSite::in_ddn(const Node& self, std::int32_t h) {
  const std::int32_t i = self.coordinate(0), j = self.coordinate(1);
  return {i % h == j % h, centred(i / h - j / h, self.extent(0) / h), h};
}

Program gather_to_diagonal(Node& self, const LineTree& tree, DiagonalSite site, const char* phase, Bundle& bundle) {
  for (std::int32_t level = 0; level < tree.levels(); ++level) {
    self.phase(phase);
    if (site.member && tree.at(site.position).level == level) hand_over(self, tree, site, bundle);
    for (const Message& m : co_await self.step()) append(bundle, m);
  }
}

Program broadcast_from_diagonal(Node& self, const LineTree& tree, DiagonalSite site, const char* phase, Bundle& bundle) {
  for (std::int32_t level = tree.levels() - 1; level >= 0; --level) {
    self.phase(phase);
    if (site.member && tree.holds_at(site.position, level)) spread(self, tree, site, level, bundle);
    for (const Message& m : co_await self.step()) append(bundle, m);
  }
}

}  // namespace torus::multinode
