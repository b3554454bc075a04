#include "algorithms/multinode_broadcast/uneven.hpp"

#include <algorithm>

#include "algorithms/multinode_broadcast/diagonal.hpp"
#include "algorithms/multinode_broadcast/prefix.hpp"
#include "algorithms/multinode_broadcast/window_spread.hpp"

namespace torus::multinode {
namespace {

/// No two spare places are neighbours. The two ways keep nodes that are spare in one dimension and in both off each other's channels.
Program join(Node& self, const Station& station, Bundle& bundle) {
  self.phase("join");
  if (!station.member()) {
    const bool both = !station.stands(0) && !station.stands(1);
    Route route;
    for (const Dimension d : self.machine().routing) {
      if (!station.stands(d)) route.push_back({d, both ? +1 : -1});
    }
    send_bundle(self, RouteView(route), bundle);
    bundle.clear();
  }
  for (const Message& m : co_await self.step()) append(bundle, m);
}

bool in_a_ddn(const Station& station, std::int32_t h) {
  return station.member() && (station.coordinate(0) - station.coordinate(1)) % h == 0;
}

}  // namespace

Program uneven_program(Node& self, const Hierarchy& scheme) {
  const Station station(self, scheme.class_windows->stations());
  Bundle bundle(self.blocks().begin(), self.blocks().end());
  co_await join(self, station, bundle);
  co_await gather_to_diagonal(self, scheme.strip, DiagonalSite::in_grid(station, scheme.h), "aggregate", bundle);
  if (scheme.tunes()) {
    const std::uint32_t rank = hashed_rank(station.coordinates(), scheme.h);
    co_await tune(self, scheme.tuning, rank, scheme.parts(), bundle, scheme.pieces(), &station);
  }
  std::vector<Bundle> parts;
  co_await ring_gather(self, scheme.ddn_rings, in_a_ddn(station, scheme.h), bundle, parts, &station);
  for (Bundle& part : parts) std::sort(part.begin(), part.end());  // every copy is cut alike
  if (scheme.dcn == Hierarchy::Dcn::log) {
    co_await spread_classes(self, *scheme.class_windows, station, parts);
  } else {
    co_await scatter_windows(self, scheme.window, parts, &station);
  }
  co_await gather_classes(self, *scheme.class_windows, station, scheme.dcn == Hierarchy::Dcn::log ? 1 : 2, parts);
}

}  // namespace torus::multinode
