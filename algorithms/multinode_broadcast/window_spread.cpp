#include "algorithms/multinode_broadcast/window_spread.hpp"

#include "algorithms/common/received.hpp"

namespace torus::multinode {
namespace {

/// A part's way in one phase, seen from a node.
struct WindowSite {
  Dimension dimension;
  std::int32_t position;        ///< in the window along that dimension; the holder stands at 0
  bool member;                  ///< whether the node's line has a holder at all
  const Station* on = nullptr;  ///< the grid
};

/// In phase p (from 1) part t goes along dimension t + p; it has come along those between, and has the later ones before it.
WindowSite window_site(const Node& self, std::int32_t h, Dimension part, std::int32_t phase, const Station* station = nullptr) {
  const Dimension k = self.dimensions();
  const auto at = [&](Dimension d) { return station == nullptr ? self.coordinate(d) : station->coordinate(d); };
  const std::int32_t ddn = at(part) % h;
  WindowSite site{(part + phase) % k, 0, station == nullptr || station->member(), station};
  site.position = centred(at(site.dimension) - at(part), h);
  for (std::int32_t later = phase + 1; later < k; ++later) site.member &= at((part + later) % k) % h == ddn;
  return site;
}

void send_whole(Node& self, const LineTree& window, const WindowSite& site, std::int32_t level, const Bundle& bundle) {
  if (site.member) hand_down(self, site.dimension, window, site.position, level, bundle);
}

/// What of a bundle for all places of a segment the places low .. high get.
std::span<const BlockId> cut(const LineTree::Vertex& segment, std::span<const BlockId> bundle, std::int32_t low, std::int32_t high) {
  const std::size_t first = first_item(segment, bundle.size(), low), last = first_item(segment, bundle.size(), high + 1);
  return bundle.subspan(first, last - first);
}

void send_cut(Node& self, const LineTree& window, const WindowSite& site, std::int32_t level, const Bundle& bundle) {
  if (!site.member || !window.holds_at(site.position, level)) return;
  const LineTree::Vertex& own = window.at(site.position);
  window.for_children(site.position, level, [&](std::int32_t child, std::int32_t) {
    const LineTree::Vertex& v = window.at(child);
    send_bundle(self, {on_machine(site.on, {site.dimension, child - site.position})}, cut(own, bundle, v.low, v.high));
  });
}

void keep_own_cut(const LineTree& window, const WindowSite& site, Bundle& bundle) {
  const std::span<const BlockId> own = cut(window.at(site.position), bundle, site.position, site.position);
  bundle = Bundle(own.begin(), own.end());
}

}  // namespace

Program broadcast_row(Node& self, const LineTree& window, Bundle& bundle) {
  const WindowSite site = window_site(self, window.positions(), 0, 1);
  for (std::int32_t level = window.levels() - 1; level >= 0; --level) {
    self.phase("row");
    send_whole(self, window, site, level, bundle);
    for (const Message& m : co_await self.step()) append(bundle, m);
  }
}

Program gather_windows(Node& self, const LineTree& window, Bundle& bundle) {
  const std::int32_t h = window.positions();
  bool member = true;  // aligned with dimension 0 in all dimensions gathered so far
  for (Dimension d = 1; d < self.dimensions(); ++d) {
    const std::int32_t position = centred(self.coordinate(d) - self.coordinate(0), h);
    for (std::int32_t level = 0; level < window.levels(); ++level) {
      self.phase("aggregate");
      if (member) hand_up(self, d, window, position, level, bundle);
      for (const Message& m : co_await self.step()) append(bundle, m);
    }
    member = member && position == 0;
  }
}

Program broadcast_cross(Node& self, const LineTree& window, std::vector<Bundle>& parts) {
  const WindowSite row = window_site(self, window.positions(), 0, 1);
  const WindowSite column = window_site(self, window.positions(), 1, 1);
  for (std::int32_t level = window.levels() - 1; level >= 0; --level) {
    self.phase("dcn-broadcast");
    send_whole(self, window, row, level, parts[0]);
    send_whole(self, window, column, level, parts[1]);
    for (const Message& m : co_await self.step()) append(checked_at(parts, 1 - m.dimension()), m);
  }
}

Program scatter_windows(Node& self, const LineTree& window, std::vector<Bundle>& parts, const Station* station) {
  const Dimension k = self.dimensions();
  const std::int32_t h = window.positions();
  for (std::int32_t phase = 1; phase < k; ++phase) {
    for (std::int32_t level = window.levels() - 1; level >= 0; --level) {
      self.phase("scatter");
      for (Dimension t = 0; t < k; ++t) {
        send_cut(self, window, window_site(self, h, t, phase, station), level, parts[static_cast<std::size_t>(t)]);
      }
      for (const Message& m : co_await self.step()) append(checked_at(parts, modulo(m.dimension() - phase, k)), m);
    }
    for (Dimension t = 0; t < k; ++t) keep_own_cut(window, window_site(self, h, t, phase, station), parts[static_cast<std::size_t>(t)]);
  }
}

}  // namespace torus::multinode
