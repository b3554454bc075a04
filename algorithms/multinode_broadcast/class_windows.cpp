#include "algorithms/multinode_broadcast/class_windows.hpp"

#include <algorithm>

#include "algorithms/common/received.hpp"

namespace torus::multinode {
namespace {

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

void hand_down(Node& self, const Place& place, std::int32_t level, const Bundle& bundle) {
  if (place.tree != nullptr) multinode::hand_down(self, place.dimension, *place.tree, place.position, level, bundle);
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
    hand_down(self, row, level, parts[0]);
    hand_down(self, column, level, parts[1]);
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

}  // namespace torus::multinode
