#include "algorithms/multinode_broadcast/hierarchical/windows.hpp"

#include <algorithm>

#include "algorithms/common/integers.hpp"
#include "algorithms/common/received.hpp"

namespace torus::multinode_broadcast::hierarchical {
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

/// The window that a node lies in, in the line across a part's dimension.
struct Place {
  Dimension dimension;
  const LineTree* tree = nullptr;  ///< none: the line has no holder
  std::int32_t position = 0;
};

Place place_in_window(const Node& self, const ClassWindows& windows, const Station& station, Dimension part) {
  const Stations& stations = windows.stations();
  const Dimension d = 1 - part;
  if (!station.stands(part)) return {d};
  const std::int32_t class_ = station.coordinate(part) % stations.h();
  // The last holder before or at the place: it is no further back than the longest gap.
  std::int32_t behind = 0;
  std::optional<std::int32_t> holder = stations.index(d, self.coordinate(d));
  while (!holder || *holder % stations.h() != class_) holder = stations.index(d, self.coordinate(d) - ++behind);
  const std::int32_t gap = stations.gap(d, *holder);
  if (behind <= gap / 2) return {d, &windows.tree(d, *holder), behind};
  return {d, &windows.tree(d, *holder + stations.h()), behind - gap};
}

void send_over_window(Node& self, const Place& place, std::int32_t level, const Bundle& bundle) {
  if (place.tree != nullptr) hand_down(self, place.dimension, *place.tree, place.position, level, bundle);
}

/// One part's classes in a phase of a gather along dimension d. The two nodes that give half of a class each lie in one line along d. What
/// they have came by the same ways, so that their blocks are in the same order.
class Classes {
 public:
  Classes(const Node& self, const ClassWindows& windows, const Station& station, Dimension d, Bundle& part)
      : windows_{windows}, d_{d}, place_{self.coordinate(d)}, held_(static_cast<std::size_t>(windows.stations().h())) {
    if (station.stands(d)) held(station.coordinate(d) % windows.stations().h()) = std::move(part);
  }

  void send(Node& self, std::int32_t step) {
    for (const std::int32_t direction : {+1, -1}) {
      const std::optional<ClassWindows::Take> take = windows_.taken(d_, place_ + direction, -direction, step);
      if (!take) continue;
      std::span<const BlockId> leaving = held(take->piece);
      const std::size_t first_half = (leaving.size() + 1) / 2;
      if (take->half) leaving = direction > 0 ? leaving.first(first_half) : leaving.subspan(first_half);
      send_bundle(self, {{d_, direction}}, leaving);
    }
  }

  void take(const Message& m, std::int32_t step) { append(held(due(windows_.taken(d_, place_, -sign(m.direction()), step), m).piece), m); }

  Bundle all() const {
    Bundle bundle;
    for (const Bundle& piece : held_) bundle.insert(bundle.end(), piece.begin(), piece.end());
    return bundle;
  }

 private:
  Bundle& held(std::int32_t piece) { return held_[static_cast<std::size_t>(piece)]; }

  const ClassWindows& windows_;
  Dimension d_;
  std::int32_t place_;
  std::vector<Bundle> held_;  // by class
};

}  // namespace

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

ClassWindows::ClassWindows(const Stations& stations) : stations_{stations} {
  for (Dimension d = 0; d < 2; ++d) {
    for (std::int32_t i = 0; i < stations_.stations(d); ++i) {
      const auto sides = reach(d, i);  // few different ones
      if (trees_.find(sides) != trees_.end()) continue;
      levels_ = std::max(levels_, trees_.emplace(sides, LineTree::around(3, sides.first, sides.second)).first->second.levels());
    }
  }
}

std::pair<std::int32_t, std::int32_t> ClassWindows::reach(Dimension d, std::int32_t index) const noexcept {
  return {(stations_.gap(d, index - stations_.h()) - 1) / 2, stations_.gap(d, index) / 2};
}

const LineTree& ClassWindows::tree(Dimension d, std::int32_t index) const { return trees_.at(reach(d, index)); }

std::optional<ClassWindows::Take> ClassWindows::taken(Dimension d, std::int32_t place, std::int32_t direction,
                                                      std::int32_t step) const noexcept {
  const std::optional<std::int32_t> holder = stations_.index(d, place + direction * step);
  if (!holder) return std::nullopt;
  const std::int32_t gap = direction < 0 ? stations_.gap(d, *holder) : stations_.gap(d, *holder - stations_.h());
  if (2 * step > gap) return std::nullopt;  // the next station of the class is nearer
  return Take{*holder % stations_.h(), 2 * step == gap};
}

Program spread_classes(Node& self, const ClassWindows& windows, const Station& station, std::vector<Bundle>& parts) {
  const Place row = place_in_window(self, windows, station, 0), column = place_in_window(self, windows, station, 1);
  for (std::int32_t level = windows.levels() - 1; level >= 0; --level) {
    self.phase("dcn-broadcast");
    send_over_window(self, row, level, parts[0]);
    send_over_window(self, column, level, parts[1]);
    for (const Message& m : co_await self.step()) append(checked_at(parts, 1 - m.dimension()), m);
  }
}

Program gather_classes(Node& self, const ClassWindows& windows, const Station& station, std::int32_t phases, std::vector<Bundle>& parts) {
  for (std::int32_t phase = 0; phase < phases; ++phase) {
    std::vector<Classes> classes;
    for (Dimension part = 0; part < 2; ++part) {
      classes.emplace_back(self, windows, station, (part + phase) % 2, parts[static_cast<std::size_t>(part)]);
    }
    for (std::int32_t step = 1; step <= windows.gather_steps(); ++step) {
      self.phase("dcn-rings");
      for (Classes& part : classes) part.send(self, step);
      for (const Message& m : co_await self.step()) checked_at(classes, modulo(m.dimension() - phase, 2)).take(m, step);
    }
    for (std::size_t part = 0; part < 2; ++part) parts[part] = classes[part].all();
  }
}

}  // namespace torus::multinode_broadcast::hierarchical
